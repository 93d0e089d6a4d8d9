#include "compile/builder.h"

#include <atomic>
#include <fstream>

#include "compile/elsewhere.h"
#include "compile/flatten.h"
#include "compile/sha256.h"
#include "env.h"
#include "kept.h"
#include "trace/recorder.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

const std::string& dump_folder() {
  static auto* folder = new std::string(env::text("XPU_DUMP_KERNELS"));
  return *folder;
}

void dump(const std::string& file, const void* data, std::size_t size) {
  if (dump_folder().empty() || size == 0) return;
  std::ofstream(dump_folder() + "/" + file, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

void tell_if_long(std::uint64_t nanoseconds) {
  static std::atomic<bool> told{false};
  if (nanoseconds < 1'000'000'000 || told.exchange(true)) return;
  log(LogLevel::warning, join("compiling a kernel took ", nanoseconds / 1'000'000,
                              " ms; it is cached for the next time (said once)"));
}

/// In a trace and, when it took long, in the log.
class Compilation {
 public:
  Compilation() = default;
  ~Compilation() {
    auto end = trace::now();
    tell_if_long(end - begin_);
    if (trace::active()) trace::note_host(trace::Record::Kind::compile, "compile", begin_, end);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

 private:
  std::uint64_t begin_ = trace::now();
};

// Of the largest registers of this machine's cores that can be stored past the caches.
int vector_bytes() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 0;
#else
  return 0;
#endif
}

}  // namespace

std::string flat_source(int device, std::string_view source) {
  auto text = flatten(source);
  auto lead = join("#define XPU_SUB_GROUP ", device_info(device).sub_group_size, "\n");
  // Assembly is for this machine only: what is dumped is to be built for others.
  bool here = device_info(device).type == "cpu" && !generic_backend() && dump_folder().empty();
  if (here && vector_bytes() && text.find("XPU_CPU_VECTOR") != text.npos)
    lead += join("#define XPU_CPU_VECTOR ", vector_bytes(), "\n");
  return lead + text;
}

Builder::Builder(int device, std::string flat, std::vector<std::string> options)
    : device_(device), flat_(std::move(flat)), options_(std::move(options)) {
  Sha256 hash;
  hash.field(compiler_id()).field(flat_);
  for (auto& option : options_) hash.field(option);
  hash_ = hash.hex();
}

std::string Builder::native_key(const Bytes& spirv) const {
  Sha256 hash;
  hash.add(spirv.data(), spirv.size()).field(target_id(device_));
  return hash.hex() + ".bin";
}

void Builder::dump_source(const Bytes& spirv) const {
  dump(hash_ + ".sycl", flat_.data(), flat_.size());
  dump(hash_ + ".spv", spirv.data(), spirv.size());
}

// What a GPU's driver made of it says how many registers it needs, and what it spills.
void Builder::dump_native(const Bytes& binary) const {
  if (device_info(device_).is_gpu) dump(hash_ + ".bin", binary.data(), binary.size());
}

void Builder::keep_native(const Bytes& spirv, Program& program) const {
  auto binary = program.native();
  dump_native(binary);
  if (!binary.empty()) cache_write(native_key(spirv), binary);
}

CompiledSource Builder::compile() const {
  CompiledSource compiled;
  {
    Compilation compilation;
    compiled = compile_source(device_, flat_, options_);
    release_before_loaded_libraries();  // the compiler is one of them
  }
  dump_source(compiled.spirv);
  if (!compiled.spirv.empty()) cache_write(hash_ + ".spv", compiled.spirv);
  return compiled;
}

/// Out of the caches, or null.
ProgramPtr Builder::kept() const {
  auto spirv = cache_read(hash_ + ".spv");
  auto binary = spirv ? cache_read(native_key(*spirv)) : std::nullopt;
  auto program = binary ? load_native(device_, *binary) : nullptr;
  if (program) {
    dump_source(*spirv);
    dump_native(*binary);
  }
  return program;
}

ProgramPtr Builder::build_here() const {
  if (auto spirv = cache_read(hash_ + ".spv")) {
    dump_source(*spirv);
    auto program = load_spirv(device_, *spirv);
    keep_native(*spirv, *program);
    return program;
  }
  auto compiled = compile();
  if (!compiled.spirv.empty()) keep_native(compiled.spirv, *compiled.program);
  return std::move(compiled.program);
}

ProgramPtr Builder::build() const {
  if (generic_backend()) return compile().program;
  if (auto program = kept()) return program;
  elsewhere::Turn turn(device_);
  if (!turn.here) {
    Compilation compilation;
    if (elsewhere::build(device_, flat_, options_))
      if (auto program = kept()) return program;
  }
  return build_here();
}

Bytes Builder::spirv() const {
  if (auto cached = cache_read(hash_ + ".spv")) return *cached;
  return compile().spirv;
}

}  // namespace xpu

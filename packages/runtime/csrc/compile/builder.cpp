#include "compile/builder.h"

#include <atomic>
#include <exception>
#include <fstream>

#include "compile/elsewhere.h"
#include "compile/flatten.h"
#include "compile/sha256.h"
#include "compile/signature_probes.h"
#include "env.h"
#include "exit.h"
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
    if (std::uncaught_exceptions() == outside_) tell_if_long(end - begin_);
    if (trace::active()) trace::note_host(trace::Record::Kind::compile, "compile", begin_, end);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

 private:
  std::uint64_t begin_ = trace::now();
  int outside_ = std::uncaught_exceptions();  // one more means that it failed
};

// Of the largest registers of this machine's cores that can be stored past the caches.
int vector_bytes() {
#ifdef __x86_64__
  return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx") ? 32 : 0;
#else
  return 0;
#endif
}

std::string native_key(int device, const Bytes& spirv) {
  Sha256 hash;
  hash.add(spirv.data(), spirv.size()).field(target_id(device));
  return hash.hex() + ".bin";
}

// What a GPU's driver made of it says how many registers it needs, and what it spills.
void dump_native(int device, const Bytes& binary, const std::string& name) {
  if (device_info(device).is_gpu) dump(name + ".bin", binary.data(), binary.size());
}

void keep_native(int device, const Bytes& spirv, const Bytes& binary, const std::string& name) {
  dump_native(device, binary, name);
  if (!binary.empty()) cache_write(native_key(device, spirv), binary);
}

std::optional<elsewhere::Answer> build_elsewhere(const elsewhere::Order& order) {
  Compilation compilation;
  return elsewhere::build(order);
}

// What a helper made. A driver that gives no binary, or does not take its own, builds the SPIR-V again here:
// it has just done so unharmed, and Level Zero drivers find it in a cache of their own.
ProgramPtr loaded(int device, const Bytes& spirv, const Bytes& binary, const std::string& name) {
  keep_native(device, spirv, binary, name);
  auto program = binary.empty() ? nullptr : load_native(device, binary);
  if (!program) program = load_spirv(device, spirv);
  program->signatures = read_signatures(spirv);
  return program;
}

}  // namespace

std::string flat_source(int device, std::string_view source) {
  auto text = flatten(source);
  auto lead = join("#define XPU_SUB_GROUP ", device_info(device).sub_group_size, "\n");
  // Assembly is for this machine only: what is dumped is to be built for others.
  bool here = device_info(device).type == "cpu" && !generic_backend() && dump_folder().empty();
  if (here && vector_bytes() && text.find("XPU_CPU_VECTOR") != text.npos)
    lead += join("#define XPU_CPU_VECTOR ", vector_bytes(), "\n");
  if (!images_tell_signatures()) return lead + "#define XPU_TELL_SIGNATURES 1\n" + add_signature_probes(text);
  return lead + text;
}

// Signed integers wrap on overflow, on every device: without this a compiler may compute them in wider ones.
constexpr const char* wrapping = "-fwrapv";

Builder::Builder(int device, std::string flat, std::vector<std::string> options)
    : device_(device), flat_(std::move(flat)), options_(std::move(options)) {
  options_.insert(options_.begin(), wrapping);
  Sha256 hash;
  hash.field(compiler_id()).field(flat_);
  for (auto& option : options_) hash.field(option);
  hash_ = hash.hex();
}

void Builder::dump_source() const {
  dump(hash_ + ".sycl", flat_.data(), flat_.size());
}

void Builder::keep_spirv(const Bytes& spirv) const {
  dump(hash_ + ".spv", spirv.data(), spirv.size());
  if (!spirv.empty()) cache_write(hash_ + ".spv", spirv);
}

CompiledSource Builder::compile() const {
  CompiledSource compiled;
  {
    Compilation compilation;
    compiled = compile_source(device_, flat_, options_);
    exit::wait_before_loaded_libraries();  // the compiler is one of them
  }
  keep_spirv(compiled.spirv);
  return compiled;
}

ProgramPtr Builder::build_here() const {
  auto compiled = compile();
  auto& program = *compiled.program;
  if (!compiled.spirv.empty()) {
    keep_native(device_, compiled.spirv, program.native(), hash_);
    program.signatures = read_signatures(compiled.spirv);
  }
  return std::move(compiled.program);
}

ProgramPtr Builder::build() const {
  dump_source();
  // Such a backend gives no images that another process could hand over: a compiler's death is this process'
  // own.
  if (generic_backend()) return compile().program;
  if (auto spirv = cache_read(hash_ + ".spv")) {
    dump(hash_ + ".spv", spirv->data(), spirv->size());
    return program_of(device_, *spirv, hash_);
  }
  if (auto built = build_elsewhere({device_, flat_, options_, {}})) {
    keep_spirv(built->spirv);
    return loaded(device_, built->spirv, built->native, hash_);
  }
  return build_here();
}

Bytes Builder::spirv() const {
  if (auto cached = cache_read(hash_ + ".spv")) return *cached;
  dump_source();
  if (auto built = build_elsewhere({device_, flat_, options_, {}})) {
    keep_spirv(built->spirv);
    keep_native(device_, built->spirv, built->native, hash_);
    return built->spirv;
  }
  return compile().spirv;
}

ProgramPtr program_of(int device, const Bytes& spirv, const std::string& name) {
  auto kept = cache_read(native_key(device, spirv));
  if (auto program = kept ? load_native(device, *kept) : nullptr) {
    dump_native(device, *kept, name);
    program->signatures = read_signatures(spirv);
    return program;
  }
  if (auto built = build_elsewhere({device, "", {}, spirv}))
    return loaded(device, spirv, built->native, name);
  auto program = load_spirv(device, spirv);
  keep_native(device, spirv, program->native(), name);
  program->signatures = read_signatures(spirv);
  return program;
}

}  // namespace xpu

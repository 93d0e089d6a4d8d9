#include "compile/builder.h"

#include <atomic>
#include <exception>
#include <fstream>

#include "compile/build_ahead.h"
#include "compile/build_service.h"
#include "compile/claim.h"
#include "compile/cpu_features.h"
#include "compile/flatten.h"
#include "compile/folders.h"
#include "compile/ready_kernels.h"
#include "compile/resource_limits.h"
#include "compile/signature_probes.h"
#include "compile/time_limit.h"
#include "env.h"
#include "shutdown.h"
#include "trace/recorder.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"

namespace xpu {
namespace {

void dump(const std::string& file, const void* data, std::size_t size) {
  if (dump_folder().empty() || size == 0) return;
  std::ofstream(dump_folder() + "/" + file, std::ios::binary)
      .write(static_cast<const char*>(data), static_cast<std::streamsize>(size));
}

// Says once that this start compiles and later ones do not, when the process has waited for long.
void tell_of_long_wait(int device, std::uint64_t nanoseconds, bool cached) {
  static std::atomic<std::uint64_t> waited{0}, builds{0};
  static std::atomic<bool> told{false};
  constexpr std::uint64_t long_wait = 2'000'000'000;
  auto count = ++builds;
  auto total = waited += nanoseconds;
  if (total < long_wait || told.exchange(true)) return;
  auto left = build_ahead::expected(device);
  // Building ahead helps only where it can be kept.
  const char* next =
      cached ? "They are cached: the next start does not wait. `xpu-sdk warm` builds them ahead"
      : cache_folder().empty()
          ? "The kernel cache is off, so every process compiles them. `xpu-sdk doctor` says why"
          : "They could not be cached, so every process compiles them. `xpu-sdk doctor` says why";
  log(LogLevel::warning,
      join("kernels are compiled when they are first used: ", count, count == 1 ? " took " : " have taken ",
           total / 100'000'000 / 10.0, " s", left ? join(", some ", left, " more may follow") : "", ". ",
           next, " (logged once)"));
}

}  // namespace

/// One build and the caching of its result. It is a record of the trace, and may be a message that the user
/// waits for the compiler.
class Compilation {
 public:
  explicit Compilation(int device) : device_(device) {}
  ~Compilation() {
    finish();
    if (std::uncaught_exceptions() == exceptions_before_) tell_of_long_wait(device_, end_ - begin_, cached_);
  }
  Compilation(const Compilation&) = delete;
  Compilation& operator=(const Compilation&) = delete;

  /// Ends the time that counts as the compiler's.
  void finish() {
    if (end_) return;
    end_ = trace::now();
    if (trace::active()) trace::record_host(trace::Record::Kind::compile, "compile", begin_, end_);
  }

  void keep(const std::string& key, const Bytes& bytes) {
    if (!bytes.empty() && cache_write(key, bytes)) cached_ = true;
  }
  /// Says that the cache had the result.
  void mark_cached() { cached_ = true; }

 private:
  int device_;
  std::uint64_t begin_ = trace::now(), end_ = 0;
  int exceptions_before_ = std::uncaught_exceptions();  // more in the destructor: the build failed
  bool cached_ = false;
};

namespace {

/// `digest` identifies the SPIR-V or, if images are not made of SPIR-V, the source. The generic mode caches
/// SYCL's images, the other backends cache their driver's binaries.
std::string key_of_digest(int device, std::string_view digest) {
  Sha256 hash;
  hash.field(digest).field(target_id(device)).field(generic_backend() ? "syclbin" : "driver");
  if (device_info(device).type == "cpu") hash.field(cpu_feature_digits());
  return hash.hex() + ".bin";
}

std::string digest_of(const Bytes& spirv) {
  return Sha256().add(spirv.data(), spirv.size()).hex();
}

// Stands in the cache for a binary that a Level Zero driver keeps in a cache of its own: it has built the
// SPIR-V without a crash, so that later processes need no helper for it.
const Bytes& kept_by_driver() {
  static auto* marker =
      new Bytes{'d', 'r', 'i', 'v', 'e', 'r'};  // threads that build ahead outlive static objects
  return *marker;
}

// What the disk cache is to have of a native binary.
const Bytes& to_keep(int device, const Bytes& native) {
  return native.empty() && device_info(device).backend == "level_zero" ? kept_by_driver() : native;
}

// A GPU driver's binary tells the number of registers and spills.
void dump_native(int device, const Bytes& binary, const std::string& name) {
  if (device_info(device).is_gpu) dump(name + ".bin", binary.data(), binary.size());
}

// Set if a new image of the generic mode could not be loaded; helpers then build no more of them.
std::atomic<bool> images_unusable{false};

void warn_images_unusable() {
  if (!images_unusable.exchange(true))
    log(LogLevel::warning,
        "this backend cannot load its own kernel images, so kernels are built in this process and are not "
        "cached");
}

Signatures checked_signatures(int device, const Bytes& spirv) {
  if (spirv.empty()) return {};
  auto signatures = read_signatures(spirv);
  require_resources(device, signatures);
  return signatures;
}

// Loads what a helper built. If the driver gives no binary or rejects its own, it builds the SPIR-V again
// here. It has just done so without a crash, and Level Zero drivers have a cache of their own.
ProgramPtr load_built(int device, const Bytes& spirv, const Bytes& binary) {
  auto signatures = checked_signatures(device, spirv);
  auto program = binary.empty() ? nullptr : load_native(device, binary);
  if (!program) program = load_spirv(device, spirv);
  program->signatures = std::move(signatures);
  return program;
}

// Returns null if neither the disk cache has a binary that the driver accepts nor one ships.
ProgramPtr program_from_cache(int device, const Bytes& spirv, const std::string& name) {
  auto signatures = checked_signatures(device, spirv);
  auto load = [&](const std::optional<Bytes>& binary) -> ProgramPtr {
    if (!binary) return nullptr;
    bool is_binary = *binary != kept_by_driver();
    auto program = is_binary ? load_native(device, *binary) : load_spirv(device, spirv);
    if (!program) return nullptr;
    if (is_binary) dump_native(device, *binary, name);
    program->signatures = std::move(signatures);
    return program;
  };
  if (auto program = load(cache_read(native_key(device, spirv)))) return program;
  return load(ready_kernels::find_image(device, spirv));
}

ProgramPtr build_program(int device, const Bytes& spirv, const std::string& name) {
  Compilation compilation(device);
  Claim claim(native_key(device, spirv));
  if (claim.waited())
    if (auto program = program_from_cache(device, spirv, name)) {
      compilation.mark_cached();
      return program;
    }
  auto built = build_service::build({device, "", {}, spirv});
  auto program = built ? load_built(device, spirv, built->native)
                       : build_in_time<ProgramPtr>([=] { return load_spirv(device, spirv); },
                                                   [&] { throw_build_timeout({}, spirv); });
  if (!built) program->signatures = checked_signatures(device, spirv);
  auto native = built ? std::move(built->native) : program->native();
  compilation.finish();
  dump_native(device, native, name);
  compilation.keep(native_key(device, spirv), to_keep(device, native));
  return program;
}

}  // namespace

int cpu_vector_bytes(int device) {
  // Assembly is for this machine only, and dumps are built for others too.
  bool here = device_info(device).type == "cpu" && !generic_backend() && dump_folder().empty();
  return here ? machine_vector_bytes() : 0;
}

std::string flat_source(std::string_view source, int sub_group_size, int cpu_vector_bytes) {
  auto text = flatten(source);
  auto lead = join("#define XPU_SUB_GROUP ", sub_group_size, "\n");
  if (cpu_vector_bytes && text.find("XPU_CPU_VECTOR") != text.npos)
    lead += join("#define XPU_CPU_VECTOR ", cpu_vector_bytes, "\n");
  if (!images_tell_signatures()) return lead + "#define XPU_TELL_SIGNATURES 1\n" + add_signature_probes(text);
  return lead + text;
}

// Makes signed integers wrap on overflow on every device; a compiler may otherwise compute in wider ones.
constexpr const char* wrapping = "-fwrapv";

Builder::Builder(int device, std::string flat, std::vector<std::string> options)
    : device_(device), flat_(std::move(flat)), options_(std::move(options)) {
  options_.insert(options_.begin(), wrapping);
  Sha256 hash;
  hash.field(compiler_id()).field(flat_);
  for (auto& option : options_) hash.field(option);
  hash_ = hash.hex();
}

// Without the compiler's version: SPIR-V that another one made serves as well.
Sha256::Digest Builder::ready_key() const {
  Sha256 hash;
  hash.field(flat_);
  for (auto& option : options_) hash.field(option);
  return hash.digest();
}

void Builder::dump_source() const {
  dump(hash_ + ".sycl", flat_.data(), flat_.size());
}

// Caches and dumps the SPIR-V and the binary, if the backend gives them.
void Builder::keep(Compilation& compilation, const Bytes& spirv, const Bytes& native) const {
  compilation.finish();
  dump(hash_ + ".spv", spirv.data(), spirv.size());
  dump_native(device_, native, hash_);
  compilation.keep(hash_ + ".spv", spirv);
  compilation.keep(key_of_digest(device_, generic_backend() ? hash_ : digest_of(spirv)),
                   to_keep(device_, native));
}

CompiledSource Builder::compile() const {
  Compilation compilation(device_);
  auto compiled = build_in_time<CompiledSource>(
      [device = device_, flat = flat_, options = options_] { return compile_source(device, flat, options); },
      [this] { throw_build_timeout(flat_, {}); });
  shutdown::reregister_exit_handler();  // the compiler is one of them
  keep(compilation, compiled.spirv, images_unusable ? Bytes{} : compiled.program->native());
  return compiled;
}

std::optional<Bytes> Builder::spirv_from_disk() const {
  if (auto cached = cache_read(hash_ + ".spv")) return cached;
  return ready_kernels::find(ready_key());
}

ProgramPtr Builder::from_cache() const {
  if (generic_backend()) {
    auto image = cache_read(key_of_digest(device_, hash_));
    return image ? load_native(device_, *image) : nullptr;
  }
  auto spirv = cache_read(hash_ + ".spv");
  if (!spirv) return from_ready_kernels();
  dump(hash_ + ".spv", spirv->data(), spirv->size());
  return program_of(device_, *spirv, hash_);
}

ProgramPtr Builder::from_ready_kernels() const {
  auto key = ready_key();
  auto spirv = ready_kernels::find(key);
  if (!spirv) return nullptr;
  dump(hash_ + ".spv", spirv->data(), spirv->size());
  auto program = program_from_cache(device_, *spirv, hash_);
  build_ahead::note_wanted(device_, key, !program);
  return program ? std::move(program) : build_program(device_, *spirv, hash_);
}

ProgramPtr Builder::from_helper() const {
  if (images_unusable) return nullptr;
  Compilation compilation(device_);
  auto built = build_service::build({device_, flat_, options_, {}});
  if (!built) return nullptr;
  compilation.finish();
  if (!generic_backend()) {
    keep(compilation, built->spirv, built->native);
    return load_built(device_, built->spirv, built->native);
  }
  auto program = built->native.empty() ? nullptr : load_native(device_, built->native);
  if (program)
    keep(compilation, built->spirv, built->native);
  else
    warn_images_unusable();
  return program;
}

ProgramPtr Builder::build() const {
  dump_source();
  if (auto program = from_cache()) return program;
  if (auto program = from_helper()) return program;
  return compile().program;
}

std::optional<Bytes> Builder::spirv_from_helper() const {
  Compilation compilation(device_);
  auto built = build_service::build({device_, flat_, options_, {}});
  if (!built) return {};
  keep(compilation, built->spirv, built->native);
  return std::move(built->spirv);
}

Bytes Builder::spirv() const {
  if (auto found = spirv_from_disk()) return std::move(*found);
  dump_source();
  auto built = spirv_from_helper();
  auto spirv = built ? std::move(*built) : compile().spirv;
  expect<Unsupported>(!spirv.empty(),
                      "this backend does not use SPIR-V; build the kernel from source with build_kernel");
  return spirv;
}

ProgramPtr program_of(int device, const Bytes& spirv, const std::string& name) {
  auto program = program_from_cache(device, spirv, name);
  return program ? std::move(program) : build_program(device, spirv, name);
}

std::string native_key(int device, const Bytes& spirv) {
  return key_of_digest(device, digest_of(spirv));
}

void build_into_cache(int device, const Bytes& spirv) {
  auto key = native_key(device, spirv);
  if (cache_read(key)) return;
  if (auto built = build_service::build_in_background({device, "", {}, spirv}))
    if (auto& entry = to_keep(device, built->native); !entry.empty()) cache_write(key, entry);
}

}  // namespace xpu

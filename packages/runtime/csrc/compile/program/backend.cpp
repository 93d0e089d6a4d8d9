#include "compile/program/backend.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <sycl/ext/oneapi/experimental/syclbin_kernel_bundle.hpp>

#include "compile/program/image_target.h"
#include "compile/program/kernel_image.h"
#include "compile/program/opencl_program.h"
#include "compile/program/resource_limits.h"
#include "compile/source/called_functions.h"
#include "compile/source/flatten.h"
#include "compile/source/signature_probes.h"
#include "devices/sycl_error.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/log.h"
#include "xpu/process.h"

namespace xpu {
namespace {

namespace ext = sycl::ext::oneapi::experimental;
using Executable = sycl::kernel_bundle<sycl::bundle_state::executable>;

// SYCL's image of the program, to load in another process; empty if the backend gives none.
Bytes image_of(const Executable& bundle, const Signatures& signatures) {
  try {
    auto content = bundle.ext_oneapi_get_content();
    KernelImage image{signatures, {content.begin(), content.end()}};
    name_loadable_target(image.syclbin);
    return pack_image(image);
  } catch (const sycl::exception& e) {
    log(LogLevel::debug, join("this backend gives no image of a kernel: ", e.what()));
    return {};
  }
}

class BundleProgram : public Program {
 public:
  explicit BundleProgram(Executable bundle, bool has_image = true)
      : bundle_(std::move(bundle)), has_image_(has_image) {}
  sycl::kernel kernel(const std::string& name) override {
    if (auto known = known_name(name)) return bundle_.ext_oneapi_get_kernel(*known);
    fail<UsageError>("the source has no kernel named \"", name,
                     "\"; kernels are extern \"C\" functions marked XPU_KERNEL");
  }
  /// False for a bundle without images, and if a kernel of `signatures` is missing: SYCL loads an image
  /// without an error and leaves out what is for another target.
  bool is_complete() {
    return bundle_.begin() != bundle_.end() &&
           std::ranges::all_of(signatures, [&](auto& known) { return known_name(known.first).has_value(); });
  }
  Bytes native() override {
    if (!generic_backend()) return opencl_binary(bundle_);
    return has_image_ ? image_of(bundle_, signatures) : Bytes{};
  }

 private:
  // In SPIR-V from another compiler, names may lack this compiler's prefix.
  std::optional<std::string> known_name(const std::string& name) {
    for (auto& known : {"__sycl_kernel_" + name, name})
      if (bundle_.ext_oneapi_has_kernel(known)) return known;
    return {};
  }

  Executable bundle_;
  bool has_image_;  // SYCL's image of a bundle made of SPIR-V does not name its kernels
};

ProgramPtr load_image(int device, const Bytes& packed) {
  auto image = unpack_image(packed);
  if (!image) return nullptr;
  try {
    std::vector<char> bytes(image->syclbin.begin(), image->syclbin.end());
    auto program = std::make_unique<BundleProgram>(ext::get_kernel_bundle<sycl::bundle_state::executable>(
        sycl_context(device), {sycl_device(device)}, sycl::span<char>(bytes.data(), bytes.size())));
    program->signatures = std::move(image->signatures);
    if (program->is_complete()) return program;
    log(LogLevel::debug, "this backend loads no kernels from an image that has some");
    return nullptr;
  } catch (const sycl::exception& e) {
    log(LogLevel::debug, join("this backend rejects an image of a kernel: ", e.what()));
    return nullptr;
  }
}

Bytes spirv_of(const Executable& bundle) {
  Bytes content;
  std::size_t images = 0;
  for (auto& image : bundle) {
    ++images;
    for (auto byte : image.ext_oneapi_get_backend_content())
      content.push_back(static_cast<std::uint8_t>(byte));
  }
  expect<CompileError>(images == 1, "the source compiled to ", images,
                       " images; kernels with different sub-group sizes "
                       "or device features must be in sources of their own");
  constexpr std::uint8_t spirv_magic[] = {0x03, 0x02, 0x23, 0x07};
  return content.size() > 4 && std::equal(spirv_magic, spirv_magic + 4, content.begin()) ? content : Bytes{};
}

std::string compiler_path() {
  return vendor_folder() + "/libsycl-jit.so";
}

// The caller's options and those that the backend's compiler needs. For CUDA: from sm_70 on the compiler
// marks structs passed by value (grid_constant), and its own printer crashes on the mark. For functions of
// sm_60 it prints the same PTX (.target sm_75).
std::vector<std::string> with_backend_options(int device, std::vector<std::string> options) {
  if (device_info(device).backend == "cuda")
    options.insert(options.end(), {"-Xclang", "-target-cpu", "-Xclang", "sm_60"});
  return options;
}

// Some compilers give no reason when a function is missing. Returns "" if the source calls none.
std::string missing_function_hint(std::string_view flat) {
  auto names = called_functions(flat);
  if (names.empty()) return "";
  constexpr std::size_t max_names = 20;
  std::string list;
  for (std::size_t i = 0; i < std::min(names.size(), max_names); ++i) list += (i ? ", " : "") + names[i];
  return join("The device's library may lack a function. The source calls ", list,
              names.size() > max_names ? join(" and ", names.size() - max_names, " more") : "", ".");
}

// A GPU's driver does not build kernels that need more than the GPU has, and does not say why.
template <class Source, class Properties>
void require_source_fails(int device, const std::string& flat, Source& source, const Properties& properties,
                          const std::string& driver_message) {
  try {
    ext::compile(source, {sycl_device(device)}, properties);
  } catch (const sycl::exception&) {
    return;
  }
  auto& info = device_info(device);
  fail<OutOfResources>(
      "the kernel source compiles, but the driver of ", info.name, " cannot build it; a kernel may ",
      info.fp64 ? "" : "use 64-bit floats (double, float64), which this device does not have, or ",
      "need more than its ", info.local_memory, " bytes of local memory or ", info.max_argument_bytes,
      " bytes of arguments. ", missing_function_hint(flat), "\n", driver_message);
}

// Advice for a compiler that found no folder for its temporary files.
std::string hint(const std::string& log) {
  bool no_folder = log.find("unable to make temporary file") != log.npos;
  return no_folder ? "\nSet TMPDIR to a folder that exists and that this user can write." : "";
}

}  // namespace

CompiledSource compile_source(int device, const std::string& flat, const std::vector<std::string>& options) {
  std::string log;
  try {
    auto source =
        ext::create_kernel_bundle_from_source(sycl_context(device), ext::source_language::sycl, flat);
    ext::properties properties{ext::save_log{&log},
                               ext::build_options{with_backend_options(device, options)}};
    std::optional<Executable> bundle;
    try {
      bundle = ext::build(source, {sycl_device(device)}, properties);
    } catch (const sycl::exception& e) {
      auto compiler_log = log;
      if (e.code() == sycl::errc::build) require_source_fails(device, flat, source, properties, e.what());
      log = compiler_log;
      throw;
    }
    Bytes spirv = takes_spirv(device) ? spirv_of(*bundle) : Bytes{};
    auto program = std::make_unique<BundleProgram>(std::move(*bundle));
    if (!images_tell_signatures())
      program->signatures = read_probed_signatures(log);
    else if (!spirv.empty())
      program->signatures = read_signatures(spirv);
    require_resources(device, program->signatures);
    return {std::move(program), std::move(spirv)};
  } catch (const sycl::exception& e) {
    if (e.code() == sycl::errc::build) {
      // The compiler's messages are in one of the two.
      std::string messages = log.empty() ? e.what() : log;
      bool has_reason = !log.empty() || messages.find("error:") != messages.npos;
      fail<CompileError>(
          "kernel source does not compile:\n",
          has_reason ? name_places(messages, flat)
                     : join("the compiler gives no reason (", messages, "). ", missing_function_hint(flat)),
          hint(messages));
    }
    throw_translated(e, "compiling a kernel");
  }
}

ProgramPtr load_spirv(int device, const Bytes& spirv) {
  if (device_info(device).backend == "opencl" && !generic_backend()) return load_opencl_spirv(device, spirv);
  std::string log;
  try {
    std::vector<std::byte> bytes(spirv.size());
    std::copy(spirv.begin(), spirv.end(), reinterpret_cast<std::uint8_t*>(bytes.data()));
    auto source =
        ext::create_kernel_bundle_from_source(sycl_context(device), ext::source_language::spirv, bytes);
    return std::make_unique<BundleProgram>(
        ext::build(source, {sycl_device(device)}, ext::properties{ext::save_log{&log}}), false);
  } catch (const sycl::exception& e) {
    if (e.code() == sycl::errc::build)
      fail<CompileError>("the driver cannot build this SPIR-V:\n", log.empty() ? e.what() : log);
    throw_translated(e, "loading SPIR-V");
  }
}

ProgramPtr load_native(int device, const Bytes& binary) {
  if (generic_backend()) return load_image(device, binary);
  // Level Zero drivers keep a cache of native binaries themselves.
  return device_info(device).backend == "opencl" ? load_opencl_binary(device, binary) : nullptr;
}

bool takes_spirv(int device) {
  auto& backend = device_info(device).backend;
  return backend == "opencl" || backend == "level_zero";
}

bool images_tell_signatures() {
  return !generic_backend();
}

void prepare_compiler() {
  auto path = compiler_path();
  if (!dlopen(path.c_str(), RTLD_LAZY)) log(LogLevel::debug, join("cannot load ", path, ": ", dlerror()));
}

const std::string& compiler_id() {
  static auto& id = leaked<std::string>([] {
    namespace fs = std::filesystem;
    std::error_code missing;
    auto path = fs::canonical(compiler_path(), missing);
    auto size = missing ? 0 : fs::file_size(path, missing);
    return join(path.filename().string(), ":", size);
  }());
  return id;
}

}  // namespace xpu

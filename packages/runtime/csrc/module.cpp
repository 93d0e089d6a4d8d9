#include "xpu/module.h"

#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/sycl.hpp>

#include "compile/build_service.h"
#include "compile/builder.h"
#include "compile/sha256.h"
#include "modules.h"
#include "startup.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/launch.h"

namespace xpu {
namespace {

std::string memory_key(int device, std::string_view source, const std::vector<std::string>& options) {
  std::string key = std::to_string(device);
  for (auto& option : options) key.append(1, '\0').append(option);
  return key.append(1, '\n').append(source);
}

SharedKernel find_or_build(int device, std::string key, std::string_view name,
                           const std::function<ProgramPtr()>& make) {
  startup::require_thread_allowed();
  auto module = modules().find(std::move(key), device);
  return {module, &module->kernel(std::string(name), make)};
}

// The compiler would ignore the text after it without an error.
void require_text(std::string_view text, const char* what) {
  expect<UsageError>(text.find('\0') == text.npos, "the ", what, " has a NUL character, after ",
                     std::min(text.find('\0'), text.size()), " bytes of ", text.size());
}

void require_text(std::string_view source, const std::vector<std::string>& options) {
  require_text(source, "kernel source");
  for (auto& option : options) require_text(option, "compiler option");
}

SharedKernel from_source(int device, std::string_view source, std::string_view name,
                         const std::vector<std::string>& options) {
  require_text(source, options);
  require_text(name, "kernel's name");
  return find_or_build(device, memory_key(device, source, options), name,
                       [&] { return Builder(device, flat_source(device, source), options).build(); });
}

Kernel keep(const SharedKernel& kernel) {
  modules().keep(kernel->module.lock());
  return Kernel(kernel.get());
}

template <int dims>
void submit_range(sycl::queue& queue, sycl::event* event, const KernelState& kernel, const NdRange& range,
                  const Args& args) {
  namespace ext = sycl::ext::oneapi::experimental;
  sycl::range<dims> global, local;
  for (int i = 0; i < dims; ++i) {
    global[i] = range.global[i];
    local[i] = range.local[i];
  }
  auto fill = [&](sycl::handler& handler) {
    for (std::size_t i = 0; i < args.count(); ++i) {
      auto& item = args.item(i);
      if (item.pointer) {
        void* pointer;
        std::memcpy(&pointer, args.data(i), sizeof pointer);
        handler.set_arg(static_cast<int>(i), pointer);
      } else {
        handler.set_arg(static_cast<int>(i), ext::raw_kernel_arg(args.data(i), item.size));
      }
    }
    handler.parallel_for(sycl::nd_range<dims>(global, local), kernel.kernel);
  };
  if (event)
    *event = ext::submit_with_event(queue, fill);
  else
    ext::submit(queue, fill);
}

// A launch that a graph replays. On a native queue, with a kernel object of its own that keeps its arguments.
struct OwnedLaunch {
  std::shared_ptr<Module> module;
  KernelState* kernel;
  NdRange range;
  Args args;
  std::shared_ptr<direct::Kernel> direct;
  void operator()(sycl::queue& queue, sycl::event* event) const;
};

struct Launch {
  KernelState* kernel;
  const NdRange& range;
  const Args& args;
  void operator()(sycl::queue& queue, sycl::event* event) const {
    auto* submission = kernel->direct && !event ? direct::Submission::current() : nullptr;
    if (submission && kernel->direct->enqueue(*submission, range, args)) return;
    switch (range.dims) {
      case 1:
        return submit_range<1>(queue, event, *kernel, range, args);
      case 2:
        return submit_range<2>(queue, event, *kernel, range, args);
      default:
        return submit_range<3>(queue, event, *kernel, range, args);
    }
  }
  OwnedLaunch clone() const {
    auto direct = kernel->direct ? std::make_shared<direct::Kernel>(kernel->kernel) : nullptr;
    if (direct && !direct->set(args)) direct = nullptr;
    return {kernel->module.lock(), kernel, range, args, std::move(direct)};
  }
};

void OwnedLaunch::operator()(sycl::queue& queue, sycl::event* event) const {
  auto* submission = direct && !event ? direct::Submission::current() : nullptr;
  if (submission && direct->enqueue(*submission, range)) return;
  Launch{kernel, range, args}(queue, event);
}

[[noreturn]] void throw_wrong_argument(const KernelState& kernel, std::size_t index, const Args::Item& got) {
  auto& wanted = kernel.parameters[index];
  auto name = [](std::size_t size, bool pointer) {
    return pointer ? std::string("an address") : join(size, size == 1 ? " byte" : " bytes");
  };
  fail<UsageError>("kernel \"", kernel.name, "\": argument ", index, ": got ", name(got.size, got.pointer),
                   ", expected ", name(wanted.size, wanted.pointer));
}

// The number of arguments was checked. The driver does not check their types.
void check_arguments(const KernelState& kernel, const Args& args) {
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto& wanted = kernel.parameters[i];
    auto& got = args.item(i);
    if (wanted.size != 0 && (got.size != wanted.size || got.pointer != wanted.pointer)) [[unlikely]]
      throw_wrong_argument(kernel, i, got);
  }
}

void check(const KernelState& kernel, const NdRange& range, const Args& args, Stream stream) {
  expect<UsageError>(kernel.device == stream.device(), "kernel \"", kernel.name, "\" was built for device ",
                     kernel.device, " and cannot run on a stream of device ", stream.device());
  expect<UsageError>(args.count() == kernel.arguments, "kernel \"", kernel.name, "\": got ", args.count(),
                     " arguments, expected ", kernel.arguments);
  check_arguments(kernel, args);
  expect<UsageError>(range.dims >= 1 && range.dims <= 3, "kernel \"", kernel.name, "\": got ", range.dims,
                     " dimensions, expected 1 to 3");
  std::size_t group = 1;
  for (int i = 0; i < range.dims; ++i) {
    expect<UsageError>(range.local[i] > 0 && range.global[i] % range.local[i] == 0, "kernel \"", kernel.name,
                       "\": global size ", range.global[i], " is not a multiple of group size ",
                       range.local[i], " in dimension ", i);
    auto groups = range.global[i] / range.local[i], max_groups = kernel.max_work_groups[3 - range.dims + i];
    expect<UsageError>(groups <= max_groups, "kernel \"", kernel.name, "\": ", groups,
                       " work-groups in dimension ", i, " are over the limit of ", max_groups, " of ",
                       device_info(kernel.device).name, "; fold them into the last dimension, or loop");
    group *= range.local[i];
  }
  expect<UsageError>(group <= kernel.max_work_group_size, "kernel \"", kernel.name, "\": a group of ", group,
                     " work-items is over the limit of ", kernel.max_work_group_size, " for this kernel on ",
                     device_info(kernel.device).name);
}

bool empty(const NdRange& range) {
  for (int i = 0; i < range.dims; ++i)
    if (range.global[i] == 0) return true;
  return false;
}

}  // namespace

const std::string& Kernel::name() const {
  return state_->name;
}
int Kernel::device() const {
  return state_->device;
}
std::size_t Kernel::max_work_group_size() const {
  return state_->max_work_group_size;
}
sycl::kernel& Kernel::native() const {
  return state_->kernel;
}

Kernel build_kernel(int device, std::string_view source, std::string_view name,
                    const std::vector<std::string>& options) {
  return keep(from_source(device, source, name, options));
}

SharedKernel build_shared_kernel(int device, std::string_view source, std::string_view name,
                                 const std::vector<std::string>& options) {
  return from_source(device, source, name, options);
}

void prestart_build_helpers(int device) {
  startup::require_not_forked();
  device_info(device);  // throws for an unknown device
  build_service::prestart(2);
}

std::vector<std::uint8_t> build_spirv(int device, std::string_view source,
                                      const std::vector<std::string>& options) {
  require_text(source, options);
  return Builder(device, flat_source(device, source), options).spirv();
}

Kernel kernel_from_spirv(int device, const std::vector<std::uint8_t>& spirv, std::string_view name) {
  startup::require_not_forked();
  read_signatures(spirv);  // throws for invalid modules, which the driver does not check
  auto hash = Sha256().add(spirv.data(), spirv.size()).hex();
  return keep(find_or_build(device, join(device, "spirv:", hash), name,
                            [&] { return program_of(device, spirv, hash); }));
}

Args& Args::add_bytes(const void* data, std::size_t size, bool pointer) {
  std::size_t at = (used_ + 7) / 8 * 8;
  expect<UsageError>(count_ < max_count && at + size <= max_bytes, "kernel arguments: more than ", max_count,
                     " or over ", max_bytes, " bytes in all");
  std::memcpy(bytes_ + at, data, size);
  items_[count_++] = {static_cast<std::uint16_t>(at), static_cast<std::uint16_t>(size), pointer};
  used_ = at + size;
  return *this;
}

void launch(Stream stream, const Kernel& kernel, const NdRange& range, const Args& args, std::size_t bytes) {
  if (empty(range)) return;
  check(*kernel.state(), range, args, stream);
  enqueue(stream, {WorkKind::kernel, kernel.state()->name, bytes}, Launch{kernel.state(), range, args});
}

}  // namespace xpu

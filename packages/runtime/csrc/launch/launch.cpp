// Arguments and ranges are checked, because drivers do not.
#include "xpu/launch.h"

#include <sycl/ext/oneapi/experimental/enqueue_functions.hpp>
#include <sycl/sycl.hpp>

#include "modules/module_table.h"
#include "xpu/device.h"
#include "xpu/enqueue.h"
#include "xpu/error.h"

namespace xpu {
namespace {

template <int dims>
void submit_range(sycl::queue& queue, sycl::event* event, const KernelState& kernel, const NdRange& range,
                  const ArgumentList& args) {
  namespace ext = sycl::ext::oneapi::experimental;
  sycl::range<dims> global, local;
  for (int i = 0; i < dims; ++i) {
    global[i] = range.global[i];
    local[i] = range.local[i];
  }
  auto fill = [&](sycl::handler& handler) {
    for (std::size_t i = 0; i < args.count; ++i) {
      auto& item = args.items[i];
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
  ManyArgs args;
  std::shared_ptr<direct::Kernel> direct;
  void operator()(sycl::queue& queue, sycl::event* event) const;
};

struct Launch {
  KernelState* kernel;
  const NdRange& range;
  const ArgumentList& args;
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
    return {kernel->module.lock(), kernel, range, ManyArgs(args), std::move(direct)};
  }
};

void OwnedLaunch::operator()(sycl::queue& queue, sycl::event* event) const {
  auto* submission = direct && !event ? direct::Submission::current() : nullptr;
  if (submission && direct->enqueue(*submission, range)) return;
  Launch{kernel, range, args}(queue, event);
}

[[noreturn]] void throw_wrong_argument(const KernelState& kernel, std::size_t index,
                                       const ArgumentItem& got) {
  auto& wanted = kernel.parameters[index];
  auto name = [](std::size_t size, bool pointer) {
    return pointer ? std::string("an address") : join(size, size == 1 ? " byte" : " bytes");
  };
  fail<UsageError>("kernel \"", kernel.name, "\": argument ", index, ": got ", name(got.size, got.pointer),
                   ", expected ", name(wanted.size, wanted.pointer));
}

// The driver does not check the arguments' types.
void check_arguments(const KernelState& kernel, const ArgumentList& args) {
  expect<UsageError>(args.count == kernel.arguments, "kernel \"", kernel.name, "\": got ", args.count,
                     " arguments, expected ", kernel.arguments);
  for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
    auto& wanted = kernel.parameters[i];
    auto& got = args.items[i];
    if (wanted.size != 0 && (got.size != wanted.size || got.pointer != wanted.pointer)) [[unlikely]]
      throw_wrong_argument(kernel, i, got);
  }
}

void check(const KernelState& kernel, const NdRange& range, const ArgumentList& args, Stream stream) {
  expect<UsageError>(kernel.device == stream.device(), "kernel \"", kernel.name, "\" was built for device ",
                     kernel.device, " and cannot run on a stream of device ", stream.device());
  check_arguments(kernel, args);
  expect<UsageError>(range.dims >= 1 && range.dims <= 3, "kernel \"", kernel.name, "\": got ", range.dims,
                     " dimensions, expected 1 to 3");
  std::size_t group = 1;
  for (int i = 0; i < range.dims; ++i) {
    expect<UsageError>(range.local[i] > 0 && range.global[i] % range.local[i] == 0, "kernel \"", kernel.name,
                       "\": global size ", range.global[i], " is not a multiple of group size ",
                       range.local[i], " in dimension ", i);
    auto groups = range.global[i] / range.local[i], max_groups = kernel.max_work_groups[3 - range.dims + i];
    if (groups > max_groups) [[unlikely]]
      fail<OutOfResources>("kernel \"", kernel.name, "\": ", groups, " work-groups in dimension ", i,
                           " are over the limit of ", max_groups, " of ", device_info(kernel.device).name,
                           "; fold them into the last dimension, or loop");
    group *= range.local[i];
  }
  if (group > kernel.max_work_group_size) [[unlikely]]
    fail<OutOfResources>("kernel \"", kernel.name, "\": a group of ", group,
                         " work-items is over the limit of ", kernel.max_work_group_size,
                         " for this kernel on ", device_info(kernel.device).name);
}

bool empty(const NdRange& range) {
  for (int i = 0; i < range.dims; ++i)
    if (range.global[i] == 0) return true;
  return false;
}

}  // namespace

void require_parameters(const Kernel& kernel, const ArgumentList& args) {
  check_arguments(*kernel.state(), args);
}

void launch(Stream stream, const Kernel& kernel, const NdRange& range, const ArgumentList& args,
            std::size_t bytes) {
  if (empty(range)) return;
  check(*kernel.state(), range, args, stream);
  enqueue(stream, {WorkKind::kernel, kernel.state()->name, bytes}, Launch{kernel.state(), range, args});
}

}  // namespace xpu

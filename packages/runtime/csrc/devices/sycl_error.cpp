#include "devices/sycl_error.h"

namespace xpu {

void throw_translated(const sycl::exception& e, std::string_view what) {
  auto code = e.code();
  if (code == sycl::errc::memory_allocation)
    fail<OutOfMemory>(what, ": the driver ran out of memory: ", e.what());
  if (code == sycl::errc::feature_not_supported)
    fail<Unsupported>(what, ": not supported by this device: ", e.what());
  if (code == sycl::errc::invalid || code == sycl::errc::nd_range || code == sycl::errc::kernel_argument)
    fail<UsageError>(what, ": ", e.what());
  fail<DeviceError>(what, ": ", e.what());
}

}  // namespace xpu

#include "ops/indexing.h"

#include <ATen/Dispatch.h>
#include <ATen/Dispatch_v2.h>

#include <limits>

namespace torch_xpu {

using xpu::kernels::Combine;

xpu::Scalar identity_of(Combine combine, at::ScalarType dtype) {
  if (combine == Combine::add) return 0;
  if (combine == Combine::multiply) return 1;
  bool lowest = combine == Combine::maximum;
  if (at::isFloatingType(dtype)) {
    double infinity = std::numeric_limits<double>::infinity();
    return lowest ? -infinity : infinity;
  }
  return AT_DISPATCH_INTEGRAL_TYPES_AND(at::kBool, dtype, "identity_of", [&] {
    using Limits = std::numeric_limits<scalar_t>;
    return xpu::Scalar(static_cast<std::int64_t>(lowest ? Limits::lowest() : Limits::max()));
  });
}

}  // namespace torch_xpu

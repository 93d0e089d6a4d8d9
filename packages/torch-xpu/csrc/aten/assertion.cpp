// Assertions about what is computed: the device checks, and the next wait raises.
#include <ATen/TensorOperators.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void assert_with(const Tensor& self, std::string_view message) {
  TORCH_CHECK(self.numel() == 1, "_assert_async: expected a tensor of one value, got ", self.numel());
  auto guard = guard_for(self);
  auto holds = self.scalar_type() == at::kBool ? self : self.ne(0);
  auto device = self.get_device();
  auto lanes = static_cast<std::size_t>(xpu::device_info(device).sub_group_size);
  translate_errors([&] {
    xpu::launch(stream_of(self),
                kernel_with(device, "using X = float;\n", assertion_source, "assert_nonzero"),
                xpu::NdRange::linear(1, lanes),
                xpu::args(holds.const_data_ptr(), xpu::fault_record(device),
                          xpu::fault_code("_assert_async", message)));
  });
}

void assert_async(const Tensor& self) {
  assert_with(self, "expected a value other than zero");
}
void assert_async_message(const Tensor& self, c10::string_view message) {
  assert_with(self, message);
}
Tensor functional_assert_async(const Tensor& self, c10::string_view message, const Tensor& token) {
  assert_with(self, message);
  return token.clone();
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_assert_async", assert_async);
  m.impl("_assert_async.msg", assert_async_message);
  m.impl("_functional_assert_async.msg", functional_assert_async);
}

}  // namespace torch_xpu

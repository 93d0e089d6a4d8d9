#include "ops/assertion.h"

#include <algorithm>

#include "device/errors.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {

void assert_probabilities(std::string_view op, std::string_view text, const at::Tensor& x) {
  if (x.numel() == 0) return;
  auto dense = x.is_non_overlapping_and_dense() ? x : x.contiguous();
  auto device = x.get_device();
  auto& info = xpu::device_info(device);
  auto group = info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
  // Each item looks at several elements.
  constexpr std::int64_t each = 32;
  auto items = static_cast<std::size_t>((x.numel() + each - 1) / each);
  auto head = xpu::join("using X = ", stored_type(dtype_of(x.scalar_type())), ";\n");
  translate_errors([&] {
    xpu::launch(
        stream_of(x),
        kernel_with(device, "#include <xpu/convert.h>\n" + head, assertion_source, "assert_probabilities"),
        xpu::NdRange::linear((items + group - 1) / group, group),
        xpu::args(dense.const_data_ptr(), x.numel(), xpu::fault_record(device), xpu::fault_code(op, text)));
  });
}

}  // namespace torch_xpu

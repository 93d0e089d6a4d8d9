// Nested tensors of the jagged layout: between rows one after another and rows padded to one length.
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// As in kernels/jagged.sycl.
struct JaggedShape {
  std::int64_t sequences, places, rows, width;
  std::uint32_t code, unused;
};

JaggedShape shape_of(const Tensor& offsets, std::int64_t places, std::int64_t rows, std::int64_t width) {
  static const auto code = xpu::fault_code("jagged tensor", "offset {a} is out of range for {b} rows");
  return {offsets.size(0) - 1, places, rows, width, code, 0};
}

const char* element_of(const Tensor& t) {
  switch (t.element_size()) {
    case 1:
      return "xpu::u8";
    case 2:
      return "xpu::u16";
    case 4:
      return "xpu::u32";
    case 8:
      return "xpu::u64";
    default:
      return "struct { xpu::u64 low, high; }";
  }
}

void queue(const char* name, std::int64_t rows, const Tensor& data, const JaggedShape& s, xpu::Args& args) {
  auto head = xpu::join("#include <xpu/core.h>\nusing X = ", element_of(data), ";\n");
  translate_errors([&] {
    auto stream = stream_of(data);
    auto& info = xpu::device_info(stream.device());
    auto group = info.is_gpu ? std::min<std::size_t>(128, info.max_work_group_size) : info.sub_group_size;
    auto groups_a_row = (static_cast<std::size_t>(s.width) + group - 1) / group;
    args.add(s);
    xpu::launch(stream, kernel_with(stream.device(), head, jagged_source, name),
                xpu::NdRange::linear(static_cast<std::size_t>(rows) * groups_a_row, group), args);
  });
}

Tensor only(const char* name, at::TensorList offsets) {
  TORCH_CHECK_NOT_IMPLEMENTED(offsets.size() == 1, name, ": only one jagged dimension is supported, got ",
                              offsets.size());
  TORCH_CHECK(offsets[0].dim() == 1 && offsets[0].numel() > 0, name,
              ": expected offsets of one dimension, got ", offsets[0].sizes());
  return offsets[0].to(at::kLong).contiguous();
}

Tensor jagged_to_padded(const Tensor& values, at::TensorList all_offsets, at::IntArrayRef lengths,
                        double padding) {
  constexpr const char* name = "_jagged_to_padded_dense_forward";
  auto guard = guard_for(values);
  check_one_device(values, all_offsets);
  auto offsets = only(name, all_offsets);
  TORCH_CHECK(values.dim() == 2, name, ": expected values of two dimensions, got ", values.sizes());
  TORCH_CHECK(lengths.size() == 1 && lengths[0] >= 0, name, ": expected one length, got ", lengths);
  auto s = shape_of(offsets, lengths[0], values.size(0), values.size(1));
  auto out = at::empty({s.sequences, s.places, s.width}, values.options());
  if (out.numel() == 0) return out;
  auto rows = values.contiguous(), pad = at::full({}, padding, values.options());
  xpu::Args args;
  for (auto* t : {&rows, &offsets, &pad, &out}) args.add(const_cast<void*>(t->const_data_ptr()));
  args.add(xpu::fault_record(values.get_device()));
  queue("jagged_to_padded", s.sequences * s.places, values, s, args);
  return out;
}

Tensor padded_to_jagged(const Tensor& padded, at::TensorList all_offsets, std::optional<std::int64_t> total) {
  constexpr const char* name = "_padded_dense_to_jagged_forward";
  auto guard = guard_for(padded);
  check_one_device(padded, all_offsets);
  auto offsets = only(name, all_offsets);
  TORCH_CHECK(padded.dim() == 3, name, ": expected three dimensions, got ", padded.sizes());
  TORCH_CHECK(padded.size(0) == offsets.size(0) - 1, name, ": expected ", padded.size(0) + 1,
              " offsets, got ", offsets.size(0));
  auto rows = total ? *total : offsets[-1].item<std::int64_t>();
  auto s = shape_of(offsets, padded.size(1), rows, padded.size(2));
  auto out = at::empty({rows, s.width}, padded.options());
  if (out.numel() == 0) return out;
  if (padded.numel() == 0) return out.zero_();
  auto dense = padded.contiguous();
  xpu::Args args;
  for (auto* t : {&dense, &offsets, &out}) args.add(const_cast<void*>(t->const_data_ptr()));
  queue("padded_to_jagged", rows, padded, s, args);
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_jagged_to_padded_dense_forward", jagged_to_padded);
  m.impl("_padded_dense_to_jagged_forward", padded_to_jagged);
}

}  // namespace torch_xpu

// Stretches of a dimension reduced to one element each.
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/constant_pad_nd.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
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
using MaybeTensor = const std::optional<Tensor>&;
using MaybeScalar = const std::optional<at::Scalar>&;

// As in kernels/segment.sycl.
struct SegmentShape {
  std::int64_t outer, segments, size, inner;
  std::uint32_t code, unused;
};

int mode_of(std::string_view reduce) {
  constexpr std::string_view names[] = {"sum", "mean", "max", "min", "prod"};
  if (reduce == "amax" || reduce == "amin") reduce.remove_prefix(1);
  auto* found = std::find(std::begin(names), std::end(names), reduce);
  TORCH_CHECK(found != std::end(names), "unsupported reduction ", reduce);
  return static_cast<int>(found - names);
}

// Where stretches begin and end: one more number than there are stretches, dense.
Tensor offsets_of(const Tensor& data, std::int64_t axis, MaybeTensor lengths, MaybeTensor offsets) {
  TORCH_CHECK(given(lengths) != given(offsets),
              "segment_reduce(): Either lengths or offsets must be defined, and not both.");
  auto& numbers = given(lengths) ? *lengths : *offsets;
  TORCH_CHECK(axis == numbers.dim() - 1, "segment_reduce(): Expected axis to be the last dimension of ",
              given(lengths) ? "lengths" : "offsets", " but got ", axis, ".");
  for (std::int64_t d = 0; d < axis; ++d)
    TORCH_CHECK(data.size(d) == numbers.size(d), "segment_reduce(): data is ", data.sizes(),
                " and its segments are of ", numbers.sizes());
  if (given(offsets)) return offsets->to(at::kLong).contiguous();
  return at::constant_pad_nd(lengths->to(at::kLong).cumsum(-1), {1, 0}).contiguous();
}

SegmentShape shape_of(const Tensor& data, std::int64_t axis, const Tensor& offsets) {
  static const auto code = xpu::fault_code("segment_reduce", "offset {a} is out of range for {b} elements");
  SegmentShape s{1, offsets.size(-1) - 1, data.size(axis), 1, code, 0};
  for (std::int64_t d = 0; d < data.dim(); ++d)
    if (d != axis) (d < axis ? s.outer : s.inner) *= data.size(d);
  return s;
}

void queue(const char* name, const Tensor& data, const SegmentShape& s, int mode, MaybeScalar initial,
           std::initializer_list<const Tensor*> tensors) {
  auto count = s.outer * s.segments * s.inner;
  if (count == 0) return;
  auto dtype = dtype_of(data.scalar_type());
  auto head = xpu::join("#include <xpu/convert.h>\nusing namespace xpu;\nusing X = ", stored_type(dtype),
                        ";\nusing T = ", math_type(dtype), ";\n#define MODE ", mode, "\n#define INITIAL ",
                        initial.has_value(), "\n");
  translate_errors([&] {
    auto stream = stream_of(data);
    auto& info = xpu::device_info(stream.device());
    auto group = static_cast<std::int64_t>(info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size)
                                                       : info.sub_group_size);
    xpu::Args args;
    for (auto* t : tensors) args.add(const_cast<void*>(t->const_data_ptr()));
    args.add(xpu::fault_record(stream.device())).add(s);
    auto start = initial ? initial->toDouble() : 0.0;
    if (data.scalar_type() == at::kDouble)
      args.add(start);
    else
      args.add(static_cast<float>(start));
    xpu::launch(stream, kernel_with(stream.device(), head, segment_source, name),
                xpu::NdRange::linear(static_cast<std::size_t>((count + group - 1) / group),
                                     static_cast<std::size_t>(group)),
                args);
  });
}

void check_dtype(const Tensor& data) {
  TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(data.scalar_type()),
                              "\"segment_reduce\" not implemented for '", data.scalar_type(), "'");
}

Tensor segment_reduce(const Tensor& data, std::string_view reduce, MaybeTensor lengths, MaybeTensor indices,
                      MaybeTensor offsets, std::int64_t axis, bool unsafe, MaybeScalar initial) {
  auto guard = guard_for(data);
  check_one_device(data, lengths, offsets);
  check_dtype(data);
  TORCH_CHECK_NOT_IMPLEMENTED(!given(indices),
                              "segment_reduce(): indices based reduction is not supported yet.");
  axis = at::maybe_wrap_dim(axis, data.dim());
  auto bounds = offsets_of(data, axis, lengths, offsets);
  if (!unsafe && given(lengths)) {
    TORCH_CHECK(lengths->min().item<std::int64_t>() >= 0, "lengths contains negative value!");
    TORCH_CHECK(lengths->sum(-1).eq(data.size(axis)).all().item<bool>(),
                "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(axis) when "
                "!unsafe.");
  }
  auto sizes = data.sizes().vec();
  sizes[static_cast<std::size_t>(axis)] = bounds.size(-1) - 1;
  auto out = at::empty(sizes, data.options());
  auto x = data.contiguous();
  queue("segment_reduce", x, shape_of(x, axis, bounds), mode_of(reduce), initial, {&x, &bounds, &out});
  return out;
}

Tensor segment_reduce_backward(const Tensor& grad, const Tensor& output, const Tensor& data,
                               std::string_view reduce, MaybeTensor lengths, MaybeTensor offsets,
                               std::int64_t axis, MaybeScalar initial) {
  auto guard = guard_for(data);
  check_one_device(grad, output, data, lengths, offsets);
  check_dtype(data);
  axis = at::maybe_wrap_dim(axis, data.dim());
  auto bounds = offsets_of(data, axis, lengths, offsets);
  auto x = data.contiguous(), dy = grad.contiguous(), y = output.contiguous();
  auto out = at::zeros(data.sizes(), data.options());
  queue("segment_reduce_backward", x, shape_of(x, axis, bounds), mode_of(reduce), initial,
        {&dy, &y, &x, &bounds, &out});
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("segment_reduce", segment_reduce);
  m.impl("_segment_reduce_backward", segment_reduce_backward);
}

}  // namespace torch_xpu

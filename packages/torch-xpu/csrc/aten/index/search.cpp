// Places in sorted sequences, and what is found by them.
#include <ATen/native/BucketizationUtils.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/eq.h>
#include <ATen/ops/isin_meta.h>
#include <ATen/ops/logical_not.h>
#include <ATen/ops/ne.h>
#include <ATen/ops/promote_types.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/searchsorted.h>
#include <ATen/ops/sort.h>

#include <map>
#include <mutex>

#include "device/errors.h"
#include "ops/kernels.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/launch.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;
using MaybeTensor = const std::optional<Tensor>&;
using Side = std::optional<c10::string_view>;

// An item a value. Before this text stand V (the stored type) and I (of the results). `order`, if there is
// one, says where the sequence's elements are. NaNs go last.
constexpr const char* search_source = R"~(
#include <xpu/convert.h>
using namespace xpu;
template <class T> XPU_FN bool before(T a, T b) {
  if constexpr (is_float<T>) return a < b || (b != b && a == a);
  else return a < b;
}
using T = opmath<V>;
XPU_KERNEL(1) search(global<const V> sequence, global<const V> values, global<I> out, global<const i64> order,
                     i64 count, i64 values_in_row, i64 length, i32 one_row, i32 right) {
  for (i64 k = global_id(); k < count; k += global_size()) {
    i64 row = one_row ? 0 : k / values_in_row * length;
    T value = to<T>(values[k]);
    i64 low = 0, high = length;
    while (low < high) {
      i64 middle = low + (high - low) / 2;
      T there = to<T>(sequence[row + (order ? order[row + middle] : middle)]);
      bool above = right ? before(value, there) : !before(there, value);
      low = above ? low : middle + 1;
      high = above ? middle : high;
    }
    out[k] = (I)low;
  }
}
)~";

const char* type_name(at::ScalarType type) {
  bool known = at::isFloatingType(type) || at::isIntegralType(type, false);
  TORCH_CHECK_NOT_IMPLEMENTED(known, "\"searchsorted\" not implemented for '", type, "'");
  return stored_type(dtype_of(type));
}

xpu::Kernel search_kernel(int device, at::ScalarType values, at::ScalarType results) {
  static auto& mutex = *new std::mutex;
  static auto& kernels = *new std::map<std::tuple<int, at::ScalarType, at::ScalarType>, xpu::Kernel>;
  std::lock_guard lock(mutex);
  auto& kernel = kernels[{device, values, results}];
  if (!kernel) {
    auto source = c10::str("#include <xpu/convert.h>\nnamespace xpu { using V = ", type_name(values),
                           "; using I = ", type_name(results), "; }\n", search_source);
    kernel = xpu::build_kernel(device, source, "search");
  }
  return kernel;
}

Tensor& search_out(const Tensor& sequence, const Tensor& values, bool narrow, bool right, Side side,
                   MaybeTensor order, Tensor& out) {
  auto guard = guard_for(sequence, values);
  at::native::searchsorted_pre_check(sequence, values, out, narrow, right, side,
                                     given(order) ? *order : Tensor());
  check_one_device(sequence, values, out, order);
  right = right || (side && *side == "right");
  at::native::resize_output(out, values.sizes());
  if (values.numel() == 0) return out;
  if (sequence.numel() == 0) return out.zero_();
  auto type = at::promote_types(sequence.scalar_type(), values.scalar_type());
  auto s = sequence.to(type).contiguous(), v = values.to(type).contiguous();
  auto to = out.contiguous();
  auto places = given(order) ? order->contiguous() : Tensor();
  auto count = v.numel(), length = s.size(-1);
  auto in_row = v.dim() ? v.size(-1) : 1;
  xpu::Args args;
  auto pointer = [&](const Tensor& t) {
    args.add(t.defined() ? const_cast<void*>(t.const_data_ptr()) : static_cast<void*>(nullptr));
  };
  for (auto* t : {&s, &v, &to, &places}) pointer(*t);
  args.add(count).add(in_row).add(length).add(std::int32_t{s.dim() == 1}).add(std::int32_t{right});
  constexpr std::int64_t group = 128, max_groups = 4096;
  auto groups = static_cast<std::size_t>(std::min((count + group - 1) / group, max_groups));
  translate_errors([&] {
    xpu::launch(stream_of(s), search_kernel(s.get_device(), type, to.scalar_type()),
                xpu::NdRange::linear(groups, group), args);
  });
  if (!to.is_same(out)) out.copy_(to);
  return out;
}
Tensor search(const Tensor& sequence, const Tensor& values, bool narrow, bool right, Side side,
              MaybeTensor order) {
  auto guard = guard_for(sequence, values);
  auto out = at::empty({0}, sequence.options().dtype(narrow ? at::kInt : at::kLong));
  return search_out(sequence, values, narrow, right, side, order, out);
}
Tensor number(const Scalar& value, const Tensor& like) {
  return at::empty({}, like.options()).fill_(value);
}
Tensor& search_scalar_out(const Tensor& sequence, const Scalar& value, bool narrow, bool right, Side side,
                          MaybeTensor order, Tensor& out) {
  return search_out(sequence, number(value, sequence), narrow, right, side, order, out);
}
Tensor search_scalar(const Tensor& sequence, const Scalar& value, bool narrow, bool right, Side side,
                     MaybeTensor order) {
  return search(sequence, number(value, sequence), narrow, right, side, order);
}

void check_boundaries(const Tensor& boundaries) {
  TORCH_CHECK(boundaries.dim() == 1, "boundaries tensor must be 1 dimension, but got dim(", boundaries.dim(),
              ")");
}
Tensor bucketize_tensor(const Tensor& self, const Tensor& boundaries, bool narrow, bool right) {
  check_boundaries(boundaries);
  return search(boundaries, self, narrow, right, {}, {});
}
Tensor& bucketize_tensor_out(const Tensor& self, const Tensor& boundaries, bool narrow, bool right,
                             Tensor& out) {
  check_boundaries(boundaries);
  return search_out(boundaries, self, narrow, right, {}, {}, out);
}
Tensor bucketize_scalar(const Scalar& self, const Tensor& boundaries, bool narrow, bool right) {
  check_boundaries(boundaries);
  return search_scalar(boundaries, self, narrow, right, {}, {});
}

constexpr auto isin_tensors = [](auto& op, const Tensor& elements, const Tensor& among, bool, bool invert) {
  auto out = op.output();
  if (elements.numel() == 0) return;
  if (among.numel() == 0) {
    out.fill_(invert);
    return;
  }
  // Truths are found among numbers.
  auto type = at::promote_types(elements.scalar_type(), among.scalar_type());
  if (type == at::kBool) type = at::kByte;
  auto sorted = std::get<0>(at::sort(among.to(type).reshape({-1})));
  auto wanted = elements.to(type).contiguous();
  auto places = search(sorted, wanted, false, false, {}, {}).clamp_max_(sorted.numel() - 1);
  auto found = sorted.index_select(0, places.view({-1})).view(wanted.sizes());
  if (invert)
    at::ne_out(out, wanted, found);
  else
    at::eq_out(out, wanted, found);
};
constexpr auto isin_scalar = [](auto& op, const Tensor& elements, const Scalar& one, bool, bool invert) {
  auto out = op.output();
  if (invert)
    at::ne_out(out, elements, one);
  else
    at::eq_out(out, elements, one);
};
constexpr auto scalar_isin = [](auto& op, const Scalar& one, const Tensor& among, bool, bool invert) {
  auto found = at::eq(among, one).any();
  auto out = op.output();
  // PyTorch's shape function says that there is nothing, and its own kernels make one answer.
  at::native::resize_output(out, {});
  out.copy_(invert ? at::logical_not(found) : found);
};

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  namespace meta = at::meta;
  structured<meta::structured_isin_Tensor_Tensor, isin_tensors>(m, "isin.Tensor_Tensor",
                                                                "isin.Tensor_Tensor_out");
  structured<meta::structured_isin_Tensor_Scalar, isin_scalar>(m, "isin.Tensor_Scalar",
                                                               "isin.Tensor_Scalar_out");
  structured<meta::structured_isin_Scalar_Tensor, scalar_isin>(m, "isin.Scalar_Tensor",
                                                               "isin.Scalar_Tensor_out");
  m.impl("searchsorted.Tensor", search);
  m.impl("searchsorted.Tensor_out", search_out);
  m.impl("searchsorted.Scalar", search_scalar);
  m.impl("searchsorted.Scalar_out", search_scalar_out);
  m.impl("bucketize.Tensor", bucketize_tensor);
  m.impl("bucketize.Tensor_out", bucketize_tensor_out);
  m.impl("bucketize.Scalar", bucketize_scalar);
}

}  // namespace torch_xpu

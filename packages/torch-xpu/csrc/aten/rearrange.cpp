// The same elements in other places: copies between views.
#include <ATen/MemoryOverlap.h>
#include <ATen/WrapDimUtils.h>
#include <ATen/WrapDimUtilsMulti.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/channel_shuffle_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/indexing.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/scan.h"

namespace torch_xpu {
namespace {

using at::Tensor;

Tensor flip(const Tensor& self, at::IntArrayRef dims) {
  auto guard = guard_for(self);
  auto chosen = at::dim_list_to_bitset(dims, self.dim());
  auto out = at::empty_like(self, at::MemoryFormat::Preserve);
  if (out.numel() == 0) return out;
  // The runtime's views walk backwards, which PyTorch's do not.
  auto from = xpu::Tensor(const_cast<void*>(self.const_data_ptr()), dtype_of(self.scalar_type()),
                          static_cast<int>(self.dim()), self.sizes().data(), self.strides().data());
  auto bytes = static_cast<std::int64_t>(self.element_size());
  for (int d = 0; d < from.ndim; ++d) {
    if (!chosen[static_cast<std::size_t>(d)]) continue;
    from.data = static_cast<char*>(from.data) + (from.shape[d] - 1) * from.strides[d] * bytes;
    from.strides[d] = -from.strides[d];
  }
  auto to =
      xpu::Tensor(out.mutable_data_ptr(), from.dtype, from.ndim, out.sizes().data(), out.strides().data());
  translate_errors([&] { xpu::kernels::copy(stream_of(self), to, from); });
  return out;
}

// Both halves of the first of `dims`, and of the rest within them: no element is moved twice.
void roll_into(const Tensor& out, const Tensor& from, at::IntArrayRef shifts, at::IntArrayRef dims) {
  if (out.numel() == 0) return;
  if (dims.empty()) return void(out.copy_(from));
  auto d = at::maybe_wrap_dim(dims[0], out.dim());
  auto size = out.size(d), head = ((shifts[0] % size) + size) % size;
  roll_into(out.narrow(d, head, size - head), from.narrow(d, 0, size - head), shifts.slice(1), dims.slice(1));
  roll_into(out.narrow(d, 0, head), from.narrow(d, size - head, head), shifts.slice(1), dims.slice(1));
}

bool distinct(at::IntArrayRef dims, std::int64_t count) {
  std::uint64_t seen = 0;
  for (auto d : dims) {
    auto bit = std::uint64_t{1} << at::maybe_wrap_dim(d, count);
    if (seen & bit) return false;
    seen |= bit;
  }
  return true;
}

Tensor roll(const Tensor& self, c10::SymIntArrayRef shifts, at::IntArrayRef dims) {
  auto guard = guard_for(self);
  auto steps = C10_AS_INTARRAYREF_SLOW(shifts);
  TORCH_CHECK(!steps.empty(), "`shifts` required");
  if (dims.empty() && steps.size() == 1) {
    auto flat = self.contiguous().view(-1);
    return roll(flat, shifts, {0}).view(self.sizes());
  }
  TORCH_CHECK(steps.size() == dims.size(), "shifts and dimensions must align. shifts: ", steps.size(),
              ", dims:", dims.size());
  if (!distinct(dims, self.dim()))
    return roll(roll(self, shifts.slice(0, 1), dims.slice(0, 1)), shifts.slice(1), dims.slice(1));
  auto out = at::empty_like(self, at::MemoryFormat::Contiguous);
  roll_into(out, self, steps, dims);
  return out;
}

// Element i belongs to as many repeats as end at or before it: marks at the ends, summed up.
Tensor repeat_interleave(const Tensor& repeats, std::optional<c10::SymInt> output_size) {
  auto guard = guard_for(repeats);
  TORCH_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  TORCH_CHECK(repeats.scalar_type() == at::kLong || repeats.scalar_type() == at::kInt,
              "repeats has to be Long or Int tensor");
  if (repeats.numel() == 0) return at::empty_like(repeats, at::MemoryFormat::Contiguous);
  auto ends = at::empty(repeats.sizes(), repeats.options().dtype(at::kLong));
  translate_errors([&] { xpu::kernels::cumsum(stream_of(repeats), view_of(ends), view_of(repeats), 0); });
  auto total = output_size ? output_size->expect_int() : ends.select(0, -1).item<std::int64_t>();
  auto marks = at::zeros({total + 1}, repeats.options());
  translate_errors([&] {
    auto stream = stream_of(repeats);
    auto line = view_of(marks);
    auto one = at::empty({}, repeats.options()).fill_(1).expand(repeats.sizes());
    xpu::kernels::index_combine(stream, line, 0, view_of(ends), view_of(one),
                                xpu::kernels::combiner(xpu::kernels::Combine::add));
    xpu::kernels::cumsum(stream, line, line, 0);
  });
  return marks.narrow(0, 0, total);
}

// Windows that lie side by side are added at once: as many additions as windows overlap.
Tensor unfold_backward(const Tensor& grad, c10::SymIntArrayRef input_sizes, std::int64_t dim,
                       std::int64_t size, std::int64_t step) {
  auto guard = guard_for(grad);
  auto sizes = C10_AS_INTARRAYREF_SLOW(input_sizes);
  auto out = at::zeros(sizes, grad.options());
  if (out.numel() == 0 || grad.numel() == 0) return out;
  if (sizes.empty()) return out.add_(grad.select(0, 0));
  auto d = at::maybe_wrap_dim(dim, out.dim());
  auto windows = grad.size(d);
  for (std::int64_t from = 0; from < size; from += step) {
    auto width = std::min(step, size - from);
    auto reach = (windows - 1) * step + width;
    auto to = out.narrow(d, from, reach).unfold(d, width, step);
    auto part = grad.narrow(-1, from, width);
    from == 0 ? to.copy_(part) : to.add_(part);
  }
  return out;
}

// PyTorch's form views its argument, and returns it where there is one group.
Tensor channel_shuffle(const Tensor& self, std::int64_t groups) {
  auto shuffled = at::native::channel_shuffle(self.contiguous(), groups);
  return shuffled.is_alias_of(self) ? shuffled.clone() : shuffled;
}

Tensor& narrow_copy_out(const Tensor& self, std::int64_t dim, std::int64_t start, std::int64_t length,
                        Tensor& out) {
  TORCH_CHECK(self.dtype() == out.dtype(), "narrow_copy: out is expected to have dtype ", self.dtype(),
              ", but got ", out.dtype());
  auto part = self.narrow(dim, start, length);
  at::native::resize_output(out, part.sizes());
  return out.copy_(part);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("flip", flip);
  m.impl("roll", roll);
  m.impl("narrow_copy.out", narrow_copy_out);
  m.impl("repeat_interleave.Tensor", repeat_interleave);
  m.impl("unfold_backward", unfold_backward);
  m.impl("channel_shuffle", channel_shuffle);
}

}  // namespace torch_xpu

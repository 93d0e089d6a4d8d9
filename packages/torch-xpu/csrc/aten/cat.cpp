// Tensors put together: each straight into its slice of the result.
#include <ATen/WrapDimUtils.h>
#include <ATen/ops/cat_meta.h>

#include "device/errors.h"
#include "ops/elementwise/minifloat.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/kernels/copy.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// PyTorch takes empty tensors of one dimension for nothing at all, whatever the others' shapes.
bool nothing(const Tensor& t) {
  return t.dim() == 1 && t.size(0) == 0;
}

void cat(auto& op, const at::ITensorListRef& tensors, std::int64_t dim) {
  auto& out = op.output();
  if (out.numel() == 0) return;
  auto whole = view_of(with_runtime_dtype(out));
  auto stream = stream_of(out);
  auto d = at::maybe_wrap_dim(dim, out.dim());
  std::int64_t begin = 0;
  for (const Tensor& t : tensors) {
    if (nothing(t)) continue;
    auto size = t.size(d);
    if (t.numel() == 0) {
      begin += size;
      continue;
    }
    bool unlike = t.scalar_type() != out.scalar_type() && (is_minifloat(t) || is_minifloat(out));
    if (unlike || t.is_conj() != out.is_conj() || t.is_neg() != out.is_neg()) {
      out.narrow(d, begin, size).copy_(t);
    } else {
      auto slice = whole;
      slice.data = static_cast<char*>(whole.data) +
                   begin * whole.strides[d] * static_cast<std::int64_t>(out.element_size());
      slice.shape[d] = size;
      translate_errors([&] { xpu::kernels::copy(stream, slice, view_of(with_runtime_dtype(t))); });
    }
    begin += size;
  }
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  structured<at::meta::structured_cat, [](auto& op, const auto&... args) { cat(op, args...); }>(m, "cat",
                                                                                                "cat.out");
}

}  // namespace torch_xpu

#include "xpu/kernels/fft.h"

#include "kernels/contiguous.h"
#include "kernels/fft/steps.h"
#include "kernels/geometry.h"
#include "kernels/require.h"
#include "xpu/kernels/copy.h"

namespace xpu::kernels {
namespace {

DType complex_of(DType dtype) {
  return dtype == DType::f32 ? DType::c64 : dtype == DType::f64 ? DType::c128 : dtype;
}

// Two real numbers of a line are one complex number.
Tensor as_pairs(const Tensor& t, int dim) {
  Tensor pairs = t;
  pairs.dtype = complex_of(t.dtype);
  for (int d = 0; d < t.ndim; ++d)
    if (d != dim) pairs.strides[d] /= 2;
  pairs.shape[dim] /= 2;
  return pairs;
}

bool in_pairs(const Tensor& t, int dim) {
  if (t.strides[dim] != 1 || reinterpret_cast<std::uintptr_t>(t.data) % (2 * size_of(t.dtype))) return false;
  for (int d = 0; d < t.ndim; ++d)
    if (d != dim && t.shape[d] > 1 && t.strides[d] % 2) return false;
  return true;
}

// New memory for a tensor whose lines are `n` long and dense.
struct LineMemory {
  ScratchBuffer memory;
  Tensor tensor;

  LineMemory(Stream stream, const Tensor& like, int dim, DType dtype, std::int64_t n) : tensor(like) {
    tensor.dtype = dtype;
    tensor.shape[dim] = n;
    tensor.strides[dim] = 1;
    std::int64_t step = n;
    for (int d = like.ndim - 1; d >= 0; --d) {
      if (d == dim) continue;
      tensor.strides[d] = step;
      step *= like.shape[d];
    }
    memory = ScratchBuffer(stream, static_cast<std::size_t>(tensor.numel()) * size_of(dtype));
    tensor.data = memory.data();
  }
};

char* element(const Tensor& t, std::int64_t offset) {
  return static_cast<char*>(t.data) + offset * static_cast<std::int64_t>(size_of(t.dtype));
}

// Transforms of `n` complex numbers; the two may differ in their size of `dim`.
FftLines lines_of(Stream stream, const Tensor& out, const Tensor& in, int dim, std::int64_t n,
                  const FftOptions& options) {
  Geometry g;
  g.operands = 2;
  for (int d = in.ndim - 1; d >= 0; --d) {
    if (d == dim) continue;
    g.size[g.dims] = in.shape[d];
    g.stride[0][g.dims] = out.strides[d];
    g.stride[1][g.dims++] = in.strides[d];
  }
  simplify(g, false);
  expect<Unsupported>(g.dims < FftLines::max_dims, "fft: the lines of ", in, " and ", out, " lie in ", g.dims,
                      " dimensions, expected fewer than ", int{FftLines::max_dims},
                      "; make the tensors contiguous");
  FftLines t{stream, out.dtype,       element(in, g.offset[1]), element(out, g.offset[0]),
             n,      in.strides[dim], out.strides[dim]};
  for (int d = 0; d < g.dims; ++d) t.add({g.size[d], g.stride[1][d], g.stride[0][d]});
  t.swap_in = t.swap_out = options.inverse;
  t.scale = options.scale;
  return t;
}

void complex_fft(Stream stream, const Tensor& out, const Tensor& in, int dim, const FftOptions& options) {
  fft_any(lines_of(stream, out, in, dim, in.shape[dim], options));
}

// Enqueues the transform of twice as many real numbers if one kernel computes it.
bool enqueue_half(FftLines t, FftLines::Half half) {
  t.half = half;
  if (fft_fits_row(t))
    fft_row(t);
  else if (fft_fits(t))
    fft_lines(t);
  else
    return false;
  return true;
}

Tensor first(const Tensor& t, int dim, std::int64_t n) {
  Tensor part = t;
  part.shape[dim] = n;
  return part;
}

void real_to_half(Stream stream, const Tensor& out, const Tensor& in, int dim, const FftOptions& options) {
  std::int64_t n = in.shape[dim];
  if (n % 2) {
    LineMemory whole(stream, in, dim, out.dtype, n);
    copy(stream, whole.tensor, in);
    complex_fft(stream, whole.tensor, whole.tensor, dim, options);
    return copy(stream, out, first(whole.tensor, dim, n / 2 + 1));
  }
  if (!in_pairs(in, dim)) {
    LineMemory near(stream, in, dim, in.dtype, n);
    copy(stream, near.tensor, in);
    return real_to_half(stream, out, near.tensor, dim, options);
  }
  auto pairs = as_pairs(in, dim);
  auto t = lines_of(stream, out, pairs, dim, n / 2, options);
  if (enqueue_half(t, FftLines::Half::out)) return;
  LineMemory results(stream, pairs, dim, out.dtype, n / 2);
  complex_fft(stream, results.tensor, pairs, dim, options);
  t = lines_of(stream, out, results.tensor, dim, n / 2, options);
  fft_step(FftStep::half_end, {t, false, n / 2 + 1, n / 2, n}, t.out, t.in);
}

void half_to_real(Stream stream, const Tensor& out, const Tensor& in, int dim, const FftOptions& options) {
  std::int64_t n = out.shape[dim];
  if (n % 2) {
    LineMemory whole(stream, out, dim, in.dtype, n);
    auto t = lines_of(stream, whole.tensor, in, dim, n, options);
    fft_step(FftStep::mirror, {t, true, n / 2 + 1, n}, t.in, t.out);
    complex_fft(stream, whole.tensor, whole.tensor, dim, options);
    return copy(stream, out, whole.tensor);
  }
  if (!in_pairs(out, dim)) {
    LineMemory near(stream, out, dim, out.dtype, n);
    half_to_real(stream, near.tensor, in, dim, options);
    return copy(stream, out, near.tensor);
  }
  auto pairs = as_pairs(out, dim);
  auto t = lines_of(stream, pairs, in, dim, n / 2, options);
  if (enqueue_half(t, FftLines::Half::in)) return;
  LineMemory begin(stream, pairs, dim, in.dtype, n / 2);
  t = lines_of(stream, begin.tensor, in, dim, n / 2, options);
  fft_step(FftStep::half_begin, {t, true, n / 2 + 1, n / 2, n}, t.in, t.out);
  complex_fft(stream, pairs, begin.tensor, dim, options);
}

void check(Stream stream, const Tensor& out, const Tensor& in, int dim, const FftOptions& options) {
  bool from = is_complex(in.dtype), to = is_complex(out.dtype);
  auto known = [](DType t) { return is_complex(t) || t == DType::f32 || t == DType::f64; };
  expect<UsageError>(known(in.dtype) && complex_of(in.dtype) == complex_of(out.dtype) && (from || to),
                     "fft: got ", in, " to ", out,
                     ", expected c64 with c64 or f32, or c128 with c128 or f64, one of them complex");
  expect<Unsupported>(complex_of(in.dtype) != DType::c128 || device_info(stream.device()).fp64,
                      "fft: ", device_info(stream.device()).name, " has no f64; convert to f32 or c64 first");
  expect<UsageError>((from && to) || from == options.inverse, "fft: from ", name_of(in.dtype), " to ",
                     name_of(out.dtype), " goes ", from ? "inverse" : "forward", " only");
  expect<UsageError>(in.ndim == out.ndim, "fft: the output is ", out, ", expected as many dimensions as ",
                     in);
  for (int d = 0; d < in.ndim; ++d) {
    auto a = in.shape[d], b = out.shape[d];
    if (d == dim && !from) a = a / 2 + 1;
    if (d == dim && !to) b = b / 2 + 1;
    expect<UsageError>(a == b, "fft: dimension ", d, " of the output ", out, " does not fit the input ", in);
  }
  for (int d = 0; d < out.ndim; ++d)
    expect<UsageError>(out.strides[d] != 0 || out.shape[d] <= 1, "fft: the output is ", out,
                       ", whose elements overlap in dimension ", d,
                       "; write to a tensor of its own and copy");
  require_memory("fft", in);
  require_memory("fft", out);
}

}  // namespace

void fft(Stream stream, const Tensor& out, const Tensor& in, int dim, FftOptions options) {
  dim = wrap_dim("fft", dim, in);
  expect<UsageError>(in.ndim > 0, "fft: ", in, " has no dimension to go along");
  if (in.numel() == 0 || out.numel() == 0) return;
  check(stream, out, in, dim, options);
  if (in.ndim > FftLines::max_dims && !(in.contiguous() && out.contiguous())) {
    ContiguousInput from(stream, in);
    ContiguousOutput to(stream, out);
    fft(stream, to.tensor(), from.tensor(), dim, options);
    return to.finish();
  }
  if (is_complex(in.dtype) && is_complex(out.dtype))
    complex_fft(stream, out, in, dim, options);
  else if (is_complex(out.dtype))
    real_to_half(stream, out, in, dim, options);
  else
    half_to_real(stream, out, in, dim, options);
}

}  // namespace xpu::kernels

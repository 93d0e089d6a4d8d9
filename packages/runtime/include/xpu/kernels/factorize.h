// The building blocks of dense linear algebra: batches of matrices [batch, rows, columns] of f32, f64, c64 or
// c128, of any strides, changed in place. What is left over of a block goes through matrix products.
#pragma once

#include "xpu/abi.h"
#include "xpu/dnn/matmul.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Which matrix is meant by the one in memory: the triangle to read, whether its diagonal is taken as ones,
/// and whether the numbers are the conjugate ones. The other triangle is never read. Transposed ones are
/// views.
struct Triangle {
  bool upper = false, unit = false, conjugate = false;
};

/// x becomes the solution of a @ solution = x; a's batch is x's or 1. `products` says how matrix products are
/// made, here and below.
XPU_API void solve_triangle(Stream stream, const Tensor& a, const Tensor& x, Triangle which = {},
                            const dnn::MatmulOptions& products = {});

/// L and U in place of `a`, with pivots [batch, min(rows, columns)] as in LAPACK, i32 and contiguous. `info`
/// [batch] (i32), zeros before, gets the number of the first pivot that is zero.
XPU_API void factorize_lu(Stream stream, const Tensor& a, const Tensor& pivots, const Tensor& info,
                          bool pivot = true, const dnn::MatmulOptions& products = {});

/// L in place of the lower triangle of a Hermitian matrix; nothing is said of the rest. `info` as above: the
/// first leading minor that is not positive.
XPU_API void factorize_cholesky(Stream stream, const Tensor& a, const Tensor& info,
                                const dnn::MatmulOptions& products = {});

/// Exchanges row k of x with row pivots[k] - 1, first to last, or `back`: last to first. One row of pivots
/// may stand for all of a batch.
XPU_API void swap_rows(Stream stream, const Tensor& x, const Tensor& pivots, bool back);

/// Enqueues the permutation that the swaps of `pivots` amount to: [batch, rows], i32 and contiguous.
XPU_API void pivots_to_permutation(Stream stream, const Tensor& pivots, const Tensor& permutation);

/// Enqueues a fill with NaN of the matrices whose `info` is not zero.
XPU_API void fill_failed_with_nan(Stream stream, const Tensor& a, const Tensor& info);

}  // namespace xpu::kernels

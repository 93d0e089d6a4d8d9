// Dense linear algebra: batches of matrices [batch, rows, columns] of f32, f64, c64 or c128, of any strides,
// changed in place. Blocks are factorized by kernels, the rest by matrix products. All functions enqueue and
// are thread-safe; they throw UsageError for operands that do not fit.
#pragma once

#include "xpu/abi.h"
#include "xpu/dnn/matmul.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// The part of a matrix that is used: the upper or lower triangle, with a unit diagonal that is not read, and
/// conjugated. The other triangle is never read. For a transposed matrix pass a view.
struct Triangle {
  bool upper = false, unit = false, conjugate = false;
};

/// Replaces x by the solution of a @ solution = x; a's batch is x's or 1. `products` are options of the
/// matrix products, here and below.
XPU_API void solve_triangle(Stream stream, const Tensor& a, const Tensor& x, Triangle which = {},
                            const dnn::MatmulOptions& products = {});

/// Replaces `a` by L and U. `pivots` [batch, min(rows, columns)] are LAPACK's, i32 and contiguous. `info`
/// [batch], i32 and filled with 0 by the caller, gets the number (from 1) of the first pivot that is zero.
XPU_API void factorize_lu(Stream stream, const Tensor& a, const Tensor& pivots, const Tensor& info,
                          bool pivot = true, const dnn::MatmulOptions& products = {});

/// Replaces the lower triangle of a Hermitian matrix by L; the rest is undefined. `info`, as above, gets the
/// number of the first leading minor that is not positive.
XPU_API void factorize_cholesky(Stream stream, const Tensor& a, const Tensor& info,
                                const dnn::MatmulOptions& products = {});

/// Exchanges row k of x with row pivots[k] - 1, from the first to the last; with `back` from the last to the
/// first. One row of pivots may serve the whole batch.
XPU_API void swap_rows(Stream stream, const Tensor& x, const Tensor& pivots, bool back);

/// Enqueues the permutation that the swaps of `pivots` amount to: [batch, rows], i32 and contiguous.
XPU_API void pivots_to_permutation(Stream stream, const Tensor& pivots, const Tensor& permutation);

/// Enqueues a fill with NaN of the matrices whose `info` is not zero.
XPU_API void fill_failed_with_nan(Stream stream, const Tensor& a, const Tensor& info);

}  // namespace xpu::kernels

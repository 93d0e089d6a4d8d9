#include "xpu/kernels/factorize.h"

#include <algorithm>

#include "compile/source/embedded.h"
#include "kernels/dtype_text.h"
#include "kernels/kernel_table.h"
#include "kernels/matrices/matrices.h"
#include "kernels/require.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace xpu::kernels {
namespace {

using dnn::MatmulOptions;

// Columns factorized, or unknowns solved for, before a product brings the rest up to date.
constexpr std::int64_t lu_width = 32, cholesky_width = 32, solve_width = 64;

// As in kernels/factorize.sycl.
struct Matrix {
  std::int64_t strides[3];
};
struct Swaps {
  std::int64_t batch, columns, rows, first, last, pivots;
  std::uint32_t code, unused;
};

struct Meaning {
  bool upper = false, unit = false, conjugate = false, reverse = false;
};
enum class Part : std::uint8_t {
  solve_block,
  lu_panel,
  cholesky_block,
  swap_rows,
  pivots_to_permutation,
  fill_failed
};
constexpr const char* names[] = {"solve_block",           "lu_panel",   "cholesky_block", "swap_rows",
                                 "pivots_to_permutation", "fill_failed"};

Matrix matrix_of(const Tensor& t) {
  return {{t.shape[0] == 1 ? 0 : t.strides[0], t.strides[1], t.strides[2]}};
}

Kernel kernel_for(Stream stream, DType dtype, Part part, Meaning how = {}) {
  static auto& table = immortal<KernelTable>();
  auto name = names[static_cast<int>(part)];
  auto real = part_type(dtype);
  int device = stream.device();
  auto variant =
      static_cast<std::uint64_t>(how.upper | how.unit << 1 | how.conjugate << 2 | how.reverse << 3);
  KernelKey key{static_cast<std::uint64_t>(device),
                static_cast<std::uint64_t>(dtype) | static_cast<std::uint64_t>(part) << 8 | variant << 16};
  return table.find_or_make(key, [&] {
    expect<Unsupported>(real == DType::f32 || real == DType::f64, name, ": got matrices of ", name_of(dtype),
                        ", expected f32, f64, c64 or c128");
    require_number(name, stream, real);
    return build_shared_kernel(
        device,
        join("#include <xpu/complex.h>\nusing T = ", storage_type(dtype), ";\nusing R = ", storage_type(real),
             ";\n#define UPPER ", how.upper, "\n#define UNIT ", how.unit, "\n#define CONJUGATE ",
             how.conjugate, "\n#define REVERSE ", how.reverse, "\n", kernel_source("factorize.sycl")),
        name);
  });
}

// A group has a whole matrix, whose rows it shares out.
NdRange group_each(Stream stream, const Tensor& t) {
  auto& info = device_info(stream.device());
  auto group = info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
  return NdRange::linear(static_cast<std::size_t>(t.shape[0]), group);
}

// An item each, and few of them together: an item has much to do.
NdRange items(Stream stream, std::int64_t count) {
  auto group = static_cast<std::int64_t>(device_info(stream.device()).sub_group_size);
  return NdRange::linear(static_cast<std::size_t>((count + group - 1) / group),
                         static_cast<std::size_t>(group));
}

void require_matrices(const char* op, const Tensor& t) {
  expect<UsageError>(t.ndim == 3, op, ": got ", t, ", expected a batch of matrices");
}
void require_infos(const char* op, const Tensor& info, const Tensor& a) {
  require_dtype(op, "info", info, DType::i32);
  expect<UsageError>(info.ndim == 1 && info.shape[0] == a.shape[0] && info.contiguous(), op, ": info is ",
                     info, ", expected a number for each of ", a);
}

void solve_block(Stream stream, const Tensor& a, const Tensor& x, Triangle which) {
  auto kernel = kernel_for(stream, x.dtype, Part::solve_block, {which.upper, which.unit, which.conjugate});
  launch(stream, kernel, items(stream, x.shape[0] * x.shape[2]),
         args(a.data, x.data, matrix_of(a), matrix_of(x), x.shape[0], x.shape[2], x.shape[1]));
}

void swap_some_rows(Stream stream, const Tensor& x, const Tensor& pivots, bool back, std::int64_t first,
                    std::int64_t last) {
  static const auto code = fault_code("lu", "pivot {a} is out of range for {b} rows");
  if (x.numel() == 0 || first == last) return;
  Swaps s{x.shape[0], x.shape[2], x.shape[1], first, last, pivots.shape[0] == 1 ? 0 : pivots.strides[0],
          code,       0};
  launch(stream, kernel_for(stream, x.dtype, Part::swap_rows, {.reverse = back}),
         items(stream, x.shape[0] * x.shape[2]),
         args(x.data, pivots.data, fault_record(stream.device()), matrix_of(x), s));
}

}  // namespace

void solve_triangle(Stream stream, const Tensor& a, const Tensor& x, Triangle which,
                    const MatmulOptions& products) {
  require_matrices("solve_triangle", a);
  require_matrices("solve_triangle", x);
  require_dtype("solve_triangle", "the matrix", a, x.dtype);
  auto n = x.shape[1];
  expect<UsageError>(a.shape[1] == n && a.shape[2] == n && (a.shape[0] == x.shape[0] || a.shape[0] == 1),
                     "solve_triangle: got a matrix ", a, " for unknowns ", x);
  if (x.numel() == 0) return;
  for (std::int64_t done = 0; done < n; done += solve_width) {
    auto width = std::min(solve_width, n - done), rest = n - done - width;
    auto here = which.upper ? rest : done, next = which.upper ? 0 : done + width;
    auto solved = narrow(x, 1, here, width);
    solve_block(stream, block(a, here, width, here, width), solved, which);
    if (rest)
      subtract_product(stream, narrow(x, 1, next, rest), block(a, next, rest, here, width), solved, products,
                       which.conjugate);
  }
}

void factorize_lu(Stream stream, const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot,
                  const MatmulOptions& products) {
  require_matrices("lu", a);
  require_infos("lu", info, a);
  auto rows = a.shape[1], columns = a.shape[2], steps = std::min(rows, columns);
  require_dtype("lu", "the array of pivots", pivots, DType::i32);
  expect<UsageError>(
      pivots.ndim == 2 && pivots.shape[0] == a.shape[0] && pivots.shape[1] == steps && pivots.contiguous(),
      "lu: the array of pivots is ", pivots, ", expected ", steps, " for each of ", a);
  if (a.numel() == 0) return;
  auto kernel = kernel_for(stream, a.dtype, Part::lu_panel);
  for (std::int64_t first = 0; first < steps; first += lu_width) {
    auto width = std::min(lu_width, steps - first), next = first + width;
    launch(
        stream, kernel, group_each(stream, a),
        args(a.data, pivots.data, info.data, matrix_of(a), rows, first, width, steps, std::int32_t{pivot}));
    auto left = narrow(a, 2, 0, first), right = narrow(a, 2, next, columns - next);
    if (pivot)
      for (auto& other : {left, right}) swap_some_rows(stream, other, pivots, false, first, next);
    if (next == columns) continue;
    auto solved = narrow(right, 1, first, width);
    solve_triangle(stream, block(a, first, width, first, width), solved, {.unit = true}, products);
    if (next < rows)
      subtract_product(stream, narrow(right, 1, next, rows - next), block(a, next, rows - next, first, width),
                       solved, products);
  }
}

void factorize_cholesky(Stream stream, const Tensor& a, const Tensor& info, const MatmulOptions& products) {
  require_matrices("cholesky", a);
  require_infos("cholesky", info, a);
  expect<UsageError>(a.shape[1] == a.shape[2], "cholesky: got ", a, ", expected square matrices");
  if (a.numel() == 0) return;
  auto n = a.shape[1];
  auto kernel = kernel_for(stream, a.dtype, Part::cholesky_block);
  for (std::int64_t first = 0; first < n; first += cholesky_width) {
    auto width = std::min(cholesky_width, n - first), next = first + width, rest = n - next;
    auto corner = block(a, first, width, first, width);
    launch(stream, kernel, group_each(stream, a), args(corner.data, info.data, matrix_of(a), first, width));
    if (!rest) continue;
    // Below the corner: X L^H = A.
    auto panel = block(a, next, rest, first, width);
    solve_triangle(stream, corner, transposed(panel), {.conjugate = is_complex(a.dtype)}, products);
    subtract_product(stream, block(a, next, rest, next, rest), panel, transposed(panel), products, false,
                     true);
  }
}

void swap_rows(Stream stream, const Tensor& x, const Tensor& pivots, bool back) {
  require_matrices("swap_rows", x);
  require_dtype("swap_rows", "the array of pivots", pivots, DType::i32);
  swap_some_rows(stream, x, pivots, back, 0, pivots.shape[1]);
}

void pivots_to_permutation(Stream stream, const Tensor& pivots, const Tensor& permutation) {
  require_dtype("pivots_to_permutation", "the array of pivots", pivots, DType::i32);
  require_dtype("pivots_to_permutation", "the permutation", permutation, DType::i32);
  expect<UsageError>(pivots.ndim == 2 && permutation.ndim == 2 && permutation.shape[0] == pivots.shape[0] &&
                         pivots.contiguous() && permutation.contiguous(),
                     "pivots_to_permutation: got pivots ", pivots, " and a permutation ", permutation);
  if (permutation.numel() == 0) return;
  Swaps s{permutation.shape[0], 0, permutation.shape[1], 0, pivots.shape[1], pivots.shape[1], 0, 0};
  launch(stream, kernel_for(stream, DType::f32, Part::pivots_to_permutation),
         items(stream, permutation.shape[0]), args(pivots.data, permutation.data, s));
}

void fill_failed_with_nan(Stream stream, const Tensor& a, const Tensor& info) {
  require_matrices("fill_failed_with_nan", a);
  require_infos("fill_failed_with_nan", info, a);
  if (a.numel() == 0) return;
  launch(stream, kernel_for(stream, a.dtype, Part::fill_failed), items(stream, a.numel()),
         args(a.data, info.data, matrix_of(a), a.shape[0], a.shape[1], a.shape[2]));
}

}  // namespace xpu::kernels

#include "ops/factorize.h"

#include <ATen/native/LinearAlgebraUtils.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/kernels.h"
#include "ops/product.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// Columns factorised, or unknowns solved for, before a product brings the rest up to date.
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
  bool upper = false, unit = false, conjugate = false, turned = false;
};

Matrix matrix_of(const Tensor& t) {
  return {{t.size(0) == 1 ? 0 : t.stride(0), t.stride(1), t.stride(2)}};
}
void* data(const Tensor& t) {
  return const_cast<void*>(t.const_data_ptr());
}

xpu::Kernel kernel_for(const Tensor& t, const char* name, Meaning how = {}) {
  auto type = t.scalar_type();
  TORCH_CHECK_NOT_IMPLEMENTED(
      type == at::kFloat || type == at::kDouble || type == at::kComplexFloat || type == at::kComplexDouble,
      "\"", name, "\" not implemented for '", type, "'");
  auto head = xpu::join("#include <xpu/complex.h>\nusing T = ", stored_type(dtype_of(type)),
                        ";\nusing R = ", stored_type(dtype_of(c10::toRealValueType(type))),
                        ";\n#define UPPER ", how.upper, "\n#define UNIT ", how.unit, "\n#define CONJUGATE ",
                        how.conjugate, "\n#define TURNED ", how.turned, "\n");
  return kernel_with(t.get_device(), head, factorize_source, name);
}

// A group has a whole matrix, whose rows it shares out.
std::size_t group_for(const Tensor& t) {
  auto& info = xpu::device_info(t.get_device());
  return info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
}

// An item each, and few of them together: an item has much to do.
xpu::NdRange items(const Tensor& t, std::int64_t count) {
  auto group = static_cast<std::int64_t>(xpu::device_info(t.get_device()).sub_group_size);
  return xpu::NdRange::linear(static_cast<std::size_t>((count + group - 1) / group),
                              static_cast<std::size_t>(group));
}

void solve_block(const Tensor& a, const Tensor& x, Triangle which) {
  auto kernel =
      kernel_for(x, "solve_block", {.upper = which.upper, .unit = which.unit, .conjugate = a.is_conj()});
  xpu::launch(stream_of(x), kernel, items(x, x.size(0) * x.size(2)),
              xpu::args(data(a), data(x), matrix_of(a), matrix_of(x), x.size(0), x.size(2), x.size(1)));
}

void swap_some_rows(const Tensor& x, const Tensor& pivots, bool back, std::int64_t first, std::int64_t last) {
  static const auto code = xpu::fault_code("lu", "pivot {a} is out of range for {b} rows");
  if (x.numel() == 0 || first == last) return;
  Swaps s{x.size(0), x.size(2), x.size(1), first, last, pivots.size(0) == 1 ? 0 : pivots.stride(0), code, 0};
  auto stream = stream_of(x);
  xpu::launch(stream, kernel_for(x, "swap_rows", {.turned = back}), items(x, x.size(0) * x.size(2)),
              xpu::args(data(x), data(pivots), xpu::fault_record(stream.device()), matrix_of(x), s));
}

// c -= a @ b
void subtract_product(const Tensor& c, const Tensor& a, const Tensor& b) {
  multiply(c, a.expand({c.size(0), -1, -1}), b, {.alpha = -1, .beta = 1, .addend = c});
}

Tensor block(const Tensor& t, std::int64_t row, std::int64_t rows, std::int64_t column,
             std::int64_t columns) {
  return t.narrow(1, row, rows).narrow(2, column, columns);
}

}  // namespace

Tensor one_batch(const Tensor& t) {
  return t.reshape({at::native::batchCount(t), t.size(-2), t.size(-1)});
}

void solve_triangle(const Tensor& a, const Tensor& x, Triangle which) {
  if (x.numel() == 0) return;
  translated([&] {
    auto n = x.size(1);
    for (std::int64_t done = 0; done < n; done += solve_width) {
      auto width = std::min(solve_width, n - done), rest = n - done - width;
      auto here = which.upper ? rest : done, next = which.upper ? 0 : done + width;
      auto solved = x.narrow(1, here, width);
      solve_block(block(a, here, width, here, width), solved, which);
      if (rest) subtract_product(x.narrow(1, next, rest), block(a, next, rest, here, width), solved);
    }
  });
}

void factorize_lu(const Tensor& a, const Tensor& pivots, const Tensor& info, bool pivot) {
  if (a.numel() == 0) return;
  translated([&] {
    auto rows = a.size(1), columns = a.size(2), steps = std::min(rows, columns);
    auto kernel = kernel_for(a, "lu_panel");
    for (std::int64_t first = 0; first < steps; first += lu_width) {
      auto width = std::min(lu_width, steps - first), next = first + width;
      xpu::launch(stream_of(a), kernel,
                  xpu::NdRange::linear(static_cast<std::size_t>(a.size(0)), group_for(a)),
                  xpu::args(data(a), data(pivots), data(info), matrix_of(a), rows, first, width, steps,
                            std::int32_t{pivot}));
      auto left = a.narrow(2, 0, first), right = a.narrow(2, next, columns - next);
      if (pivot)
        for (auto& other : {left, right}) swap_some_rows(other, pivots, false, first, next);
      if (next == columns) continue;
      auto solved = right.narrow(1, first, width);
      solve_triangle(block(a, first, width, first, width), solved, {.unit = true});
      if (next < rows)
        subtract_product(right.narrow(1, next, rows - next), block(a, next, rows - next, first, width),
                         solved);
    }
  });
}

void factorize_cholesky(const Tensor& a, const Tensor& info) {
  if (a.numel() == 0) return;
  translated([&] {
    auto n = a.size(1);
    auto kernel = kernel_for(a, "cholesky_block");
    for (std::int64_t first = 0; first < n; first += cholesky_width) {
      auto width = std::min(cholesky_width, n - first), next = first + width, rest = n - next;
      auto corner = block(a, first, width, first, width);
      xpu::launch(stream_of(a), kernel,
                  xpu::NdRange::linear(static_cast<std::size_t>(a.size(0)), group_for(a)),
                  xpu::args(data(corner), data(info), matrix_of(a), first, width));
      if (!rest) continue;
      // Below the corner: X L^H = A.
      auto below = block(a, next, rest, first, width);
      solve_triangle(corner.conj(), below.transpose(1, 2), {});
      subtract_product(block(a, next, rest, next, rest), below, below.mH());
    }
  });
}

void swap_rows(const Tensor& x, const Tensor& pivots, bool back) {
  translated([&] { swap_some_rows(x, pivots, back, 0, pivots.size(1)); });
}

}  // namespace torch_xpu

// A tensor read where a grid says.
#include <ATen/Context.h>
#include <ATen/native/GridSamplerUtils.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace torch_xpu {
namespace {

using at::Tensor;

// As in kernels/grid_sample.sycl: n c d h w, of two dimensions or three.
struct GridShape {
  std::int64_t n, c, from[3], size[3];
  std::int64_t x[5], y[5], grid[5], grad_grid[5];
};

struct Sampling {
  std::int64_t mode, padding;
  bool align_corners;
};

std::int64_t* put_spatial(std::int64_t* to, at::IntArrayRef values, std::size_t first, std::int64_t missing) {
  std::size_t dims = values.size() - (first == 1 ? 2 : first);
  if (dims == 2) *to++ = missing;
  return std::copy_n(values.begin() + first, dims, to);
}

void put_strides(std::int64_t* to, const Tensor& t) {
  to[0] = t.stride(0);
  to[1] = t.stride(1);
  put_spatial(to + 2, t.strides(), 2, 0);
}
void put_grid_strides(std::int64_t* to, const Tensor& t) {
  to[0] = t.stride(0);
  *put_spatial(to + 1, t.strides(), 1, 0) = t.stride(-1);
}

GridShape shape_of(const Tensor& input, const Tensor& grid, const Tensor& result) {
  GridShape s{};
  s.n = input.size(0);
  s.c = input.size(1);
  put_spatial(s.from, input.sizes(), 2, 1);
  put_spatial(s.size, result.sizes(), 2, 1);
  put_strides(s.x, input);
  put_strides(s.y, result);
  put_grid_strides(s.grid, grid);
  return s;
}

void queue(const char* name, const Tensor& input, const Sampling& how, bool grad_input, const GridShape& s,
           std::initializer_list<void*> pointers) {
  auto places = static_cast<std::size_t>(s.n * s.size[0] * s.size[1] * s.size[2]);
  auto dtype = dtype_of(input.scalar_type());
  auto head = xpu::join("#include <xpu/core.h>\n#include <xpu/convert.h>\nusing X = ", stored_type(dtype),
                        ";\nusing T = ", math_type(dtype), ";\n#define XPU_DIMS ", input.dim() - 2,
                        "\n#define MODE ", how.mode, "\n#define PADDING ", how.padding, "\n#define ALIGN ",
                        how.align_corners, "\n#define GRAD_INPUT ", grad_input, "\n");
  translate_errors([&] {
    auto stream = stream_of(input);
    auto& info = xpu::device_info(stream.device());
    auto kernel = kernel_with(stream.device(), head, grid_sample_source, name);
    std::size_t group = std::min({info.is_gpu ? std::size_t{256} : std::size_t{16} * info.sub_group_size,
                                  info.max_work_group_size, kernel.max_work_group_size()});
    xpu::Args list;
    for (auto* pointer : pointers) list.add(pointer);
    list.add(s);
    xpu::launch(stream, kernel, xpu::NdRange::linear((places + group - 1) / group, group), list);
  });
}

void* data(const Tensor& t) {
  return t.defined() ? const_cast<void*>(t.const_data_ptr()) : nullptr;
}

template <int dims>
void check(const Tensor& input, const Tensor& grid, const Sampling& how) {
  at::native::check_grid_sampler_common(input, grid);
  if constexpr (dims == 2)
    at::native::check_grid_sampler_2d(input, grid);
  else
    at::native::check_grid_sampler_3d(input, grid, how.mode);
  TORCH_CHECK(input.scalar_type() == grid.scalar_type(),
              "grid_sampler: expected input and grid of one dtype, got ", input.scalar_type(), " and ",
              grid.scalar_type());
  TORCH_CHECK(how.mode >= 0 && how.mode <= 2 && how.padding >= 0 && how.padding <= 2,
              "grid_sampler: no interpolation mode ", how.mode, " or padding mode ", how.padding);
}

template <int dims>
Tensor grid_sampler(const Tensor& input, const Tensor& grid, std::int64_t mode, std::int64_t padding,
                    bool align_corners) {
  auto guard = guard_for(input, grid);
  check_one_device(input, grid);
  Sampling how{mode, padding, align_corners};
  check<dims>(input, grid, how);
  at::DimVector sizes{input.size(0), input.size(1)};
  for (std::int64_t d = 1; d <= dims; ++d) sizes.push_back(grid.size(d));
  auto out = at::empty(sizes, input.options());
  if (out.numel())
    queue("grid_sample", input, how, false, shape_of(input, grid, out), {data(input), data(grid), data(out)});
  return out;
}

template <int dims>
std::tuple<Tensor, Tensor> grid_sampler_backward(const Tensor& grad, const Tensor& input, const Tensor& grid,
                                                 std::int64_t mode, std::int64_t padding, bool align_corners,
                                                 std::array<bool, 2> wanted) {
  auto guard = guard_for(grad, input, grid);
  check_one_device(grad, input, grid);
  if (wanted[0])
    at::globalContext().alertNotDeterministic(dims == 2 ? "grid_sampler_2d_backward_xpu"
                                                        : "grid_sampler_3d_backward_xpu");
  Sampling how{mode, padding, align_corners};
  check<dims>(input, grid, how);
  // Narrow floats are added up as floats, and rounded once.
  auto wide = at::isReducedFloatingType(input.scalar_type()) ? at::kFloat : input.scalar_type();
  Tensor grad_input, grad_grid = at::empty_like(grid, at::MemoryFormat::Contiguous);
  if (wanted[0]) grad_input = at::zeros(input.sizes(), input.options().dtype(wide));
  if (grad.numel()) {
    auto s = shape_of(input, grid, grad);
    put_grid_strides(s.grad_grid, grad_grid);
    queue("grid_sample_backward", input, how, wanted[0], s,
          {data(input), data(grid), data(grad), data(wanted[0] ? grad_input : grad_grid), data(grad_grid)});
  } else {
    grad_grid.zero_();
  }
  return {wanted[0] ? grad_input.to(input.scalar_type()) : Tensor(), grad_grid};
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("grid_sampler_2d", grid_sampler<2>);
  m.impl("grid_sampler_3d", grid_sampler<3>);
  m.impl("grid_sampler_2d_backward", grid_sampler_backward<2>);
  m.impl("grid_sampler_3d_backward", grid_sampler_backward<3>);
}

}  // namespace torch_xpu

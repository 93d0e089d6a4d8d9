#include "kernels/geometry.h"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "xpu/error.h"

namespace xpu::kernels {
namespace {

void check_output(const Tensor& out, const Tensor& first, std::size_t number, const char* name) {
  bool same = out.ndim == first.ndim, empty = out.numel() == 0;
  for (int d = 0; same && d < out.ndim; ++d) same = out.shape[d] == first.shape[d];
  expect<UsageError>(same, name, ": output ", number, " is ", out, ", expected the shape of output 0, ",
                     first);
  for (int d = 0; d < out.ndim; ++d)
    expect<UsageError>(out.strides[d] != 0 || empty || out.shape[d] <= 1, name, ": output ", number, " is ",
                       out, ", whose elements overlap in dimension ", d,
                       "; write to a tensor of its own and copy");
}

void check_input(const Tensor& in, const Tensor& out, std::size_t number, const char* name) {
  int missing = out.ndim - in.ndim;
  bool fits = missing >= 0;
  for (int d = 0; fits && d < in.ndim; ++d) fits = in.shape[d] == 1 || in.shape[d] == out.shape[d + missing];
  expect<UsageError>(fits, name, ": input ", number, " is ", in, ", which does not broadcast to ", out);
}

/// The input's stride in dimension d of the output; 0 if it broadcasts.
std::int64_t broadcast_stride(const Tensor& in, const Tensor& out, int d) {
  int own = d - (out.ndim - in.ndim);
  return own < 0 || in.shape[own] == 1 ? 0 : in.strides[own];
}

struct Simplifier {
  Geometry& g;

  void swap(int a, int b) {
    std::swap(g.size[a], g.size[b]);
    for (int k = 0; k < g.operands; ++k) std::swap(g.stride[k][a], g.stride[k][b]);
  }

  /// True if dimension `a` is faster than `b` in the first operand whose strides differ and are not 0.
  bool faster(int a, int b) const {
    for (int k = 0; k < g.operands; ++k) {
      auto x = std::abs(g.stride[k][a]), y = std::abs(g.stride[k][b]);
      if (x != y && x != 0 && y != 0) return x < y;
    }
    return false;
  }

  void order() {
    for (int i = 1; i < g.dims; ++i)
      for (int j = i; j > 0 && faster(j, j - 1); --j) swap(j, j - 1);
  }

  /// Reverses the dimensions in which the first operand has a negative stride, in all operands.
  void make_forward() {
    for (int d = 0; d < g.dims; ++d) {
      if (g.stride[0][d] >= 0) continue;
      for (int k = 0; k < g.operands; ++k) {
        g.offset[k] += (g.size[d] - 1) * g.stride[k][d];
        g.stride[k][d] = -g.stride[k][d];
      }
    }
  }

  bool can_merge(int inner, int outer) const {
    for (int k = 0; k < g.operands; ++k)
      if (g.stride[k][outer] != g.size[inner] * g.stride[k][inner]) return false;
    return true;
  }

  void merge() {
    int last = 0;
    for (int d = 1; d < g.dims; ++d) {
      if (can_merge(last, d)) {
        g.size[last] *= g.size[d];
      } else {
        swap(++last, d);
      }
    }
    g.dims = last + 1;
  }
};

}  // namespace

Geometry& Geometry::operator=(const Geometry& other) {
  operands = other.operands, dims = other.dims, count = other.count, offset = other.offset;
  std::copy_n(other.size.begin(), dims, size.begin());
  for (int k = 0; k < operands; ++k) std::copy_n(other.stride[k].begin(), dims, stride[k].begin());
  return *this;
}

bool Geometry::linear() const {
  if (dims != 1) return false;
  for (int k = 0; k < operands; ++k)
    if (stride[k][0] != 1 && size[0] != 1) return false;
  return true;
}

void Geometry::put_longest_first() {
  int largest = static_cast<int>(std::max_element(size.begin(), size.begin() + dims) - size.begin());
  auto to_front = [&](auto& list) {
    std::rotate(list.begin(), list.begin() + largest, list.begin() + largest + 1);
  };
  to_front(size);
  for (int k = 0; k < operands; ++k) to_front(stride[k]);
}

bool Geometry::fits_32_bits() const {
  constexpr std::int64_t limit = 0x7fffffff;
  if (count > limit) return false;
  for (int k = 0; k < operands; ++k) {
    std::int64_t reach = 0;
    for (int d = 0; d < dims; ++d) reach += (size[d] - 1) * std::abs(stride[k][d]);
    if (reach > limit) return false;
  }
  return true;
}

void check_shapes(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name) {
  for (std::size_t k = 0; k < outputs.size(); ++k) check_output(outputs[k], outputs[0], k, name);
  check_inputs(inputs, outputs[0], name);
}

void check_inputs(std::span<const Tensor> inputs, const Tensor& shape, const char* name) {
  for (std::size_t i = 0; i < inputs.size(); ++i) check_input(inputs[i], shape, i, name);
}

void simplify(Geometry& g, bool keep_order) {
  g.count = 1;
  Simplifier s{g};
  int remaining = 0;
  for (int d = 0; d < g.dims; ++d) {
    g.count *= g.size[d];
    if (g.size[d] != 1) s.swap(remaining++, d);
  }
  g.dims = remaining;
  if (g.dims == 0) {
    g.dims = 1;
    g.size[0] = 1;
    for (int k = 0; k < g.operands; ++k) g.stride[k][0] = 1;
  } else if (g.count > 0) {
    if (!keep_order) s.make_forward(), s.order();
    s.merge();
  }
}

Geometry coalesce(std::span<const Tensor> outputs, std::span<const Tensor> inputs, const char* name,
                  bool keep_order) {
  check_shapes(outputs, inputs, name);
  Geometry g;
  const Tensor& shape = outputs[0];
  g.operands = static_cast<int>(outputs.size() + inputs.size());
  for (int d = shape.ndim - 1; d >= 0; --d, ++g.dims) {
    std::size_t k = 0;
    g.size[g.dims] = shape.shape[d];
    for (auto& out : outputs) g.stride[k++][g.dims] = out.strides[d];
    for (auto& in : inputs) g.stride[k++][g.dims] = broadcast_stride(in, shape, d);
  }
  simplify(g, keep_order);
  return g;
}

}  // namespace xpu::kernels

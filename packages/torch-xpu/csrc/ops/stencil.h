// Stencil along one dimension: the inputs, with weights, of each output. Used for padding, pooling and
// interpolation.
#pragma once

#include <ATen/core/Tensor.h>

#include <compare>
#include <cstdint>
#include <vector>

namespace torch_xpu {

struct Stencil {
  enum Kind : std::uint8_t {
    identity,
    reflect,    ///< `pad` elements of the reflected source come first
    replicate,  ///< ... of the first element
    nearest,
    nearest_exact,
    linear,
    cubic,
    linear_aa,  ///< antialiased: when shrinking, a result uses all elements that it covers
    cubic_aa,
    lanczos_aa,
    window,            ///< a window of `kernel` taps, `stride` apart, `dilation` between taps
    average,           ///< the mean of a window, padding included
    average_inside,    ///< the mean of a window, padding excluded
    fold,              ///< the sum over windows that contain an element; `from` is [kernel, windows]
    adaptive_window,   ///< windows that cover the source evenly
    adaptive_average,  ///< ... their means
  } kind = identity;
  std::int64_t from = 1, to = 1;  ///< sizes of source and result
  std::int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
  double scale = 0;  ///< of an interpolation, as the caller gave it, or what an average is divided by; or 0
  bool align_corners = false;
  bool wide = false;         ///< computed in double
  bool is_backward = false;  ///< source and result are exchanged; sizes are as in the forward

  auto operator<=>(const Stencil&) const = default;
  std::int64_t results() const { return is_backward ? from : to; }
  std::int64_t sources() const { return is_backward ? to : from; }
  bool has_weights() const;
};

/// The taps of each result, in device memory: [width, results].
struct StencilTable {
  at::Tensor index;   ///< i32; -1 if a result has fewer taps than `width`; -2 - i for a tap at i, outside the
                      ///< source, if that is the result's only one
  at::Tensor weight;  ///< float, or double for a wide stencil
  std::int64_t width = 1;  ///< the largest number of taps of a result
  bool holes = false;      ///< some index is negative
};

/// Returns the table, which is computed once for each device. Thread-safe. May block to upload it, or to
/// drain all devices when the cache is full.
StencilTable stencil_table(const Stencil& stencil, c10::Device device);
/// Returns one table for two nested dimensions: rows and columns of small planes.
StencilTable stencil_table(const Stencil& rows, const Stencil& columns, c10::Device device);

/// An input of a result: its position and weight.
struct Tap {
  std::int64_t at;
  double weight;
};
/// Computes the taps of each result on the host.
std::vector<std::vector<Tap>> compute_taps(const Stencil& stencil);

}  // namespace torch_xpu

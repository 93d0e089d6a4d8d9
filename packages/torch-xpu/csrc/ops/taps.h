// Along one dimension, which elements of its source a result is made of: padding, pooling and interpolation
// differ in nothing else.
#pragma once

#include <ATen/core/Tensor.h>

#include <compare>
#include <cstdint>
#include <vector>

namespace torch_xpu {

struct Rule {
  enum Kind : std::uint8_t {
    identity,
    reflect,    ///< `pad` elements of the reflected source come first
    replicate,  ///< ... of the first element
    nearest,
    nearest_exact,
    linear,
    cubic,
    linear_aa,  ///< antialiased: shrinking takes in all elements on the way
    cubic_aa,
    lanczos_aa,
    window,            ///< a window of `kernel` taps, `stride` apart, `dilation` between taps
    average,           ///< its mean, the padding counted
    average_inside,    ///< the mean of what is not padding
    fold,              ///< the windows that have an element: `from` is `kernel` taps of every window
    adaptive_window,   ///< windows that cover the source whatever its size
    adaptive_average,  ///< ... and their means
  } kind = identity;
  std::int64_t from = 1, to = 1;  ///< sizes of source and result
  std::int64_t kernel = 1, stride = 1, pad = 0, dilation = 1;
  double scale = 0;  ///< of an interpolation, as the caller gave it, or what an average is divided by; or 0
  bool align_corners = false;
  bool wide = false;    ///< computed in double
  bool turned = false;  ///< a backward: sizes are as in the forward, source and result are exchanged

  auto operator<=>(const Rule&) const = default;
  std::int64_t results() const { return turned ? from : to; }
  std::int64_t sources() const { return turned ? to : from; }
  bool weighted() const;
};

/// A rule worked out, in device memory: [taps, results].
struct Taps {
  at::Tensor index;   ///< i32; -1 where a result has fewer taps than others, first -2 - i where its only one
                      ///< would be at i, outside the source
  at::Tensor weight;  ///< float, or double for a wide rule
  std::int64_t taps = 1;
  bool holes = false;
};

/// Kept from the first time it is asked for.
Taps taps_of(const Rule& rule, c10::Device device);
/// Two dimensions that lie one inside the other in memory as one: rows and columns of small planes.
Taps taps_of(const Rule& rows, const Rule& columns, c10::Device device);

/// One tap: where, and its weight.
struct Tap {
  std::int64_t at;
  double weight;
};
/// The same on the host: a list for each result.
std::vector<std::vector<Tap>> worked_out(const Rule& rule);

}  // namespace torch_xpu

// Random fills: the numbers depend on the seed, the offset and the element only, so they are the same for any
// number of cores and on every device of the same dtypes.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "xpu/abi.h"
#include "xpu/generator.h"
#include "xpu/stream.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

/// Source of a fill's numbers: a generator, which advances, or a complete state.
class RandomSource {
 public:
  RandomSource(Generator generator) : generator_(std::move(generator)) {}
  RandomSource(Philox state) : state_(state) {}
  Philox take(Stream stream, std::uint64_t increment) {
    return generator_ ? generator_->take(stream, increment) : state_;
  }

 private:
  std::optional<Generator> generator_;
  Philox state_;
};

/// The generator's raw bits; any integer dtype.
XPU_API void random_bits(Stream stream, RandomSource source, const Tensor& out);
/// Integers in [low, low + count), converted to any number dtype; a count of 0 means 2^64.
XPU_API void random_integers(Stream stream, RandomSource source, const Tensor& out, std::int64_t low,
                             std::uint64_t count);
/// 1 with probability p (or `chances`, element by element), otherwise 0; any number dtype.
XPU_API void bernoulli(Stream stream, RandomSource source, const Tensor& out, double p);
XPU_API void bernoulli(Stream stream, RandomSource source, const Tensor& out, const Tensor& chances);

/// Distributions for float dtypes: computed in float and rounded once, f64 in double.
XPU_API void uniform(Stream stream, RandomSource source, const Tensor& out, double low, double high);
XPU_API void normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation);
XPU_API void log_normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation);
XPU_API void exponential(Stream stream, RandomSource source, const Tensor& out, double rate);
XPU_API void cauchy(Stream stream, RandomSource source, const Tensor& out, double median, double scale);
/// Number of trials including the first success, of probability p, 0 < p <= 1; any number dtype.
XPU_API void geometric(Stream stream, RandomSource source, const Tensor& out, double p);

}  // namespace xpu::kernels

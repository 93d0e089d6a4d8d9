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

/// Where a fill gets its numbers: a generator, which moves on, or a state given in full.
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

/// The generator's bits as they come; any integer dtype.
XPU_API void random_bits(Stream stream, RandomSource source, const Tensor& out);
/// One of `count` integers from `low` on, converted to any number dtype; a count of 0 stands for 2^64.
XPU_API void random_integers(Stream stream, RandomSource source, const Tensor& out, std::int64_t low,
                             std::uint64_t count);
/// Each true with probability p (or `chances`, element by element), as 1 or 0 of any number dtype.
XPU_API void bernoulli(Stream stream, RandomSource source, const Tensor& out, double p);
XPU_API void bernoulli(Stream stream, RandomSource source, const Tensor& out, const Tensor& chances);

/// For float dtypes; computed in float and rounded once, f64 in double.
XPU_API void uniform(Stream stream, RandomSource source, const Tensor& out, double low, double high);
XPU_API void normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation);
XPU_API void log_normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation);
XPU_API void exponential(Stream stream, RandomSource source, const Tensor& out, double rate);
XPU_API void cauchy(Stream stream, RandomSource source, const Tensor& out, double median, double scale);
/// Trials up to and with the first success of probability p, 0 < p <= 1; any number dtype.
XPU_API void geometric(Stream stream, RandomSource source, const Tensor& out, double p);

}  // namespace xpu::kernels

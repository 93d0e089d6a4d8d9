#include "xpu/kernels/random.h"

#include <algorithm>
#include <cmath>

#include "compile/source/embedded.h"
#include "kernels/contiguous.h"
#include "kernels/dtype_text.h"
#include "kernels/kernel_table.h"
#include "kernels/require.h"
#include "kernels/tuning.h"
#include "process/immortal.h"

namespace xpu::kernels {
namespace {

enum class Draw : std::uint8_t {
  bits,
  uniform,
  normal,
  log_normal,
  exponential,
  cauchy,
  geometric,
  bernoulli,
  bernoulli_each,
  integers,
  wide_integers
};
constexpr const char* struct_names[] = {"Bits",          "Uniform",  "Normal",      "LogNormal",
                                        "Exponential",   "Cauchy",   "Geometric",   "Bernoulli",
                                        "BernoulliEach", "Integers", "WideIntegers"};

struct Fill {
  const char* name;
  Draw draw;
  double a = 0, b = 0;
  std::uint64_t low = 0, count = 0;  // of the integer draws
};

bool integer_draw(Draw draw) {
  return draw == Draw::bits || draw == Draw::integers || draw == Draw::wide_integers;
}

// In which a draw that is not of integers computes; f64 takes random bits of its own.
DType arithmetic(const Fill& fill, DType out) {
  if (integer_draw(fill.draw)) return DType::f32;
  return out == DType::f64 ? DType::f64 : DType::f32;
}

// 64 random bits an element.
bool wide(const Fill& fill, DType out) {
  if (fill.draw == Draw::bits) return size_of(out) == 8;
  return fill.draw == Draw::wide_integers || (!integer_draw(fill.draw) && out == DType::f64);
}

std::string source_of(const Fill& fill, DType out, DType chances) {
  DType m = arithmetic(fill, out);
  const char* fields = integer_draw(fill.draw) ? "xpu::u64 a, b;" : "M a, b;";
  bool each = fill.draw == Draw::bernoulli_each;
  std::string chance_type = each ? join("#define CHANCES ", value_type(chances), "\n") : "";
  return join("#include <xpu/convert.h>\nusing Out = ", value_type(out), ";\nusing M = ", value_type(m),
              ";\nstruct Parameters { ", fields, " };\n#define DRAW ",
              struct_names[static_cast<int>(fill.draw)], "\n#define WIDE ", wide(fill, out),
              "\n#define PER_ELEMENT ", each, "\n", chance_type, kernel_source("random.sycl"));
}

Kernel kernel_of(int device, const Fill& fill, DType out, DType chances) {
  static auto& table = immortal<KernelTable>();
  KernelKey key{static_cast<std::uint64_t>(device), static_cast<std::uint64_t>(fill.draw) |
                                                        static_cast<std::uint64_t>(out) << 8 |
                                                        static_cast<std::uint64_t>(chances) << 16};
  return table.find_or_make(
      key, [&] { return build_shared_kernel(device, source_of(fill, out, chances), "random_fill"); });
}

void add_parameters(Args& args, const Fill& fill, DType m) {
  if (integer_draw(fill.draw)) {
    std::uint64_t values[] = {fill.low, fill.count};
    args.add_bytes(values, sizeof values);
  } else if (m == DType::f64) {
    double values[] = {fill.a, fill.b};
    args.add_bytes(values, sizeof values);
  } else {
    float values[] = {static_cast<float>(fill.a), static_cast<float>(fill.b)};
    args.add_bytes(values, sizeof values);
  }
}

void run(Stream stream, RandomSource& source, const Tensor& out, const Fill& fill,
         const Tensor* chances = nullptr) {
  require_number(fill.name, stream, out.dtype);
  require_memory(fill.name, out);
  // The generator moves on for an empty output too: what is drawn must not depend on a size that may be data.
  Philox state = source.take(stream, wide(fill, out.dtype) ? 8 : 4);
  std::int64_t n = out.numel();
  if (n == 0) return;
  ContiguousOutput contiguous(stream, out);
  Tensor none;
  none.dtype = DType::u8;
  ContiguousInput dense_chances(stream, chances ? *chances : none);
  auto& tune = tuning(stream.device());
  std::int64_t vectors = (n + 4 * tune.sub_group - 1) / (4 * tune.sub_group);
  std::int32_t tile = tile_length(tune, vectors);
  Args args;
  args.add(contiguous.tensor().data)
      .add(dense_chances.tensor().data)
      .add(n)
      .add(state.seed)
      .add(state.offset / 4)
      .add(state.replay_state)
      .add(tile);
  add_parameters(args, fill, arithmetic(fill, out.dtype));
  Kernel kernel = kernel_of(stream.device(), fill, out.dtype, dense_chances.tensor().dtype);
  launch(stream, kernel, tile_range(tune, (vectors + tile - 1) / tile), args,
         static_cast<std::size_t>(n) * size_of(out.dtype));
  contiguous.finish();
}

void run_float(Stream stream, RandomSource& source, const Tensor& out, const Fill& fill) {
  expect<UsageError>(is_float(out.dtype), fill.name, ": the output is ", out.describe(),
                     ", expected a float dtype");
  run(stream, source, out, fill);
}

}  // namespace

void random_bits(Stream stream, RandomSource source, const Tensor& out) {
  expect<UsageError>(is_integer(out.dtype), "random_bits: the output is ", out.describe(),
                     ", expected an integer dtype");
  run(stream, source, out, {"random_bits", Draw::bits});
}

void random_integers(Stream stream, RandomSource source, const Tensor& out, std::int64_t low,
                     std::uint64_t count) {
  constexpr std::uint64_t words = std::uint64_t{1} << 32;
  bool narrow = count != 0 && count < words;
  run(stream, source, out,
      {"random_integers", narrow ? Draw::integers : Draw::wide_integers, 0, 0,
       static_cast<std::uint64_t>(low), count});
}

void bernoulli(Stream stream, RandomSource source, const Tensor& out, double p) {
  expect<UsageError>(p >= 0 && p <= 1, "bernoulli: got probability ", p, ", expected 0 to 1");
  run(stream, source, out, {"bernoulli", Draw::bernoulli, p});
}

void bernoulli(Stream stream, RandomSource source, const Tensor& out, const Tensor& chances) {
  require_same_shape("bernoulli", out, chances);
  expect<UsageError>(is_float(chances.dtype), "bernoulli: the probabilities are ", chances.describe(),
                     ", expected a float dtype");
  require_number("bernoulli", stream, chances.dtype);
  require_memory("bernoulli", chances);
  run(stream, source, out, {"bernoulli", Draw::bernoulli_each}, &chances);
}

void uniform(Stream stream, RandomSource source, const Tensor& out, double low, double high) {
  expect<UsageError>(low <= high && std::isfinite(high - low), "uniform: got the interval ", low, " to ",
                     high, ", expected a finite one from low to high");
  run_float(stream, source, out, {"uniform", Draw::uniform, low, high});
}

void normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation) {
  expect<UsageError>(deviation >= 0, "normal: got deviation ", deviation, ", expected >= 0");
  run_float(stream, source, out, {"normal", Draw::normal, mean, deviation});
}

void log_normal(Stream stream, RandomSource source, const Tensor& out, double mean, double deviation) {
  expect<UsageError>(deviation > 0, "log_normal: got deviation ", deviation, ", expected > 0");
  run_float(stream, source, out, {"log_normal", Draw::log_normal, mean, deviation});
}

void exponential(Stream stream, RandomSource source, const Tensor& out, double rate) {
  expect<UsageError>(rate > 0, "exponential: got rate ", rate, ", expected > 0");
  run_float(stream, source, out, {"exponential", Draw::exponential, rate});
}

void cauchy(Stream stream, RandomSource source, const Tensor& out, double median, double scale) {
  expect<UsageError>(scale > 0, "cauchy: got scale ", scale, ", expected > 0");
  run_float(stream, source, out, {"cauchy", Draw::cauchy, median, scale});
}

void geometric(Stream stream, RandomSource source, const Tensor& out, double p) {
  expect<UsageError>(p > 0 && p <= 1, "geometric: got probability ", p, ", expected over 0 to 1");
  run(stream, source, out, {"geometric", Draw::geometric, p, std::log1p(-p)});
}

}  // namespace xpu::kernels

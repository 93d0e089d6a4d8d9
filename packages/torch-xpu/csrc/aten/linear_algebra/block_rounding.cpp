// torch_xpu::round_blocks rounds activations to the values that a block format can store: an element has few
// bits and is multiplied by the scale of its block, which has few bits, too. bf16 has such products exactly,
// so one kernel does what quantizing activations and widening them again would do. The schema is in
// bridge/operators.txt.
#include <ATen/ops/empty_like.h>
#include <c10/util/StringUtil.h>
#include <torch/library.h>

#include <map>
#include <mutex>

#include "bridge/low_bit_format.h"
#include "ops/arguments.h"
#include "ops/row_kernel.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using OptionalTensor = std::optional<Tensor>;

// The statement that computes the biased exponent of a scale which is a power of two. E is the type of the
// elements, s0 the largest magnitude of the block. `rceil` rounds s0 / largest up to a power of two. The
// others take the power of two at or below s0; `ceil` takes the next one if s0 is above it, and `even` first
// rounds s0 to the bits of the element.
struct PowerScaling {
  std::string_view name;
  const char* exponent;
};
constexpr PowerScaling power_scalings[] = {
    {"rceil",
     "u32 ratio = bits_as<u32>(s0 / E::kMax);"
     "i32 exponent = ratio > 0x400000u ? (i32)(ratio >> 23) + ((ratio & 0x7fffffu) != 0u) : 0;"},
    {"floor", "i32 exponent = (i32)(bits_as<u32>(s0) >> 23) - kMaxExponent;"},
    {"ceil", "i32 exponent = (i32)((bits_as<u32>(s0) + 0x7fffffu) >> 23) - kMaxExponent;"},
    {"even",
     "i32 exponent = (i32)((bits_as<u32>(s0) + (1u << (22 - E::kMantissaBits))) >> 23) - kMaxExponent;"}};

// A scale of e8m0. 2^-127 is a subnormal float.
std::string finish_power(const std::string& exponent) {
  return "constexpr i32 kMaxExponent = (i32)(__builtin_bit_cast(u32, E::kMax) >> 23) - 127;" + exponent +
         "exponent = min_of(max_of(exponent, 0), 254);"
         "T scale = isnan(s0) ? nan() : bits_as<float>(exponent ? (u32)exponent << 23 : 0x400000u);"
         "T inverse = bits_as<float>(exponent < 254 ? (u32)(254 - max_of(exponent, 1)) << 23 : 0x400000u);";
}

// A scale of e4m3, in units of the factor s1 if there is one. Without elements that differ from zero s1 is 0.
std::string finish_e4m3(bool has_factor) {
  std::string block = "s0 / E::kMax";
  if (has_factor) block = "(s1 == 0.0f ? 0.0f : " + block + " / s1)";
  return "T scale = to<float>(f8e4m3(clamp(" + block + ", 0x1p-6f, f8e4m3::kMax)));" +
         (has_factor ? "T inverse = s1 == 0.0f ? 0.0f : 1.0f / s1 / scale;" : "T inverse = 1.0f / scale;");
}

RowKernel* make_rounding(const LowBitFormat& element, std::string_view scaling, bool has_factor) {
  std::string finish;
  if (scaling == "e4m3") finish = finish_e4m3(has_factor);
  for (auto& power : power_scalings)
    if (scaling == power.name) finish = finish_power(power.exponent);
  TORCH_CHECK_VALUE(!finish.empty(), "scaling: got '", scaling,
                    "', expected e4m3, rceil, floor, ceil or even");
  finish = c10::str("using E = ", element.number_type, ";", finish);
  std::vector<xpu::kernels::Accumulator> accumulators{{"T", "0"}};
  if (has_factor) accumulators.push_back({"T", "0"});
  return new RowKernel(
      {.name = "round_blocks",
       .passes = {{accumulators, c10::str("s0 = maximum(s0, abs(a0));", has_factor ? "s1 = a1;" : ""),
                   c10::str("s0 = maximum(s0, r0);", has_factor ? "s1 = maximum(s1, r1);" : ""), finish}},
       .outputs = {"scale * (float)E(clamp(a0 * inverse, -E::kMax, E::kMax))"},
       .inputs = has_factor ? 2 : 1,
       .headers = {"math", "exp", "minifloat"}});
}

const RowKernel& rounding(std::string_view format, std::string_view scaling, bool has_factor) {
  static auto& mutex = *new std::mutex;
  static auto& kernels = *new std::map<std::string, RowKernel*>;
  std::lock_guard lock(mutex);
  auto& kernel = kernels[c10::str(format, " ", scaling, " ", has_factor)];
  if (kernel) return *kernel;
  auto& element = low_bit_format(format);
  TORCH_CHECK_VALUE(xpu::is_float(element.dtype), "format: got '", format, "', expected a format of floats");
  return *(kernel = make_rounding(element, scaling, has_factor));
}

Tensor round_blocks(const Tensor& input, std::int64_t block, std::string_view format,
                    std::string_view scaling, const OptionalTensor& factor) {
  auto guard = guard_for(input);
  check_one_device(input, factor);
  auto type = input.scalar_type();
  TORCH_CHECK_TYPE(type == at::kFloat || type == at::kBFloat16, "input: got ", type,
                   ", expected float32 or bfloat16, which have the range of the scales");
  TORCH_CHECK_VALUE(block > 0 && input.dim() > 0 && input.size(-1) % block == 0, "input of shape ",
                    input.sizes(), " has no rows of blocks of ", block);
  TORCH_CHECK_VALUE(!given(factor) || scaling == "e4m3",
                    "factor: expected none with scales of powers of two");
  TORCH_CHECK_VALUE(!given(factor) || (factor->numel() == 1 && factor->scalar_type() == at::kFloat),
                    "factor: expected one number of float32");
  auto& kernel = rounding(format, scaling, given(factor));
  auto output = at::empty_like(input, {}, {}, {}, {}, at::MemoryFormat::Contiguous);
  if (output.numel() == 0) return output;
  auto rows = [&](const Tensor& t) { return t.view({-1, block, 1}); };
  std::vector<Tensor> inputs{rows(input.contiguous())};
  if (given(factor)) inputs.push_back(factor->reshape({1, 1, 1}).expand_as(inputs[0]));
  kernel({rows(output)}, {}, inputs);
  return output;
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("round_blocks", round_blocks);
}

}  // namespace torch_xpu

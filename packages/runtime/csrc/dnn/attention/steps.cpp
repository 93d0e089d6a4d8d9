#include "dnn/attention/steps.h"

#include <bit>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/epilogue/epilogue.h"

namespace xpu::dnn {
namespace {

const char softmax_name[] = "attention_softmax", normalize_name[] = "attention_normalize";

// As the kernels declare them.
struct SoftmaxShape {
  std::int64_t length, first_query, scale_bits, size[4], mask[5] = {}, logsumexp[4] = {};
};

struct NormalizeShape {
  std::int64_t length, size[4], out[5];
};

std::size_t rows_of(const Tensor& t) {
  return static_cast<std::size_t>(t.numel() / t.shape[t.ndim - 1]);
}

}  // namespace

void AttentionSoftmax::run(Stream stream, const Tensor& scores, const Tensor& weights,
                           const Tensor& inverse_sums, std::int64_t first_query) const {
  int device = stream.device();
  Problem problem(softmax_name, device);
  ExtraOperands extras;
  problem.add(scores);
  problem.add(weights);
  problem.add(inverse_sums);
  problem.real(scale);
  problem.number(causal ? first_query : -1);
  auto of_mask = extras.add(problem, mask), of_logsumexp = extras.add(problem, logsumexp);
  auto make = [&](Plan& plan) {
    auto source = join("#define XPU_P ", kernel_type(weights.dtype), "\n#define XPU_MASK ",
                       mask ? kernel_type(mask->dtype) : "float", "\n#define XPU_HAS_MASK ", bool(mask),
                       "\n#define XPU_HAS_LOGSUMEXP ", bool(logsumexp), "\n#define XPU_CAUSAL ", causal, "\n",
                       define_step("XPU_MASK_STEP", mask ? mask->strides[4] : 1, "s.mask[4]"),
                       kernel_source("attention_softmax.sycl"));
    SoftmaxShape s{scores.shape[4], first_query, std::bit_cast<std::int32_t>(scale), {}};
    std::copy_n(scores.shape, 4, s.size);
    if (mask) std::copy_n(mask->strides, 5, s.mask);
    if (logsumexp) std::copy_n(logsumexp->strides, 4, s.logsumexp);
    KernelArguments arguments;
    arguments.operand(0).operand(1).operand(2);
    for (auto& extra : {of_mask, of_logsumexp})
      if (extra.tensor) arguments.operand(extra.operand);
    arguments.value(s);
    plan.add(std::make_unique<KernelStep>(build_kernel(device, source, softmax_name),
                                          NdRange::linear(rows_of(scores), row_group(device)),
                                          std::move(arguments)));
    return std::string(softmax_name);
  };
  dnn::run(stream, problem, [&] { return std::vector<Candidate>{{"sycl", make}}; });
}

void normalize_attention(Stream stream, const Tensor& sums, const Tensor& inverse_sums, const Tensor& out) {
  int device = stream.device();
  Problem problem(normalize_name, device);
  for (auto* t : {&sums, &inverse_sums, &out}) problem.add(*t);
  auto make = [&](Plan& plan) {
    auto source = join("#define XPU_OUT ", kernel_type(out.dtype), "\n",
                       define_step("XPU_OUT_STEP", out.strides[4], "s.out[4]"),
                       kernel_source("attention_normalize.sycl"));
    NormalizeShape s{out.shape[4], {}, {}};
    std::copy_n(out.shape, 4, s.size);
    std::copy_n(out.strides, 5, s.out);
    KernelArguments arguments;
    arguments.operand(0).operand(1).operand(2).value(s);
    plan.add(std::make_unique<KernelStep>(build_kernel(device, source, normalize_name),
                                          NdRange::linear(rows_of(out), row_group(device)),
                                          std::move(arguments)));
    return std::string(normalize_name);
  };
  dnn::run(stream, problem, [&] { return std::vector<Candidate>{{"sycl", make}}; });
}

}  // namespace xpu::dnn

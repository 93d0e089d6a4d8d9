#include "xpu/dnn/reorder.h"
#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/matmul/low_bit_weights.h"
#include "dnn/operand_checks.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

const char reorder_name[] = "reorder";

struct ReorderProblem {
  const Tensor &src, &dst;
  Problem problem;
  ExtraOperands extras;
  ExtraOperand scale_src, zero_src, offset_src, scale_dst, zero_dst;

  ReorderProblem(int device, const Tensor& src_, const Tensor& dst_, const Quantization& of_src,
                 const Quantization& of_dst)
      : src(src_), dst(dst_), problem(reorder_name, device) {
    require_shape_of(reorder_name, "dst", dst, src);
    require_fits(reorder_name, "src", of_src, src);
    require_fits(reorder_name, "dst", of_dst, dst);
    expect<UsageError>(!of_dst.offset, "reorder: only src can have an offset");
    problem.add(src);
    problem.add(dst);
    scale_src = extras.add(problem, of_src.scale);
    zero_src = extras.add(problem, of_src.zero_point);
    offset_src = extras.add(problem, of_src.offset);
    scale_dst = extras.add(problem, of_dst.scale);
    zero_dst = extras.add(problem, of_dst.zero_point);
  }
};

// Weights of a layer, [k, n], both dense along k.
std::string by_widening(const ReorderProblem& p, Plan& plan) {
  LowBitWeights weights(p.src, p.scale_src, p.zero_src, p.offset_src);
  reject_unless(is_float(p.dst.dtype) && p.dst.dtype != DType::f64 && size_of(p.dst.dtype) >= 2 &&
                    !p.scale_dst.tensor && !p.zero_dst.tensor,
                "only to plain floats of 16 or 32 bits");
  reject_unless(p.dst.strides[0] == 1 && p.dst.strides[1] == p.dst.shape[0],
                "the results' columns are not dense");
  add_widening(plan, p.problem.device(), weights, p.dst.dtype, 0, 1);
  return "widen_weights";
}

std::string by_onednn(const ReorderProblem& p, Plan& plan) {
  int device = p.problem.device();
  reject_unless(unsupported_reason(device).empty(), unsupported_reason(device));
  reject_unless(p.src.ndim > 0, "a single number");
  reject_unless(!p.offset_src.tensor && p.src.dtype != DType::f4, "offsets or four-bit floats");
  auto from = describe(p.src), to = describe(p.dst);
  Arguments arguments{{DNNL_ARG_FROM, from, 0}, {DNNL_ARG_TO, to, 1}};
  auto attributes = basic_attributes();
  add_quantization(attributes, arguments, DNNL_ARG_FROM, p.src, p.scale_src, p.zero_src);
  add_quantization(attributes, arguments, DNNL_ARG_TO, p.dst, p.scale_dst, p.zero_dst);
  auto& engine = engine_of(device);
  dnnl::reorder::primitive_desc desc(engine, from, engine, to, attributes);
  auto implementation = fast_implementation(desc);
  plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, dnnl::reorder(desc), std::move(arguments)));
  return implementation;
}

std::string by_kernel(const ReorderProblem& p, Plan& plan) {
  bool doubles = p.src.dtype == DType::f64 || p.dst.dtype == DType::f64;
  reject_unless(!doubles || device_info(p.problem.device()).fp64, "this device has no f64");
  reject_unless(size_of(p.dst.dtype) > 0, "packed 4-bit results");
  bool plain_integers = is_integer(p.src.dtype) && !p.scale_src.tensor && !p.zero_src.tensor &&
                        !p.scale_dst.tensor && !p.zero_dst.tensor;
  Epilogue epilogue(p.dst.ndim, doubles ? "double" : plain_integers ? "xpu::i64" : "float");
  reject_unless(!p.offset_src.tensor && p.src.dtype != DType::f4, "offsets or four-bit floats");
  epilogue.dequantize(p.src, p.scale_src, p.zero_src);
  epilogue.quantize(p.dst, p.scale_dst, p.zero_dst);
  add_epilogue_step(plan, p.problem.device(), {p.src, 0}, {p.dst, 1}, epilogue);
  return "epilogue";
}

}  // namespace

void reorder(Stream stream, const Tensor& src, const Tensor& dst, const Quantization& of_src,
             const Quantization& of_dst) {
  ReorderProblem p(stream.device(), src, dst, of_src, of_dst);
  if (dst.numel() == 0) return;
  run(stream, p.problem, [&p] {
    return std::vector<Candidate>{{"widen", [&p](Plan& plan) { return by_widening(p, plan); }},
                                  {"onednn", [&p](Plan& plan) { return by_onednn(p, plan); }},
                                  {"sycl", [&p](Plan& plan) { return by_kernel(p, plan); }}};
  });
}

}  // namespace xpu::dnn

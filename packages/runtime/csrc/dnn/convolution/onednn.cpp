#include "dnn/attributes.h"
#include "dnn/candidates.h"
#include "dnn/convolution/problem.h"
#include "dnn/descriptor.h"
#include "dnn/engine.h"
#include "dnn/epilogue/epilogue_step.h"
#include "dnn/math_type.h"
#include "dnn/reorder_step.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

using dnnl::memory;

struct Geometry {
  memory::dims stride, dilation, padding_l, padding_r;
  explicit Geometry(const ConvProblem& p) {
    for (int d = 0; d < p.spatial; ++d) {
      stride.push_back(p.stride[d]);
      dilation.push_back(p.dilation[d] - 1);  // oneDNN counts the holes
      padding_l.push_back(p.padding_l[d]);
      // oneDNN expects the padding that the last window uses, which may be less than the given padding.
      auto reach = p.dilation[d] * (p.w.shape[2 + d] - 1) + 1;
      padding_r.push_back((p.y.shape[2 + d] - 1) * p.stride[d] + reach - p.x.shape[2 + d] - p.padding_l[d]);
    }
  }
};

// The three tensors as given, and the layouts and type to offer oneDNN.
struct Descriptors {
  DType type;
  Layouts layouts;
  memory::desc x, w, y, any_x, any_w, any_y;
  Descriptors(const ConvProblem& p, DType type_, Layouts layouts_)
      : type(type_),
        layouts(layouts_),
        x(describe(p.x)),
        w(describe(weights(p))),
        y(describe(p.y)),
        any_x(activation(p, p.x)),
        any_w(in_type(any_layout(weights(p)), p.x.dtype, type)),
        any_y(activation(p, p.y)) {}

  static bool same_types(const ConvProblem& p) { return p.x.dtype == p.w.dtype && p.x.dtype == p.y.dtype; }
  // On CPUs that multiply f16 as fast as f32, f16 convolutions are still slow.
  static DType type_of(const ConvProblem& p) {
    auto given = p.x.dtype, narrow = given == DType::f16 ? DType::bf16 : given;
    if (!same_types(p) || p.groups > 1) return given;
    auto chosen = math_type(p.problem.device(), narrow, p.y.numel() / p.y.shape[1] * p.w.numel(),
                            p.x.numel() + p.w.numel() + p.y.numel());
    return chosen == narrow ? given : chosen;
  }
  static Tensor weights(const ConvProblem& p) { return p.groups == 1 ? p.w : split_groups(p.w, p.groups); }
  // Channels-last is as fast as any layout on every device, so it stays; otherwise oneDNN chooses a layout.
  // With groups it would choose a slow implementation for one tensor of each kind. A tensor with gaps is
  // copied, because some implementations read it as if it had none.
  memory::desc activation(const ConvProblem& p, const Tensor& t) const {
    auto& other = &t == &p.x ? p.y : p.x;
    if (layouts == Layouts::any) return in_type(any_layout(t), p.x.dtype, type);
    bool is_last = t.strides[1] == 1 || (p.groups > 1 && other.strides[1] == 1 && has_places(other));
    return in_type(is_last ? describe(channels_last(t)) : any_layout(t), p.x.dtype, type);
  }
  static bool has_places(const Tensor& t) { return t.numel() > t.shape[0] * t.shape[1]; }
  static Tensor channels_last(Tensor t) {
    t.strides[1] = 1;
    auto stride = t.shape[1];
    for (int d = t.ndim - 1; d >= 2; stride *= t.shape[d--]) t.strides[d] = stride;
    t.strides[0] = stride;
    return t;
  }
};

void check_problem(const ConvProblem& p) {
  reject_unless(unsupported_reason(p.problem.device()).empty(), unsupported_reason(p.problem.device()));
  for (auto* t : {&p.x, &p.w, &p.y}) reject_unless(t->numel() > 0, "an operand is empty");
}

bool may_saturate(const ConvProblem& p) {
  return !is_float(p.x.dtype) && !multiplies_integers(p.problem.device());
}

dnnl::primitive_attr attributes_of(const ConvProblem& p) {
  auto attributes = basic_attributes(p.options.deterministic);
  if (p.options.allow_tf32) attributes.set_fpmath_mode(dnnl::fpmath_mode::tf32);
  return attributes;
}

struct ConvPass {
  const ConvProblem& p;
  Plan& plan;
  DType type = Descriptors::type_of(p);
  Layouts layouts = Layouts::keep_channels_last;
  Geometry geometry{p};
  Descriptors d{p, type, layouts};
  PlacedOperand x{d.x, 0}, w{d.w, 1}, y{d.y, 2};
  int device = p.problem.device();
  const dnnl::engine& engine = engine_of(device);
  static constexpr auto algorithm = dnnl::algorithm::convolution_direct;
  // The mask that oneDNN expects for a scale of each channel, also if each group has one.
  static constexpr int per_group_and_channel = 3;

  std::string add(const dnnl::primitive_desc_base& desc, const dnnl::primitive& primitive,
                  Arguments arguments) {
    auto name = fast_implementation(desc);
    plan.add(std::make_unique<PrimitiveStep>(plan, device, desc, primitive, std::move(arguments)));
    return name;
  }

  Tensor split(ExtraOperand extra) const {
    return extra.tensor && p.groups > 1 ? split_groups(*extra.tensor, p.groups)
           : extra.tensor               ? *extra.tensor
                                        : Tensor();
  }
  static ExtraOperand with_tensor(const Tensor& tensor, ExtraOperand extra) {
    return {extra.tensor ? &tensor : nullptr, extra.operand};
  }

  // The descriptor is zero if there is no bias.
  PlacedOperand bias() const {
    return {p.bias.tensor ? describe(*p.bias.tensor) : memory::desc(), p.bias.operand};
  }
  // oneDNN ignores the strides of a bias and reads it as dense.
  memory::desc in_math_type(const memory::desc& bias) const {
    if (bias.is_zero()) return bias;
    memory::desc dense(bias.get_dims(), bias.get_data_type(), memory::format_tag::a);
    return in_type(dense, p.x.dtype, d.type);
  }

  dnnl::convolution_forward::primitive_desc forward_desc(dnnl::prop_kind kind, const memory::desc& bias,
                                                         const memory::desc& y_desc,
                                                         const dnnl::primitive_attr& attributes) const {
    auto& g = geometry;
    if (bias.is_zero())
      return {engine,   kind,       algorithm,   d.any_x,     d.any_w,   y_desc,
              g.stride, g.dilation, g.padding_l, g.padding_r, attributes};
    return {engine, kind,     algorithm,  d.any_x,     d.any_w,     bias,
            y_desc, g.stride, g.dilation, g.padding_l, g.padding_r, attributes};
  }

  // Computes y = x * w. `to` is y, or the memory of `bare` sums, without bias and post-ops.
  std::string sum_y(const PlacedOperand& to, const memory::desc& to_any, bool bare) {
    auto attributes = attributes_of(p);
    Arguments arguments;
    memory::desc bias;
    if (p.forward) {
      add_quantization(attributes, arguments, DNNL_ARG_SRC, p.x, p.scale_src, p.zero_src);
      auto scale = split(p.scale_weights), zero = split(p.zero_weights);
      add_quantization(attributes, arguments, DNNL_ARG_WEIGHTS, Descriptors::weights(p),
                       with_tensor(scale, p.scale_weights), with_tensor(zero, p.zero_weights));
      bool is_per_group = p.groups > 1 && scale.ndim > 0 && scale.shape[0] > 1;
      if (is_per_group && Descriptors::weights(p).shape[1] == 1)
        attributes.set_scales(DNNL_ARG_WEIGHTS, per_group_and_channel, {}, data_type_of(scale.dtype));
    }
    if (p.forward && !bare) {
      add_quantization(attributes, arguments, DNNL_ARG_DST, p.y, p.scale_dst, p.zero_dst);
      add_post_ops(attributes, arguments, p.options.post_ops, p.extras, p.y);
      bias = in_math_type(this->bias().desc);
    }
    auto kind = prefers_blocks() ? dnnl::prop_kind::forward_training : dnnl::prop_kind::forward_inference;
    auto desc = forward_desc(kind, bias, to_any, attributes);
    fast_implementation(desc);
    auto source = reorder_input(plan, device, x, desc.src_desc()),
         weights = p.options.packed_weights ? pack_weights(plan, device, w, desc.weights_desc())
                                            : reorder_input(plan, device, w, desc.weights_desc());
    if (!bias.is_zero()) {
      auto read = reorder_input(plan, device, this->bias(), bias);
      arguments.push_back({DNNL_ARG_BIAS, read.desc, read.operand});
    }
    bool reads = !bare && p.forward && reads_result(p.options.post_ops);
    auto target =
        reads ? reorder_input(plan, device, to, desc.dst_desc()) : stage_output(plan, to, desc.dst_desc());
    arguments.insert(arguments.end(), {{DNNL_ARG_SRC, source.desc, source.operand},
                                       {DNNL_ARG_WEIGHTS, weights.desc, weights.operand},
                                       {DNNL_ARG_DST, target.desc, target.operand}});
    auto name = add(desc, dnnl::convolution_forward(desc), std::move(arguments));
    reorder_output(plan, device, target, to);
    return name;
  }

  // On a CPU dense channels are reordered fastest to blocks, which oneDNN chooses only for training.
  bool prefers_blocks() const {
    return d.any_x.get_format_kind() == memory::format_kind::any && is_float(p.x.dtype) &&
           !device_info(device).is_gpu;
  }

  // oneDNN's first choice for strides multiplies matrices, of which each group's is one number.
  void skip_slow_depthwise(dnnl::primitive_desc& desc) const {
    if (p.groups != p.x.shape[1] || p.groups != p.y.shape[1]) return;
    if (std::string_view(desc.impl_info_str()).starts_with("brgconv_strided")) desc.next_impl();
  }

  std::string sum_x(const PlacedOperand& to, const memory::desc& to_any) {
    auto attributes = attributes_of(p);
    auto& g = geometry;
    dnnl::convolution_forward::primitive_desc hint(engine, dnnl::prop_kind::forward_training, algorithm,
                                                   to_any, d.any_w, d.any_y, g.stride, g.dilation,
                                                   g.padding_l, g.padding_r, attributes);
    dnnl::convolution_backward_data::primitive_desc desc(engine, algorithm, to_any, d.any_w, d.any_y,
                                                         g.stride, g.dilation, g.padding_l, g.padding_r, hint,
                                                         attributes);
    skip_slow_depthwise(desc);
    fast_implementation(desc);
    auto source = reorder_input(plan, device, y, desc.diff_dst_desc()),
         weights = reorder_input(plan, device, w, desc.weights_desc());
    auto target = stage_output(plan, to, desc.diff_src_desc());
    auto name = add(desc, dnnl::convolution_backward_data(desc),
                    {{DNNL_ARG_DIFF_DST, source.desc, source.operand},
                     {DNNL_ARG_WEIGHTS, weights.desc, weights.operand},
                     {DNNL_ARG_DIFF_SRC, target.desc, target.operand}});
    reorder_output(plan, device, target, to);
    return name;
  }

  // The transposed convolution with its bias and post-ops, for which backward primitives have no place.
  std::string deconvolve() {
    reject_unless(p.forward && !p.is_quantized(), "oneDNN has no quantized transposed convolution");
    auto attributes = attributes_of(p);
    Arguments arguments;
    add_post_ops(attributes, arguments, p.options.post_ops, p.extras, p.x);
    auto bias = in_math_type(this->bias().desc);
    auto weights = Descriptors::weights(p);
    int out = p.groups > 1 ? 1 : 0;  // oneDNN's weights have the result's channels before the source's
    std::swap(weights.shape[out], weights.shape[out + 1]);
    std::swap(weights.strides[out], weights.strides[out + 1]);
    auto any_weights = in_type(any_layout(weights), p.x.dtype, type);
    auto& g = geometry;
    using Desc = dnnl::deconvolution_forward::primitive_desc;
    auto kind = dnnl::prop_kind::forward_inference;
    auto direct = dnnl::algorithm::deconvolution_direct;
    auto desc = bias.is_zero() ? Desc(engine, kind, direct, d.any_y, any_weights, d.any_x, g.stride,
                                      g.dilation, g.padding_l, g.padding_r, attributes)
                               : Desc(engine, kind, direct, d.any_y, any_weights, bias, d.any_x, g.stride,
                                      g.dilation, g.padding_l, g.padding_r, attributes);
    fast_implementation(desc);
    auto source = reorder_input(plan, device, y, desc.src_desc()),
         filter = reorder_input(plan, device, {describe(weights), w.operand}, desc.weights_desc());
    if (!bias.is_zero()) {
      auto read = reorder_input(plan, device, this->bias(), bias);
      arguments.push_back({DNNL_ARG_BIAS, read.desc, read.operand});
    }
    auto target = reads_result(p.options.post_ops) ? reorder_input(plan, device, x, desc.dst_desc())
                                                   : stage_output(plan, x, desc.dst_desc());
    arguments.insert(arguments.end(), {{DNNL_ARG_SRC, source.desc, source.operand},
                                       {DNNL_ARG_WEIGHTS, filter.desc, filter.operand},
                                       {DNNL_ARG_DST, target.desc, target.operand}});
    auto name = add(desc, dnnl::deconvolution_forward(desc), std::move(arguments));
    reorder_output(plan, device, target, x);
    return name;
  }

  std::string sum_w() {
    auto attributes = attributes_of(p);
    reject_unless(!p.bias.tensor || !p.options.transposed,
                  "the bias belongs to the other side of a transposed convolution");
    auto bias = in_math_type(this->bias().desc);
    auto hint = forward_desc(dnnl::prop_kind::forward_training, bias, d.any_y, attributes);
    auto& g = geometry;
    using Desc = dnnl::convolution_backward_weights::primitive_desc;
    auto desc = bias.is_zero() ? Desc(engine, algorithm, d.any_x, d.any_w, d.any_y, g.stride, g.dilation,
                                      g.padding_l, g.padding_r, hint, attributes)
                               : Desc(engine, algorithm, d.any_x, d.any_w, bias, d.any_y, g.stride,
                                      g.dilation, g.padding_l, g.padding_r, hint, attributes);
    fast_implementation(desc);
    auto source = reorder_input(plan, device, x, desc.src_desc()),
         grad = reorder_input(plan, device, y, desc.diff_dst_desc());
    auto target = stage_output(plan, w, desc.diff_weights_desc());
    Arguments arguments{{DNNL_ARG_SRC, source.desc, source.operand},
                        {DNNL_ARG_DIFF_DST, grad.desc, grad.operand},
                        {DNNL_ARG_DIFF_WEIGHTS, target.desc, target.operand}};
    PlacedOperand bias_target;
    if (!bias.is_zero()) {
      bias_target = stage_output(plan, this->bias(), bias);
      arguments.push_back({DNNL_ARG_DIFF_BIAS, bias, bias_target.operand});
    }
    auto name = add(desc, dnnl::convolution_backward_weights(desc), std::move(arguments));
    reorder_output(plan, device, target, w);
    if (!bias.is_zero()) reorder_output(plan, device, bias_target, this->bias());
    return name;
  }
};

}  // namespace

namespace {

std::string conv_onednn_in(const ConvProblem& p, Plan& plan, DType type, Layouts layouts) {
  check_problem(p);
  bool is_small = p.options.small_src && p.x.dtype == DType::u8 && p.w.dtype == DType::i8;
  reject_unless(!may_saturate(p) || is_small, saturation);
  ConvPass pass{p, plan, type, layouts};
  switch (p.sum) {
    case ConvSum::y:
      return pass.sum_y(pass.y, pass.d.any_y, false);
    case ConvSum::w:
      return pass.sum_w();
    case ConvSum::x:
      return p.is_plain() ? pass.sum_x(pass.x, pass.d.any_x) : pass.deconvolve();
  }
  fail<InternalError>("unknown convolution pass");
}

// Converts eight-bit integers to floats. A primitive computes the sums, a kernel applies scales and epilogue.
std::string conv_of_floats_and_kernel(const ConvProblem& p, Plan& plan) {
  int device = p.problem.device();
  auto is_one = [](ExtraOperand extra) { return !extra.tensor || extra.tensor->numel() == 1; };
  auto of_channels = [&p](const Tensor& scale) {
    return scale.ndim > 0 && scale.shape[0] == p.y.shape[1] && scale.numel() == p.y.shape[1];
  };
  auto rounds = is_float(p.y.dtype) || p.scale_src.tensor;
  reject_unless(p.sum == ConvSum::y && p.forward && rounds && !p.zero_weights.tensor && is_one(p.scale_src) &&
                    is_one(p.zero_src) && (is_one(p.scale_weights) || of_channels(*p.scale_weights.tensor)),
                saturation);
  ConvProblem floats = p;
  floats.scale_src = floats.zero_src = floats.scale_weights = {};
  floats.x = dense(p.x, DType::f32);
  floats.w.dtype = DType::f32;
  floats.y = dense(p.y, DType::f32);
  int scratch = plan.add_scratch(static_cast<std::size_t>(p.y.numel()) * size_of(DType::f32));
  ConvPass pass{floats, plan};
  if (p.zero_src.tensor)
    convert_operand(plan, device, p.x, pass.x.operand, DType::f32, p.zero_src);
  else
    pass.x.desc = describe(p.x);
  pass.w.desc = describe(Descriptors::weights(p));
  auto name = pass.sum_y({describe(floats.y), scratch}, pass.d.any_y, true);
  add_epilogue_step(plan, device, {floats.y, scratch}, {p.y, 2}, conv_epilogue(p, "float", true));
  return name;
}

}  // namespace

std::string conv_onednn(const ConvProblem& p, Plan& plan, Layouts layouts) {
  return conv_onednn_in(p, plan, Descriptors::type_of(p), layouts);
}

std::string conv_onednn_in_f32(const ConvProblem& p, Plan& plan, Layouts layouts) {
  bool half = p.x.dtype == DType::f16 || p.x.dtype == DType::bf16;
  reject_unless(half && Descriptors::same_types(p), "the operands are not all f16, or all bf16");
  return conv_onednn_in(p, plan, DType::f32, layouts);
}

std::string conv_onednn_and_kernel(const ConvProblem& p, Plan& plan) {
  check_problem(p);
  if (may_saturate(p)) return conv_of_floats_and_kernel(p, plan);
  reject_unless(p.sum == ConvSum::y || !p.is_quantized(), "oneDNN has no quantized transposed convolution");
  int device = p.problem.device();
  auto& result = p.result();
  bool integers = !is_float(p.x.dtype) && !is_float(p.w.dtype) && !p.is_quantized();
  auto sums = row_major(result, integers ? DType::i32 : DType::f32);
  int scratch = plan.add_scratch(static_cast<std::size_t>(sums.numel()) * size_of(sums.dtype));
  PlacedOperand to{describe(sums), scratch};
  ConvPass pass{p, plan};
  auto name = p.sum == ConvSum::y ? pass.sum_y(to, any_layout(sums), true) : pass.sum_x(to, any_layout(sums));
  bool integer_epilogue = integers && p.options.post_ops.empty() && !is_float(result.dtype);
  auto epilogue = conv_epilogue(p, integer_epilogue ? "xpu::i32" : "float", false);
  add_epilogue_step(plan, device, {sums, scratch}, {result, p.result_operand()}, epilogue);
  return name;
}

}  // namespace xpu::dnn

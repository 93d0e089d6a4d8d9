// Convolutions and their gradients.
#include "xpu/dnn/convolution.h"
#include "exec/steps.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

// `forward` computes the result, `backward_data` the source, and `backward_weights` the weights.
enum class Kind { forward, backward_data, backward_weights };

Kind problem_kind(const std::string& name) {
  if (name == "forward") return Kind::forward;
  if (name == "backward_data") return Kind::backward_data;
  xpu::expect<xpu::UsageError>(name == "backward_weights", "plan: unknown kind of convolution \"", name,
                               "\"");
  return Kind::backward_weights;
}

class ConvolutionStep final : public Step {
 public:
  explicit ConvolutionStep(const PlanFields& fields)
      : kind_(problem_kind(fields.get<std::string>("kind"))),
        source_(fields.operand("source")),
        weights_(fields.operand("weights")),
        result_(fields.operand("result")) {
    options_.stride = fields.int64s("stride");
    options_.padding_l = fields.int64s("padding_low");
    options_.padding_r = fields.int64s("padding_high");
    options_.dilation = fields.int64s("dilation");
    options_.groups = fields.get<std::int64_t>("groups");
  }
  void run(Frame& frame) const override {
    auto source = frame.at(source_), weights = frame.at(weights_), result = frame.at(result_);
    switch (kind_) {
      case Kind::forward:
        return xpu::dnn::convolution(frame.stream, source, weights, result, options_);
      case Kind::backward_data:
        return xpu::dnn::convolution_backward_data(frame.stream, result, weights, source, options_);
      case Kind::backward_weights:
        return xpu::dnn::convolution_backward_weights(frame.stream, source, result, weights, {}, options_);
    }
  }

 private:
  Kind kind_;
  Operand source_, weights_, result_;
  xpu::dnn::ConvOptions options_;
};

}  // namespace

std::unique_ptr<Step> make_convolution(const PlanFields& fields) {
  return std::make_unique<ConvolutionStep>(fields);
}

}  // namespace xla_xpu

// Matrix products.
#include "xpu/dnn/matmul.h"
#include "exec/steps.h"

namespace xla_xpu {
namespace {

class MatmulStep final : public Step {
 public:
  explicit MatmulStep(const PlanFields& fields)
      : a_(fields.operand("a")), b_(fields.operand("b")), c_(fields.operand("c")) {
    if (fields.has("bias")) bias_ = fields.operand("bias");
  }
  void run(Frame& frame) const override {
    xpu::dnn::MatmulOptions options;
    if (bias_) options.bias = frame.at(*bias_);
    xpu::dnn::matmul(frame.stream, frame.at(a_), frame.at(b_), frame.at(c_), options);
  }

 private:
  Operand a_, b_, c_;
  std::optional<Operand> bias_;
};

}  // namespace

std::unique_ptr<Step> make_matmul(const PlanFields& fields) {
  return std::make_unique<MatmulStep>(fields);
}

}  // namespace xla_xpu

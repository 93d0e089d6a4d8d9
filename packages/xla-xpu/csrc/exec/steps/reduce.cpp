// Reductions: one of the runtime's by name, or one that the compiler gives as expressions.
#include "xpu/kernels/reduce.h"
#include "exec/steps.h"

namespace xla_xpu {
namespace {

using xpu::kernels::Reduction;
using xpu::kernels::ReductionExpression;

ReductionExpression reduction_expression(const PlanFields& fields) {
  ReductionExpression e;
  e.name = fields.get<std::string>("name");
  for (auto item : fields.list("accumulators")) {
    auto pair = py::cast<py::sequence>(item);
    e.accumulators.push_back({py::cast<std::string>(pair[0]), py::cast<std::string>(pair[1])});
  }
  e.combine = fields.get<std::string>("combine");
  e.outputs = fields.strings("outputs");
  e.update = fields.get<std::string>("update");
  e.inputs = static_cast<int>(py::len(fields.list("in")));
  e.headers = fields.strings("headers");
  e.unconverted_inputs = (1u << e.inputs) - 1;
  e.uses_index = fields.get<bool>("uses_index", false);
  return e;
}

class ReduceStep final : public Step {
 public:
  explicit ReduceStep(const PlanFields& fields)
      : expression_reduction_(
            fields.has("combine") ? std::make_unique<Reduction>(reduction_expression(fields)) : nullptr),
        reduction_(expression_reduction_ ? *expression_reduction_
                                         : xpu::kernels::reduction(fields.get<std::string>("name"))),
        out_(fields.operands("out")),
        in_(fields.operands("in")),
        dims_(fields.ints("dims")),
        compute_(xpu::dtype_of(fields.get<std::string>("compute"))) {}
  void run(Frame& frame) const override {
    reduction_(frame.stream, frame.at(out_), frame.at(in_), dims_, {}, compute_);
  }

 private:
  std::unique_ptr<Reduction> expression_reduction_;
  const Reduction& reduction_;
  std::vector<Operand> out_, in_;
  std::vector<int> dims_;
  xpu::DType compute_;
};

}  // namespace

std::unique_ptr<Step> make_reduce(const PlanFields& fields) {
  return std::make_unique<ReduceStep>(fields);
}

}  // namespace xla_xpu

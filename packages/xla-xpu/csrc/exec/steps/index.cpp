// StableHLO's gather and scatter.
#include "xpu/kernels/index.h"
#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

namespace kernels = xpu::kernels;

class GatherStep final : public Step {
 public:
  explicit GatherStep(const PlanFields& fields)
      : out_(fields.operand("out")),
        in_(fields.operand("in")),
        indices_(fields.operand("indices")),
        sizes_(fields.int64s("slice_sizes")) {
    dims_.offset_dims = fields.ints("offset_dims");
    dims_.collapsed_slice_dims = fields.ints("collapsed_slice_dims");
    dims_.operand_batching_dims = fields.ints("operand_batching_dims");
    dims_.start_indices_batching_dims = fields.ints("start_indices_batching_dims");
    dims_.start_index_map = fields.ints("start_index_map");
    dims_.index_vector_dim = fields.get<int>("index_vector_dim");
  }
  void run(Frame& frame) const override {
    kernels::gather_slices(frame.stream, frame.at(out_), frame.at(in_), frame.at(indices_), dims_, sizes_);
  }

 private:
  Operand out_, in_, indices_;
  std::vector<std::int64_t> sizes_;
  kernels::GatherDimensions dims_;
};

kernels::CombineExpression combine_expression(const PlanFields& fields) {
  return {fields.get<std::string>("name"), fields.get<std::string>("combine"), fields.strings("headers")};
}

// Combines updates with the values in `out`.
class ScatterStep final : public Step {
 public:
  explicit ScatterStep(const PlanFields& fields)
      : out_(fields.operand("out")),
        indices_(fields.operand("indices")),
        updates_(fields.operand("updates")),
        expression_combiner_(fields.has("combine")
                                 ? std::make_unique<kernels::Combiner>(combine_expression(fields))
                                 : nullptr),
        combiner_(expression_combiner_
                      ? *expression_combiner_
                      : kernels::combiner(kernels::combine_of(fields.get<std::string>("name")))),
        deterministic_(fields.get<bool>("deterministic")) {
    dims_.update_window_dims = fields.ints("update_window_dims");
    dims_.inserted_window_dims = fields.ints("inserted_window_dims");
    dims_.input_batching_dims = fields.ints("input_batching_dims");
    dims_.scatter_indices_batching_dims = fields.ints("scatter_indices_batching_dims");
    dims_.scatter_dims_to_operand_dims = fields.ints("scatter_dims_to_operand_dims");
    dims_.index_vector_dim = fields.get<int>("index_vector_dim");
  }
  void run(Frame& frame) const override {
    kernels::scatter_slices(frame.stream, frame.at(out_), frame.at(indices_), frame.at(updates_), dims_,
                            combiner_, deterministic_);
  }

 private:
  Operand out_, indices_, updates_;
  std::unique_ptr<kernels::Combiner> expression_combiner_;
  const kernels::Combiner& combiner_;
  bool deterministic_;
  kernels::ScatterDimensions dims_;
};

}  // namespace

std::unique_ptr<Step> make_gather(const PlanFields& fields) {
  return std::make_unique<GatherStep>(fields);
}
std::unique_ptr<Step> make_scatter(const PlanFields& fields) {
  return std::make_unique<ScatterStep>(fields);
}

}  // namespace xla_xpu

// Sorts, top-k, scans and Fourier transforms: the runtime's kernels along one dimension.
#include "exec/steps.h"
#include "xpu/kernels/fft.h"
#include "xpu/kernels/scan.h"
#include "xpu/kernels/sort.h"

namespace xla_xpu {
namespace {

namespace kernels = xpu::kernels;

// Sorts keys, optionally with their positions.
class SortStep final : public Step {
 public:
  explicit SortStep(const PlanFields& fields)
      : values_(fields.operand("values")), in_(fields.operand("in")), dim_(fields.get<int>("dim")) {
    if (fields.has("indices")) indices_ = fields.operand("indices");
    options_.descending = fields.get<bool>("descending");
    options_.total_order = fields.get<bool>("total_order");
  }
  void run(Frame& frame) const override {
    kernels::sort(frame.stream, frame.at(values_), indices_ ? frame.at(*indices_) : xpu::Tensor(),
                  frame.at(in_), dim_, options_);
  }

 private:
  Operand values_, in_;
  std::optional<Operand> indices_;
  int dim_;
  kernels::SortOptions options_;
};

class TopKStep final : public Step {
 public:
  explicit TopKStep(const PlanFields& fields)
      : values_(fields.operand("values")),
        indices_(fields.operand("indices")),
        in_(fields.operand("in")),
        dim_(fields.get<int>("dim")) {
    options_.largest = fields.get<bool>("largest");
  }
  void run(Frame& frame) const override {
    kernels::topk(frame.stream, frame.at(values_), frame.at(indices_), frame.at(in_),
                  values_.view.shape[dim_], dim_, options_);
  }

 private:
  Operand values_, indices_, in_;
  int dim_;
  kernels::TopKOptions options_;
};

class ComparisonSortStep final : public Step {
 public:
  explicit ComparisonSortStep(const PlanFields& fields)
      : sort_({"xla", fields.get<std::string>("less"), fields.strings("headers")}),
        out_(fields.operands("out")),
        in_(fields.operands("in")),
        dim_(fields.get<int>("dim")) {}
  void run(Frame& frame) const override { sort_(frame.stream, frame.at(out_), frame.at(in_), dim_); }

 private:
  kernels::ComparisonSort sort_;
  std::vector<Operand> out_, in_;
  int dim_;
};

class ScanStep final : public Step {
 public:
  explicit ScanStep(const PlanFields& fields)
      : scan_({"xla", fields.get<std::string>("combine"), fields.get<std::string>("identity"), false,
               fields.strings("headers")}),
        out_(fields.operand("out")),
        in_(fields.operand("in")),
        dim_(fields.get<int>("dim")) {
    options_.reverse = fields.get<bool>("reverse");
    options_.exclusive = fields.get<bool>("exclusive");
  }
  void run(Frame& frame) const override {
    scan_(frame.stream, frame.at(out_), frame.at(in_), dim_, options_);
  }

 private:
  kernels::Scan scan_;
  Operand out_, in_;
  int dim_;
  kernels::ScanOptions options_;
};

class FftStep final : public Step {
 public:
  explicit FftStep(const PlanFields& fields)
      : out_(fields.operand("out")), in_(fields.operand("in")), dim_(fields.get<int>("dim")) {
    options_.inverse = fields.get<bool>("inverse");
    options_.scale = fields.get<double>("scale");
  }
  void run(Frame& frame) const override {
    kernels::fft(frame.stream, frame.at(out_), frame.at(in_), dim_, options_);
  }

 private:
  Operand out_, in_;
  int dim_;
  kernels::FftOptions options_;
};

}  // namespace

std::unique_ptr<Step> make_sort(const PlanFields& fields) {
  return std::make_unique<SortStep>(fields);
}
std::unique_ptr<Step> make_topk(const PlanFields& fields) {
  return std::make_unique<TopKStep>(fields);
}
std::unique_ptr<Step> make_comparison_sort(const PlanFields& fields) {
  return std::make_unique<ComparisonSortStep>(fields);
}
std::unique_ptr<Step> make_scan(const PlanFields& fields) {
  return std::make_unique<ScanStep>(fields);
}
std::unique_ptr<Step> make_fft(const PlanFields& fields) {
  return std::make_unique<FftStep>(fields);
}

}  // namespace xla_xpu

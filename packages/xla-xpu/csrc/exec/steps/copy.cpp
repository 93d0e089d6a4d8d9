// Copies between views, with conversion, and fills.
#include "xpu/copy.h"
#include "exec/steps.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/fill.h"

namespace xla_xpu {
namespace {

class CopyStep final : public Step {
 public:
  explicit CopyStep(const Fields& fields)
      : out_(fields.operand("out")),
        in_(fields.operand("in")),
        plain_(out_.view.dtype == in_.view.dtype && out_.view.contiguous() && in_.view.contiguous()),
        bytes_(static_cast<std::size_t>(out_.view.numel()) * xpu::size_of(out_.view.dtype)) {}
  void run(Frame& frame) const override {
    auto out = frame.at(out_), in = frame.at(in_);
    if (plain_)
      xpu::copy(frame.stream, out.data, in.data, bytes_);
    else
      xpu::kernels::copy(frame.stream, out, in);
  }

 private:
  Operand out_, in_;
  bool plain_;
  std::size_t bytes_;
};

// With the bits of one element, as Python's bytes.
class FillStep final : public Step {
 public:
  explicit FillStep(const Fields& fields)
      : out_(fields.operand("out")), pattern_(fields.get<std::string>("pattern")) {}
  void run(Frame& frame) const override {
    auto out = frame.at(out_);
    xpu::fill_pattern(frame.stream, out.data, pattern_.data(), pattern_.size(),
                      static_cast<std::size_t>(out.numel()));
  }

 private:
  Operand out_;
  std::string pattern_;
};

}  // namespace

std::unique_ptr<Step> make_copy(const Fields& fields) {
  return std::make_unique<CopyStep>(fields);
}
std::unique_ptr<Step> make_fill(const Fields& fields) {
  return std::make_unique<FillStep>(fields);
}

}  // namespace xla_xpu

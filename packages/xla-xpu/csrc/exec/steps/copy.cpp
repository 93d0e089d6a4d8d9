// Copies between views, with conversion, and fills.
#include "xpu/copy.h"

#include <cstring>

#include "exec/steps.h"
#include "xpu/kernels/copy.h"
#include "xpu/kernels/fill.h"

namespace xla_xpu {
namespace {

// Returns a view of all elements as one contiguous dimension.
xpu::Tensor flatten(const xpu::Tensor& array, xpu::DType dtype) {
  xpu::Tensor flat;
  flat.dtype = dtype;
  flat.ndim = 1;
  flat.shape[0] = array.numel();
  flat.strides[0] = 1;
  return flat;
}

class CopyStep final : public Step {
 public:
  explicit CopyStep(const PlanFields& fields) : out_(fields.operand("out")), in_(fields.operand("in")) {
    bool is_flat = out_.view.dtype == in_.view.dtype && out_.view.contiguous() && in_.view.contiguous();
    if (is_flat) out_.view = in_.view = flatten(out_.view, out_.view.dtype);
  }
  void run(Frame& frame) const override { xpu::kernels::copy(frame.stream, frame.at(out_), frame.at(in_)); }

 private:
  Operand out_, in_;
};

// `pattern` holds the bytes of one element.
class FillStep final : public Step {
 public:
  explicit FillStep(const PlanFields& fields)
      : out_(fields.operand("out")), pattern_(fields.get<std::string>("pattern")) {
    auto size = pattern_.size(), count = static_cast<std::size_t>(out_.view.numel());
    if (size > sizeof bits_ || count * size < min_kernel_bytes) return;
    std::memcpy(&bits_, pattern_.data(), size);
    out_.view = flatten(out_.view, xpu::dtype_of_width(size));
    by_kernel_ = true;
  }
  void run(Frame& frame) const override {
    auto out = frame.at(out_);
    if (by_kernel_)
      xpu::kernels::fill(frame.stream, out, bits_);
    else
      xpu::fill_pattern(frame.stream, out.data, pattern_.data(), pattern_.size(),
                        static_cast<std::size_t>(out.numel()));
  }

 private:
  // Bytes from which a kernel is faster than the driver's fill.
  static constexpr std::size_t min_kernel_bytes = 16 << 20;

  Operand out_;
  std::string pattern_;
  std::uint64_t bits_ = 0;
  bool by_kernel_ = false;
};

}  // namespace

std::unique_ptr<Step> make_copy(const PlanFields& fields) {
  return std::make_unique<CopyStep>(fields);
}
std::unique_ptr<Step> make_fill(const PlanFields& fields) {
  return std::make_unique<FillStep>(fields);
}

}  // namespace xla_xpu

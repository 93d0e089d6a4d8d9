// Losses by how far the wanted classes are ahead of the others.
#include <ATen/core/Reduction.h>
#include <ATen/native/LossMulti.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using MaybeTensor = const std::optional<Tensor>&;

// As in kernels/margin_loss.sycl.
struct MarginShape {
  std::int64_t columns;
  std::uint32_t code, unused;
};

struct Rows {
  std::int64_t count = 0, columns = 0;
};

// Kernels see dense rows; sums are of this type.
at::ScalarType sum_type(const Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

class Launch {
 public:
  Launch(const Tensor& x, Rows rows, bool squared, bool weighted)
      : x_(x), rows_(rows), squared_(squared), weighted_(weighted) {
    TORCH_CHECK_NOT_IMPLEMENTED(at::isFloatingType(x.scalar_type()), "margin losses: not implemented for '",
                                x.scalar_type(), "'");
  }
  Launch& with(const Tensor& t) {
    args_.add(t.defined() ? const_cast<void*>(t.const_data_ptr()) : nullptr);
    return *this;
  }
  Launch& with_shape() {
    static const auto code = xpu::fault_code("margin loss", "target {a} is out of range for {b} classes");
    args_.add(xpu::fault_record(x_.get_device())).add(MarginShape{rows_.columns, code, 0});
    return *this;
  }
  Launch& with(double value) {
    if (x_.scalar_type() == at::kDouble)
      args_.add(value);
    else
      args_.add(static_cast<float>(value));
    return *this;
  }
  Launch& with(std::int64_t value) {
    args_.add(value);
    return *this;
  }
  void operator()(const char* name) {
    auto dtype = dtype_of(x_.scalar_type());
    auto head = xpu::join("#include <xpu/convert.h>\nusing namespace xpu;\nusing X = ", stored_type(dtype),
                          ";\nusing T = ", math_type(dtype), ";\n#define SQUARED ", squared_,
                          "\n#define WEIGHTED ", weighted_, "\n");
    translate_errors([&] {
      auto stream = stream_of(x_);
      auto& info = xpu::device_info(stream.device());
      auto group = info.is_gpu ? std::min<std::size_t>(128, info.max_work_group_size) : info.sub_group_size;
      xpu::launch(stream, kernel_with(stream.device(), head, margin_loss_source, name),
                  xpu::NdRange::linear(static_cast<std::size_t>(rows_.count), group), args_);
    });
  }

 private:
  const Tensor& x_;
  Rows rows_;
  bool squared_, weighted_;
  xpu::Args args_;
};

// What becomes of the losses of rows.
void finish(const Tensor& out, const Tensor& losses, std::int64_t how) {
  if (how == at::Reduction::None)
    out.copy_(losses.view(out.sizes()));
  else
    out.copy_(how == at::Reduction::Mean ? losses.mean() : losses.sum());
}

// Each element's part of its row's gradient.
double share(Rows rows, std::int64_t how) {
  auto columns = static_cast<double>(rows.columns);
  return how == at::Reduction::Mean ? 1 / (columns * static_cast<double>(rows.count)) : 1 / columns;
}

std::int64_t grad_step(std::int64_t how) {
  return how == at::Reduction::None ? 1 : 0;
}

struct MultiMargin {
  Rows rows;
  bool squared;
  Tensor x, target, weight;

  MultiMargin(const Tensor& self, const Tensor& given_target, const at::Scalar& p, MaybeTensor given_weight) {
    at::native::multi_margin_loss_shape_check(rows.count, rows.columns, self.dim(), self, given_target,
                                              given_weight);
    TORCH_CHECK(p.toLong() == 1 || p.toLong() == 2, "only p == 1 and p == 2 supported");
    TORCH_CHECK(given_target.scalar_type() == at::kLong, "expected scalar type Long but found ",
                given_target.scalar_type());
    squared = p.toLong() == 2;
    x = self.contiguous();
    target = given_target.contiguous();
    if (given(given_weight)) {
      TORCH_CHECK(given_weight->scalar_type() == self.scalar_type(),
                  "multi_margin_loss: expected a weight of ", self.scalar_type(), ", got ",
                  given_weight->scalar_type());
      weight = given_weight->contiguous();
    }
  }
};

Tensor& multi_margin_out(const Tensor& self, const Tensor& target, const at::Scalar& p,
                         const at::Scalar& margin, MaybeTensor weight, std::int64_t how, Tensor& out) {
  auto guard = guard_for(self, target);
  check_one_device(self, target, weight, out);
  MultiMargin loss(self, target, p, weight);
  bool rows = how == at::Reduction::None && target.dim() > 0;
  at::native::resize_output(out, rows ? at::IntArrayRef(loss.rows.count) : at::IntArrayRef());
  auto losses = at::empty({loss.rows.count}, self.options().dtype(sum_type(self)));
  if (loss.rows.count)
    Launch(loss.x, loss.rows, loss.squared, loss.weight.defined())
        .with(loss.x)
        .with(loss.target)
        .with(loss.weight)
        .with(losses)
        .with_shape()
        .with(margin.toDouble())("multi_margin");
  finish(out, losses, how);
  return out;
}
Tensor multi_margin(const Tensor& self, const Tensor& target, const at::Scalar& p, const at::Scalar& margin,
                    MaybeTensor weight, std::int64_t how) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return multi_margin_out(self, target, p, margin, weight, how, out);
}

Tensor& multi_margin_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target,
                                  const at::Scalar& p, const at::Scalar& margin, MaybeTensor weight,
                                  std::int64_t how, Tensor& out) {
  auto guard = guard_for(grad, self, target);
  check_one_device(grad, self, target, weight, out);
  MultiMargin loss(self, target, p, weight);
  at::native::resize_output(out, self.sizes());
  if (self.numel() == 0) return out;
  auto made = at::empty(self.sizes(), self.options().dtype(sum_type(self)));
  auto grads = grad.contiguous();
  Launch(loss.x, loss.rows, loss.squared, loss.weight.defined())
      .with(loss.x)
      .with(loss.target)
      .with(loss.weight)
      .with(grads)
      .with(made)
      .with_shape()
      .with(margin.toDouble())
      .with(share(loss.rows, how))
      .with(grad_step(how))("multi_margin_backward");
  return out.copy_(made);
}
Tensor multi_margin_backward(const Tensor& grad, const Tensor& self, const Tensor& target,
                             const at::Scalar& p, const at::Scalar& margin, MaybeTensor weight,
                             std::int64_t how) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return multi_margin_backward_out(grad, self, target, p, margin, weight, how, out);
}

std::tuple<Tensor&, Tensor&> multilabel_out(const Tensor& self, const Tensor& target, std::int64_t how,
                                            Tensor& out, Tensor& is_target) {
  auto guard = guard_for(self, target);
  check_one_device(self, target, out, is_target);
  Rows rows;
  at::native::multilabel_margin_loss_shape_check(rows.count, rows.columns, self.dim(), self, target);
  TORCH_CHECK(target.scalar_type() == at::kLong, "expected scalar type Long but found ",
              target.scalar_type());
  bool each = how == at::Reduction::None && target.dim() > 1;
  at::native::resize_output(out, each ? at::IntArrayRef(rows.count) : at::IntArrayRef());
  at::native::resize_output(is_target, target.sizes());
  auto x = self.contiguous(), classes = target.contiguous();
  auto wanted = at::empty(target.sizes(), self.options());
  auto losses = at::empty({rows.count}, self.options().dtype(sum_type(self)));
  if (rows.count)
    Launch(x, rows, false, false)
        .with(x)
        .with(classes)
        .with(wanted)
        .with(losses)
        .with_shape()("multilabel_margin");
  is_target.copy_(wanted);
  finish(out, losses, how);
  return {out, is_target};
}
std::tuple<Tensor, Tensor> multilabel(const Tensor& self, const Tensor& target, std::int64_t how) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options()), is_target = at::empty({0}, self.options());
  multilabel_out(self, target, how, out, is_target);
  return {out, is_target};
}

Tensor& multilabel_backward_out(const Tensor& grad, const Tensor& self, const Tensor& target,
                                std::int64_t how, const Tensor& is_target, Tensor& out) {
  auto guard = guard_for(grad, self, target);
  check_one_device(grad, self, target, is_target, out);
  Rows rows;
  at::native::multilabel_margin_loss_shape_check(rows.count, rows.columns, self.dim(), self, target);
  at::native::resize_output(out, self.sizes());
  if (self.numel() == 0) return out;
  auto x = self.contiguous(), classes = target.contiguous(), wanted = is_target.contiguous(),
       grads = grad.contiguous();
  auto made = at::empty(self.sizes(), self.options().dtype(sum_type(self)));
  Launch(x, rows, false, false)
      .with(x)
      .with(classes)
      .with(wanted)
      .with(grads)
      .with(made)
      .with_shape()
      .with(share(rows, how))
      .with(grad_step(how))("multilabel_margin_backward");
  return out.copy_(made);
}
Tensor multilabel_backward(const Tensor& grad, const Tensor& self, const Tensor& target, std::int64_t how,
                           const Tensor& is_target) {
  auto guard = guard_for(self);
  auto out = at::empty({0}, self.options());
  return multilabel_backward_out(grad, self, target, how, is_target, out);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("multi_margin_loss", multi_margin);
  m.impl("multi_margin_loss.out", multi_margin_out);
  m.impl("multi_margin_loss_backward", multi_margin_backward);
  m.impl("multi_margin_loss_backward.grad_input", multi_margin_backward_out);
  m.impl("multilabel_margin_loss_forward", multilabel);
  m.impl("multilabel_margin_loss_forward.output", multilabel_out);
  m.impl("multilabel_margin_loss_backward", multilabel_backward);
  m.impl("multilabel_margin_loss_backward.grad_input", multilabel_backward_out);
}

}  // namespace torch_xpu

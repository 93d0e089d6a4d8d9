// Connectionist temporal classification.
#include <ATen/core/Tensor.h>
#include <ATen/ops/_ctc_loss_backward_native.h>
#include <ATen/ops/_ctc_loss_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <torch/library.h>

#include <algorithm>
#include <numeric>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

// As in kernels/ctc_loss.sycl.
struct CtcShape {
  std::int64_t time, batch, classes, places;
  std::int64_t time_step, batch_step, class_step;
  std::int64_t blank;
  std::uint32_t code, zero_infinity;
};

void check(const Tensor& probabilities, const Tensor& targets, IntArrayRef input_lengths,
           IntArrayRef target_lengths, std::int64_t blank) {
  TORCH_CHECK_NOT_IMPLEMENTED(
      probabilities.scalar_type() == at::kFloat || probabilities.scalar_type() == at::kDouble,
      "\"ctc_loss\" not implemented for '", probabilities.scalar_type(), "'");
  TORCH_CHECK(probabilities.numel() > 0, "log_probs tensor must not be empty");
  TORCH_CHECK(probabilities.dim() == 3, "Expected 3-dimensional tensor, but got ", probabilities.dim(),
              "-dimensional tensor for argument #1 'log_probs' (while checking arguments for ctc_loss)");
  TORCH_CHECK(targets.dim() == 1 || targets.dim() == 2, "Expected 1 to 2 dimensions, but got ", targets.dim(),
              "-dimensional tensor for argument #2 'targets' (while checking arguments for ctc_loss)");
  TORCH_CHECK(targets.scalar_type() == at::kLong || targets.scalar_type() == at::kInt,
              "targets must be long or int, but got ", targets.scalar_type());
  auto batch = probabilities.size(1);
  TORCH_CHECK(blank >= 0 && blank < probabilities.size(2), "blank must be in label range");
  TORCH_CHECK(static_cast<std::int64_t>(input_lengths.size()) == batch,
              "input_lengths must be of size batch_size");
  TORCH_CHECK(static_cast<std::int64_t>(target_lengths.size()) == batch,
              "target_lengths must be of size batch_size");
  for (auto n : input_lengths)
    TORCH_CHECK(n >= 0 && n <= probabilities.size(0), "Expected input_lengths to have value from 0 to ",
                probabilities.size(0), ", but got value ", n);
  for (auto n : target_lengths)
    TORCH_CHECK(n >= 0, "Expected target_lengths to have value at least 0, but got value ", n);
  auto needed = targets.dim() == 1
                    ? std::accumulate(target_lengths.begin(), target_lengths.end(), std::int64_t{0})
                    : *std::max_element(target_lengths.begin(), target_lengths.end());
  TORCH_CHECK(
      targets.dim() == 1 ? targets.size(0) == needed : targets.size(0) == batch && targets.size(1) >= needed,
      "Expected targets for ", needed, targets.dim() == 1 ? " labels in all" : " labels a sequence",
      ", but got size ", targets.sizes());
}

// What both directions have: the shape, and on the device the labels and where each sequence's begin.
struct Problem {
  Tensor probabilities, labels, lengths;
  CtcShape shape;

  Problem(const Tensor& p, const Tensor& targets, IntArrayRef input_lengths, IntArrayRef target_lengths,
          std::int64_t blank, bool zero_infinity)
      : probabilities(p), labels(targets.to(at::kLong).contiguous()) {
    static const auto code = xpu::fault_code("ctc_loss", "label {a} is out of range for {b} classes");
    check(p, targets, input_lengths, target_lengths, blank);
    auto longest = *std::max_element(target_lengths.begin(), target_lengths.end());
    shape = {p.size(0),   p.size(1), p.size(2), 2 * longest + 1, p.stride(0), p.stride(1),
             p.stride(2), blank,     code,      zero_infinity};
    std::vector<std::int64_t> numbers(input_lengths.begin(), input_lengths.end());
    numbers.insert(numbers.end(), target_lengths.begin(), target_lengths.end());
    std::int64_t begin = 0;
    for (auto n : target_lengths) {
      numbers.push_back(begin);
      begin += targets.dim() == 1 ? n : targets.size(1);
    }
    lengths = at::tensor(numbers, at::kLong).to(p.device());
  }

  Tensor table() const { return at::empty({shape.batch, shape.time, shape.places}, probabilities.options()); }

  // A group for each sequence, or for each of its time steps.
  void queue(const char* name, std::int64_t groups, std::initializer_list<const Tensor*> tensors) const {
    translate_errors([&] {
      auto stream = stream_of(probabilities);
      auto& info = xpu::device_info(stream.device());
      auto group = info.is_gpu ? std::min<std::size_t>(256, info.max_work_group_size) : info.sub_group_size;
      auto head = xpu::join("using T = ", stored_type(dtype_of(probabilities.scalar_type())),
                            ";\n#define GROUP ", group, "\n");
      auto args =
          xpu::args(probabilities.const_data_ptr(), labels.const_data_ptr(), lengths.const_data_ptr());
      for (auto* t : tensors) args.add(const_cast<void*>(t->const_data_ptr()));
      args.add(xpu::fault_record(stream.device())).add(shape);
      xpu::launch(stream, kernel_with(stream.device(), head, ctc_loss_source, name),
                  xpu::NdRange::linear(static_cast<std::size_t>(groups), group), args);
    });
  }
};

std::tuple<Tensor, Tensor> ctc_loss(const Tensor& probabilities, const Tensor& targets,
                                    IntArrayRef input_lengths, IntArrayRef target_lengths, std::int64_t blank,
                                    bool zero_infinity) {
  auto guard = guard_for(probabilities);
  check_one_device(probabilities, targets);
  Problem problem(probabilities, targets, input_lengths, target_lengths, blank, zero_infinity);
  auto sums = problem.table();
  auto loss = at::empty({problem.shape.batch}, probabilities.options());
  problem.queue("ctc_forward", problem.shape.batch, {&sums, &loss});
  return {loss, sums};
}

Tensor ctc_loss_backward(const Tensor& grad, const Tensor& probabilities, const Tensor& targets,
                         IntArrayRef input_lengths, IntArrayRef target_lengths, const Tensor& loss,
                         const Tensor& sums, std::int64_t blank, bool zero_infinity) {
  auto guard = guard_for(probabilities);
  check_one_device(grad, probabilities, targets, loss, sums);
  Problem problem(probabilities, targets, input_lengths, target_lengths, blank, zero_infinity);
  auto& s = problem.shape;
  auto backward = problem.table();
  auto next = at::empty({s.batch, s.places}, problem.labels.options());
  auto out = at::empty(probabilities.sizes(), probabilities.options());
  problem.queue("ctc_backward", s.batch, {&backward, &next});
  auto forward = sums.contiguous(), losses = loss.contiguous(), grads = grad.contiguous();
  problem.queue("ctc_gradient", s.time * s.batch, {&forward, &backward, &next, &losses, &grads, &out});
  return out;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("_ctc_loss", ctc_loss);
  m.impl("_ctc_loss.Tensor", at::native::ctc_loss_tensor);
  m.impl("_ctc_loss_backward", ctc_loss_backward);
  m.impl("_ctc_loss_backward.Tensor", at::native::ctc_loss_backward_tensor);
}

}  // namespace torch_xpu

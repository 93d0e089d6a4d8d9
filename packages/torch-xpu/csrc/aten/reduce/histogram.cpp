// How often things occur.
#include <ATen/TensorOperators.h>
#include <ATen/native/Resize.h>
#include <ATen/ops/aminmax.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/floor.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/stack.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <cmath>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/structured.h"
#include "ops/tensor.h"
#include "xpu/device.h"

namespace torch_xpu {
namespace {

using at::Scalar;
using at::Tensor;

// A group's counters are in local memory: on a GPU its lanes share them, elsewhere each has its own.
std::int64_t copies_of(const xpu::DeviceInfo& info) {
  return info.is_gpu ? 1 : static_cast<std::int64_t>(info.sub_group_size);
}
std::int64_t max_bins(const xpu::DeviceInfo& info) {
  auto room = static_cast<std::int64_t>(info.local_memory / sizeof(std::int32_t)) / copies_of(info);
  return room >= 2048 ? 2048 : 256;
}

/// The bins lie between low and high, which the last includes. T is what they are computed in.
template <class T>
struct HistogramShape {
  std::int64_t count, share;
  std::int32_t bins, unused;
  T low, high, factor;
};

// The smallest and the largest, on the host.
std::array<Scalar, 2> ends(const Tensor& x) {
  auto [min_value, max_value] = at::aminmax(x);
  auto both = at::stack({min_value, max_value}).cpu();
  return {both[0].item(), both[1].item()};
}

template <class T>
Tensor count(const Tensor& x, std::int64_t bins, const char* place, double low, double high) {
  auto device = x.get_device();
  auto& info = xpu::device_info(device);
  auto copies = copies_of(info);
  auto group =
      info.is_gpu ? std::min<std::int64_t>(256, static_cast<std::int64_t>(info.max_work_group_size)) : copies;
  std::int64_t groups = std::clamp<std::int64_t>(x.numel() / (64 * group), 1, info.is_gpu ? 256 : 32);
  auto type = dtype_of(x.scalar_type());
  auto head =
      xpu::join("#define XPU_SIZED_FOR_DEVICE\n#include <xpu/convert.h>\nusing V = ", stored_type(type),
                ";\nusing T = ",
                std::is_same_v<T, double>  ? "double"
                : std::is_same_v<T, float> ? "float"
                                           : "xpu::i64",
                ";\n#define BINS ", bins <= 256 ? 256 : max_bins(info), "\n#define COPIES ", copies,
                "\n#define PLACE ", place, "\n");
  auto counts = at::empty({groups, bins}, x.options().dtype(at::kInt));
  HistogramShape<T> shape{x.numel(),
                          (x.numel() + groups - 1) / groups,
                          static_cast<std::int32_t>(bins),
                          0,
                          static_cast<T>(low),
                          static_cast<T>(high),
                          static_cast<T>(bins)};
  translate_errors([&] {
    xpu::launch(stream_of(x), kernel_with(device, head, histogram_source, "count_in_bins"),
                xpu::NdRange::linear(static_cast<std::size_t>(groups), static_cast<std::size_t>(group)),
                xpu::args(x.const_data_ptr(), counts.mutable_data_ptr(), shape));
  });
  return counts.sum(0);
}

Tensor bincount(const Tensor& self, const std::optional<Tensor>& weights, std::int64_t min_length) {
  auto guard = guard_for(self);
  check_one_device(self, weights);
  TORCH_CHECK(min_length >= 0, "minlength should be >= 0");
  TORCH_CHECK(self.dim() == 1 && at::isIntegralType(self.scalar_type(), false),
              "bincount only supports 1-d non-negative integral inputs.");
  TORCH_CHECK(!given(weights) || (weights->dim() == 1 && weights->size(0) == self.size(0)),
              "weights should be 1-d and have the same length as input");
  auto type = !given(weights) ? at::kLong : weights->scalar_type() == at::kFloat ? at::kFloat : at::kDouble;
  if (self.numel() == 0) return at::zeros({min_length}, self.options().dtype(at::kLong));
  auto [lowest, highest] = ends(self);
  TORCH_CHECK(lowest.toLong() >= 0, "bincount only supports 1-d non-negative integral inputs.");
  auto bins = std::max(min_length, highest.toLong() + 1);
  if (!given(weights) && bins <= max_bins(xpu::device_info(self.get_device())))
    return count<std::int64_t>(self.contiguous(), bins, "(i32)x", 0, 0);
  auto options = self.options().dtype(type);
  auto added = given(weights) ? weights->to(type) : at::ones(self.sizes(), options);
  return at::zeros({bins}, options).scatter_add_(0, self.to(at::kLong), added);
}

// Any number of bins. Elements outside of them are counted in one more.
Tensor scattered(const Tensor& x, std::int64_t bins, double low, double high) {
  auto inside = x.ge(low).logical_and_(x.le(high));
  auto places = at::floor((x - low) * static_cast<double>(bins) / (high - low)).clamp_(0, bins - 1);
  auto which = at::where(inside, places, static_cast<double>(bins)).to(at::kLong);
  auto ones = at::ones(which.sizes(), which.options().dtype(at::kLong));
  return at::zeros({bins + 1}, ones.options()).scatter_add_(0, which, ones).narrow(0, 0, bins);
}

Tensor histogram(const Tensor& self, std::int64_t bins, const Scalar& low, const Scalar& high) {
  auto guard = guard_for(self);
  TORCH_CHECK(bins > 0, "bins must be > 0");
  auto x = self.reshape({-1});
  auto from = low.toDouble(), to = high.toDouble();
  if (from == to && x.numel() > 0) {
    auto found = ends(x);
    from = found[0].toDouble();
    to = found[1].toDouble();
  }
  if (from == to) from -= 1, to += 1;
  TORCH_CHECK(std::isfinite(from) && std::isfinite(to), "range of [", from, ", ", to, "] is not finite");
  TORCH_CHECK(from < to, "max must be larger than min");
  if (!at::isFloatingType(x.scalar_type())) x = x.to(at::kFloat);
  constexpr const char* place =
      "x >= s.low && x <= s.high ? (i32)__spirv_ocl_fmin((x - s.low) * s.factor / (s.high - s.low), s.factor "
      "- 1) "
      ": -1";
  bool few = bins <= max_bins(xpu::device_info(x.get_device())) && x.numel() > 0;
  auto counted = !few                             ? scattered(x, bins, from, to)
                 : x.scalar_type() == at::kDouble ? count<double>(x.contiguous(), bins, place, from, to)
                                                  : count<float>(x.contiguous(), bins, place, from, to);
  return counted.to(self.scalar_type());
}
Tensor& histogram_out(const Tensor& self, std::int64_t bins, const Scalar& low, const Scalar& high,
                      Tensor& out) {
  check_one_device(self, out);
  check_type(out, self.scalar_type());
  auto made = histogram(self, bins, low, high);
  at::native::resize_output(out, made.sizes());
  return out.copy_(made);
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("bincount", bincount);
  m.impl("histc", histogram);
  m.impl("histc.out", histogram_out);
}

}  // namespace torch_xpu

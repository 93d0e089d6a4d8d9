// torch_xpu::low_bit_adam_: a step of Adam on a parameter whose moments torchao stores in few bits. Its
// schema is in bridge/operators.txt.
#include <ATen/MemoryOverlap.h>
#include <torch/library.h>

#include <algorithm>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/kernels.h"
#include "ops/random.h"
#include "ops/tensor.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace torch_xpu {
namespace {

using at::Tensor;
using at::TensorList;

// As in kernels/low_bit_adam.sycl.
struct LowBitAdamOptions {
  std::int64_t count, blocks;
  float beta1, beta2, mean_weight, square_weight, decay, eps, rate, step;
  std::uint64_t seed, random_block;
};

// The moments: the mean of the gradients, of their squares and, for amsgrad, the largest of the latter.
struct LowBitMoments {
  const char* format;
  c10::SmallVector<Tensor, 3> codes;
  TensorList scales, tables;
  std::int64_t block;        // numbers that share a scale
  std::int64_t in_byte = 1;  // of 4 bits: 2

  const void* table(std::size_t k) const { return tables.empty() ? nullptr : tables[k].const_data_ptr(); }
  void* scale(std::size_t k) const { return k < scales.size() ? scales[k].mutable_data_ptr() : nullptr; }
  void* code(std::size_t k) const { return k < codes.size() ? codes[k].mutable_data_ptr() : nullptr; }
};

constexpr std::int64_t max_scale_block = 4096;  // the new moments of a block are in local memory
constexpr std::int64_t plain_block = 1024;

LowBitMoments moments_of(const Tensor& self, TensorList codes, TensorList scales, TensorList tables) {
  TORCH_CHECK(codes.size() == 2 || codes.size() == 3,
              "low_bit_adam_: expected 2 moments, or 3 for amsgrad, got ", codes.size());
  auto type = codes[0].scalar_type();
  for (auto& t : codes)
    TORCH_CHECK(t.scalar_type() == type, "low_bit_adam_: moments of several types, ", type, " and ",
                t.scalar_type());
  LowBitMoments moments{"PLAIN", {}, scales, tables, plain_block};
  auto& in_byte = moments.in_byte;
  if (scales.empty()) {
    TORCH_CHECK(tables.empty() && at::isFloatingType(type),
                "low_bit_adam_: moments without scales must be floats, got ", type);
  } else {
    TORCH_CHECK(scales.size() == codes.size(), "low_bit_adam_: ", codes.size(), " moments with ",
                scales.size(), " lists of scales");
    for (auto& t : scales)
      TORCH_CHECK(t.scalar_type() == at::kFloat && t.is_contiguous() && t.numel() == scales[0].numel(),
                  "low_bit_adam_: scales must be contiguous float tensors of one size");
    auto count = scales[0].numel();
    TORCH_CHECK(count == 0 ? self.numel() == 0 : self.numel() % count == 0, "low_bit_adam_: ", self.numel(),
                " numbers with ", count, " scales");
    moments.block = count ? self.numel() / count : 1;
    TORCH_CHECK(moments.block <= max_scale_block, "low_bit_adam_: a scale may be shared by at most ",
                max_scale_block, " numbers, got ", moments.block);
    if (tables.empty()) {
      TORCH_CHECK(type == at::kFloat8_e4m3fn,
                  "low_bit_adam_: moments without a table must be float8_e4m3fn, got ", type);
      moments.format = "E4M3";
    } else {
      TORCH_CHECK(tables.size() == 2 && type == at::kByte,
                  "low_bit_adam_: places in tables are bytes with a table of means and one of squares");
      for (auto& t : tables)
        TORCH_CHECK(t.scalar_type() == at::kFloat && t.is_contiguous() && t.numel() == tables[0].numel() &&
                        (t.numel() == 256 || t.numel() == 16),
                    "low_bit_adam_: a table must have 256 or 16 floats, got ", t.numel(), " of ",
                    t.scalar_type());
      in_byte = tables[0].numel() == 16 ? 2 : 1;
      moments.format = in_byte == 2 ? "MAP4" : "MAP8";
      TORCH_CHECK(moments.block % in_byte == 0, "low_bit_adam_: two numbers of a byte need one scale, got ",
                  moments.block, " numbers for each");
    }
  }
  for (auto& t : codes) {
    TORCH_CHECK(t.numel() * in_byte == self.numel(), "low_bit_adam_: moments of ", t.numel() * in_byte,
                " numbers for a parameter of ", self.numel());
    TORCH_CHECK(scales.empty() || t.is_contiguous(), "low_bit_adam_: codes must be contiguous");
    moments.codes.push_back(t.contiguous());
  }
  return moments;
}

// A number that is on the device, or was on the host when the step was enqueued.
struct StepNumber {
  Tensor tensor;
  float value = 0;

  StepNumber(const char* name, const Tensor& given) {
    TORCH_CHECK(given.numel() == 1, "low_bit_adam_: ", name, " must have one element, got ", given.numel());
    if (given.is_xpu())
      tensor = given.to(at::kFloat);
    else
      value = given.item<float>();
  }
  const void* address() const { return tensor.defined() ? tensor.const_data_ptr() : nullptr; }
};

void low_bit_adam(const Tensor& self, const Tensor& grad, TensorList codes, TensorList scales,
                  TensorList tables, const Tensor& step, const Tensor& lr, double beta1, double beta2,
                  double decay, double eps, bool decoupled, bool stochastic,
                  const std::optional<at::Generator>& generator) {
  auto guard = guard_for(self);
  check_one_device(self, grad, codes, scales, tables);
  for (auto& t : {step, lr})
    if (!t.is_cpu()) check_one_device(self, t);
  TORCH_CHECK(at::isFloatingType(self.scalar_type()) && at::isFloatingType(grad.scalar_type()),
              "low_bit_adam_: expected floats, got a parameter of ", self.scalar_type(),
              " and a gradient of ", grad.scalar_type());
  TORCH_CHECK(self.sizes() == grad.sizes(), "low_bit_adam_: a parameter of ", self.sizes(),
              " with a gradient of ", grad.sizes());
  TORCH_CHECK(!stochastic || self.scalar_type() == at::kBFloat16,
              "low_bit_adam_: only bfloat16 is rounded stochastically, got ", self.scalar_type());
  at::assert_no_internal_overlap(self);
  auto moments = moments_of(self, codes, scales, tables);
  StepNumber count("step", step), rate("lr", lr);
  if (self.numel() == 0) return;

  auto parameter = self.contiguous(), gradient = grad.contiguous();
  auto device = self.get_device();
  auto& info = xpu::device_info(device);
  std::int64_t sub_group = info.sub_group_size, block = moments.block;
  auto visited = (block + moments.in_byte - 1) / moments.in_byte;  // by an item each
  auto lanes = std::min<std::int64_t>((visited + sub_group - 1) / sub_group * sub_group, 256);
  auto items = info.is_gpu ? std::min(lanes, static_cast<std::int64_t>(info.max_work_group_size)) : sub_group;
  auto all = (self.numel() + block - 1) / block;
  // A group first works out the limits between codes, so it visits several blocks if there are many.
  std::int64_t groups = (info.is_gpu ? 16 : 4) * std::max<std::int64_t>(info.max_compute_units, 1);
  auto blocks = std::clamp<std::int64_t>(all / groups, 1, 32);
  auto head = xpu::join(
      "#include <xpu/convert.h>\nusing namespace xpu;\nusing P = ", stored_type(dtype_of(self.scalar_type())),
      ";\nusing G = ", stored_type(dtype_of(grad.scalar_type())),
      ";\nusing CODE = ", stored_type(dtype_of(codes[0].scalar_type())), ";\n#define FORMAT ", moments.format,
      "\n#define BLOCK ", block, "\n#define ITEMS ", items, "\n#define DECOUPLED ", decoupled,
      "\n#define AMSGRAD ", codes.size() == 3, "\n#define STOCHASTIC ", stochastic, "\n");
  auto random = stochastic ? take_random(generator, self, numbers_per_fill) : xpu::Philox();
  LowBitAdamOptions options{self.numel(),
                            blocks,
                            static_cast<float>(beta1),
                            static_cast<float>(beta2),
                            static_cast<float>(1 - beta1),
                            static_cast<float>(1 - beta2),
                            static_cast<float>(decay),
                            static_cast<float>(eps),
                            rate.value,
                            count.value,
                            random.seed,
                            random.offset / 4};
  translate_errors([&] {
    xpu::launch(
        stream_of(self), kernel_with(device, head, low_bit_adam_source, "low_bit_adam"),
        xpu::NdRange::linear(static_cast<std::size_t>((all + blocks - 1) / blocks),
                             static_cast<std::size_t>(items)),
        xpu::args(parameter.mutable_data_ptr(), gradient.const_data_ptr(), moments.code(0), moments.code(1),
                  moments.code(2), moments.scale(0), moments.scale(1), moments.scale(2), moments.table(0),
                  moments.table(1), count.address(), rate.address(), random.replay_state, options));
  });
  auto write_back = [](const Tensor& target, const Tensor& written) {
    if (!written.is_same(target))
      target.copy_(written);
    else if (!target.is_inference())
      target.unsafeGetTensorImpl()->bump_version();
  };
  write_back(self, parameter);
  for (std::size_t k = 0; k < codes.size(); ++k) write_back(codes[k], moments.codes[k]);
}

}  // namespace

TORCH_LIBRARY_IMPL(torch_xpu, XPU, m) {
  m.impl("low_bit_adam_", low_bit_adam);
}

}  // namespace torch_xpu

#include "dnn/attention/few_queries.h"

#include <algorithm>
#include <array>
#include <bit>

#include "compile/source/embedded.h"
#include "dnn/attention/block.h"
#include "dnn/candidates.h"
#include "dnn/epilogue/epilogue.h"
#include "dnn/register_lanes.h"
#include "launch/work_groups.h"
#include "xpu/device.h"

namespace xpu::dnn {
namespace {

const char name[] = "attention_few_queries", join_name[] = "attention_join";

// As the kernels declare it.
struct Shape {
  std::int64_t keys, key_heads, parts, scale_bits;
  std::int64_t q[4], out[4], logsumexp[4] = {}, k[3], v[3], mask[5] = {};
};

// A lane would not keep more numbers than these in registers.
constexpr std::int64_t max_rows = 8, max_numbers = 64;

bool fits(int device, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out, float dropout,
          std::int64_t lanes) {
  auto& limits = max_work_groups(device);  // images and key heads are dimensions of the launch
  if (static_cast<std::size_t>(q.shape[0]) > limits[0] || static_cast<std::size_t>(k.shape[1]) > limits[1])
    return false;
  auto rows = q.shape[1] / k.shape[1] * q.shape[2], d = q.shape[3], e = v.shape[3];
  bool dense = true;
  for (auto* t : {&q, &k, &v, &out}) dense = dense && t->strides[3] == 1;
  return dropout == 0 && dense && d % lanes == 0 && e % lanes == 0 && rows <= max_rows &&
         rows * std::max(d, e) <= max_numbers * lanes;
}

// Parts of the keys: as many as give all of the device work, of at least some blocks each.
std::int64_t parts_of(int device, std::int64_t heads, std::int64_t keys, std::int64_t lanes) {
  auto& info = device_info(device);
  constexpr std::int64_t blocks_of_part = 4;
  std::int64_t groups = (info.is_gpu ? 8 : 2) * static_cast<std::int64_t>(info.max_compute_units);
  auto most = std::max<std::int64_t>(1, keys / (blocks_of_part * lanes));
  return std::clamp<std::int64_t>((groups + heads - 1) / heads, 1, most);
}

}  // namespace

bool attend_few_queries(Stream stream, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& out,
                        const AttentionOptions& options) {
  int device = stream.device();
  auto lanes = register_lanes(device);
  if (!fits(device, q, k, v, out, options.dropout, lanes)) return false;
  auto heads = k.shape[1], rows = q.shape[1] / heads * q.shape[2];
  std::optional<Tensor> mask, logsumexp;
  if (options.mask) mask = broadcast_mask(*options.mask, q, k.shape[2], heads);
  if (options.logsumexp) logsumexp = split_heads(*options.logsumexp, heads);

  Problem problem(name, device);
  ExtraOperands extras;
  for (auto* t : {&q, &k, &v, &out}) problem.add(*t);
  problem.real(options.scale);
  problem.number(options.causal);
  auto of_mask = extras.add(problem, mask), of_logsumexp = extras.add(problem, logsumexp);
  auto make = [&](Plan& plan) {
    auto split_q = split_heads(q, heads), split_out = split_heads(out, heads);
    bool has_one_mask = mask && mask->strides[2] == 0 && (q.shape[2] == 1 || mask->strides[3] == 0);
    auto source =
        join("#define XPU_T ", kernel_type(q.dtype), "\n#define XPU_ROWS ", rows, "\n#define XPU_QUERIES ",
             q.shape[2], "\n#define XPU_D ", q.shape[3], "\n#define XPU_E ", v.shape[3],
             "\n#define XPU_MASK ", mask ? kernel_type(mask->dtype) : "float", "\n#define XPU_HAS_MASK ",
             bool(mask), "\n#define XPU_MASK_ROWS ", has_one_mask ? 1 : rows, "\n#define XPU_HAS_LOGSUMEXP ",
             bool(logsumexp), "\n#define XPU_CAUSAL ", options.causal, "\n",
             define_step("XPU_MASK_STEP", mask ? mask->strides[4] : 1, "s.mask[4]"),
             kernel_source("attention_few_queries.sycl"));
    auto images = q.shape[0], parts = parts_of(device, images * heads, k.shape[2], lanes);
    Shape s{k.shape[2], heads, parts, std::bit_cast<std::int32_t>(options.scale), {}, {}, {}, {}, {}, {}};
    std::copy_n(split_q.strides, 4, s.q);
    std::copy_n(split_out.strides, 4, s.out);
    std::copy_n(k.strides, 3, s.k);
    std::copy_n(v.strides, 3, s.v);
    if (mask) std::copy_n(mask->strides, 5, s.mask);
    if (logsumexp) std::copy_n(logsumexp->strides, 4, s.logsumexp);

    int stored = plan.add_scratch(static_cast<std::size_t>(images * heads * parts * rows * (v.shape[3] + 2)) *
                                  sizeof(float));
    auto add = [&](const char* kernel, std::int64_t groups, KernelArguments arguments) {
      NdRange range{3, {}, {1, 1, static_cast<std::size_t>(lanes)}};
      std::ranges::copy(std::array{images, heads, groups * lanes}, range.global);
      plan.add(std::make_unique<KernelStep>(build_kernel(device, source, kernel, {}, static_cast<int>(lanes)),
                                            range, std::move(arguments.value(s))));
    };
    KernelArguments attending, joining;
    attending.operand(0).operand(1).operand(2).operand(stored);
    if (mask) attending.operand(of_mask.operand);
    joining.operand(stored).operand(3);
    if (logsumexp) joining.operand(of_logsumexp.operand);
    add(name, parts, std::move(attending));
    add(join_name, rows, std::move(joining));
    return std::string(name);
  };
  run(stream, problem, [&] { return std::vector<Candidate>{{"sycl", make}}; });
  return true;
}

}  // namespace xpu::dnn

#include <algorithm>
#include <optional>

#include "compile/source/embedded.h"
#include "dnn/candidates.h"
#include "dnn/math_type.h"
#include "dnn/matmul/low_bit_weights.h"
#include "dnn/matmul/problem.h"
#include "dnn/register_lanes.h"
#include "xpu/device.h"
#include "xpu/dnn/plans.h"

namespace xpu::dnn {
namespace {

// On a CPU more rows of integer weights are faster with oneDNN, if it reads them as they are.
std::int64_t max_rows(const MatmulProblem& p) {
  if (is_float(p.b.dtype) || !onednn_reads_weights(p)) return 16;
  return is_packed(p.b.dtype) ? 12 : 4;
}

// A CPU's thread takes several sets of columns at once, since a work-group costs it as much as a short
// column.
std::int64_t sets_of_sub_group(int device, std::int64_t sets) {
  auto& info = device_info(device);
  constexpr std::int64_t groups_of_thread = 16;
  return info.is_gpu ? 1 : std::max<std::int64_t>(1, sets / (groups_of_thread * info.max_compute_units));
}

bool changes_along_k(ExtraOperand scale_a) {
  return scale_a.tensor && scale_a.tensor->ndim != 0 && scale_a.tensor->shape[1] != 1;
}

void check(const MatmulProblem& p) {
  auto type = p.type_of_a();
  int device = p.problem.device();
  reject_unless(p.m() <= max_rows(p), "more than ", max_rows(p), " rows");
  bool of_integers = (type == DType::i8 || type == DType::u8) && !is_float(p.b.dtype);
  reject_unless(
      (is_float(type) || of_integers) && type != DType::f64 && is_float(p.c.dtype) && p.c.dtype != DType::f64,
      "only floats of up to 32 bits, or integers, by low-bit weights into floats");
  reject_unless(size_of(p.b.dtype) < 2 || (!device_info(device).is_gpu && emulates_16_bits()),
                "oneDNN multiplies floats of 16 bits");
  // On a GPU oneDNN has kernels for this; on a CPU it converts all weights first.
  bool is_of_onednn = onednn_reads_weights(p) && onednn_matmul_unsupported_reason(device).empty();
  reject_unless(!device_info(device).is_gpu || !is_of_onednn, "oneDNN has kernels for this on a GPU");
  reject_unless(!p.zero_a.tensor, "a has a zero point");
}

// A scale for each row of the result, which the plan computes.
struct RowScales {
  Tensor tensor;
  int operand;
  RowScales(const MatmulProblem& p, Plan& plan)
      : tensor(nullptr, DType::f32, {p.m(), 1}),
        operand(plan.add_scratch(static_cast<std::size_t>(p.m()) * sizeof(float))) {}
};

// How the steps of the kernel, in each of which a sub-group reads `length` numbers of a column, go with
// groups.
struct Steps {
  std::int64_t numbers;  // that a lane reads in a step
  bool reads_words;      // reads them as one word
  std::int64_t length, parts = 1, rounds, each;
  bool has_tail;

  Steps(const MatmulProblem& p, const LowBitWeights& w, std::int64_t lanes)
      : numbers(w.packed ? 8 : 4 / static_cast<std::int64_t>(size_of(p.b.dtype))) {
    reads_words = p.k() % numbers == 0 && p.b.strides[1] % numbers == 0 && p.is_b_aligned;
    reject_unless(reads_words || !w.packed, "columns are not whole words");
    if (!reads_words) numbers = 4;
    length = lanes * numbers;
    // Numbers that a lane reads at once, or that lanes read at once, have one scale.
    auto with_one_scale = reads_words ? numbers : lanes;
    has_tail = p.k() % length != 0;
    if (w.groups == 1 || w.group_length % length == 0) {
      rounds = w.groups;
      each = (w.group_length + length - 1) / length;
    } else {
      reject_unless(length % w.group_length == 0 && w.group_length % with_one_scale == 0, "groups of ",
                    w.group_length, " do not fit steps of ", length);
      parts = length / w.group_length;
      rounds = (p.k() + length - 1) / length;
      each = 1;
    }
  }
  std::int64_t count() const { return rounds * each; }
};

}  // namespace

std::string matmul_skinny(const MatmulProblem& p, Plan& plan) {
  auto w = LowBitWeights::of_b(p);
  check(p);
  int device = p.problem.device();
  // The lanes hold the 16 numbers of f4.
  auto lanes =
      p.b.dtype == DType::f4 ? std::int64_t{device_info(device).sub_group_size} : register_lanes(device);
  reject_unless(p.b.dtype != DType::f4 || lanes >= 16, "a sub-group holds fewer than the 16 numbers of f4");
  Steps steps(p, w, lanes);
  Epilogue epilogue(2, "float");
  bool scales_a = changes_along_k(p.scale_a);
  std::optional<RowScales> row_scales;
  if (p.quantizes_rows) row_scales.emplace(p, plan);
  if (row_scales)
    epilogue.multiply({&row_scales->tensor, row_scales->operand});
  else if (!scales_a)
    epilogue.multiply(p.scale_a);
  epilogue.add(p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    epilogue.apply(p.options.post_ops[i], p.post_ops.operand(i));
  epilogue.quantize(p.c, p.scale_c, p.zero_c);
  // The sums of a block of rows and columns stay in registers.
  std::int64_t rows = std::min<std::int64_t>(p.m(), 4), columns = 4;
  bool is_exact = size_of(p.type_of_a()) > 2 || device_info(device).is_gpu;
  std::string source =
      epilogue.source() + w.defines() +
      join("#define XPU_A ", kernel_type(p.type_of_a()), "\n#define XPU_C ", kernel_type(p.c.dtype),
           "\n#define XPU_ROWS ", rows, "\n#define XPU_COLUMNS ", columns, "\n#define XPU_PARTS ",
           steps.parts, "\n#define XPU_WORDS ", steps.reads_words, "\n#define XPU_EXACT ", is_exact,
           "\n#define XPU_DENSE ", w.groups >= lanes && w.has_dense_scales(), "\n#define XPU_HAS_TAIL ",
           steps.has_tail, "\n#define XPU_SCALES_A ", scales_a, "\n#define XPU_SCALE_A ",
           scales_a ? kernel_type(p.scale_a.tensor->dtype) : "float", "\n#define XPU_READS_RESULT ",
           epilogue.reads_result(), "\n") +
      kernel_source("matmul_skinny.sycl");

  // As many blocks in a step as the kernel reads: kBlocks.
  bool has_base = steps.reads_words && (p.b.dtype == DType::i4 || p.b.dtype == DType::i8);
  bool has_shift = p.zero_b.tensor || p.offset_b.tensor || has_base;
  auto blocks = steps.numbers + has_shift * (steps.reads_words ? 1 : steps.parts);
  auto count = p.m() * steps.count() * lanes;
  // As the kernel's kHasRowUnits.
  bool has_row_units = steps.reads_words && !is_exact && p.b.dtype == DType::f8e4m3;
  auto floats = count * blocks + has_row_units * p.m();
  int ordered = plan.add_scratch(static_cast<std::size_t>(floats) * sizeof(float));
  constexpr std::int64_t group = 256;
  auto row_groups = NdRange::linear(p.m(), group);
  auto add_ordering = [&](const std::string& text, const char* kernel, const NdRange& range,
                          KernelArguments ordering) {
    plan.add(std::make_unique<KernelStep>(build_kernel(device, text, kernel, {}, static_cast<int>(lanes)),
                                          range, std::move(ordering)));
  };
  std::int64_t of_a[] = {count, p.k(), steps.count(), p.a.strides[0], p.a.strides[1], 1, 0, 0};
  KernelArguments ordering;
  if (row_scales) {
    int numbers = plan.add_scratch(static_cast<std::size_t>(p.m() * p.k()));
    std::int64_t of_numbers[] = {count, p.k(), steps.count(), p.k(), 1, 1, 0, 0};
    ordering.operand(0).operand(numbers).operand(row_scales->operand).operand(ordered);
    ordering.bytes(of_numbers, sizeof of_numbers).bytes(&of_a[3], 2 * sizeof of_a[3]);
    auto text = join("#define XPU_INPUT ", kernel_type(p.a.dtype), "\n#define XPU_OF_INTEGERS ",
                     p.b.dtype == DType::i8, "\n");
    add_ordering(source + text + kernel_source("quantize_rows.sycl"), "quantize_and_order_rows", row_groups,
                 std::move(ordering));
  } else {
    if (scales_a) {
      auto& t = *p.scale_a.tensor;
      of_a[5] = p.k() / t.shape[1];
      of_a[6] = t.shape[0] == 1 ? 0 : t.strides[0];
      of_a[7] = t.strides[1];
    }
    ordering.operand(0)
        .operand(scales_a ? p.scale_a.operand : ordered)
        .operand(ordered)
        .bytes(of_a, sizeof of_a);
    add_ordering(source, "order_rows",
                 has_row_units ? row_groups : NdRange::linear((count + group - 1) / group, group),
                 std::move(ordering));
  }

  auto bytes_read = steps.reads_words ? 4 : static_cast<std::int64_t>(size_of(p.b.dtype));
  auto column_blocks = (p.n() + columns - 1) / columns, sets = sets_of_sub_group(device, column_blocks);
  std::int64_t shape[] = {p.m(),        p.n(),       p.k(),          w.groups,
                          steps.rounds, steps.each,  sets,           w.column / bytes_read,
                          w.scale[0],   w.scale[1],  w.zero[0],      w.zero[1],
                          w.offset[0],  w.offset[1], p.c.strides[0], p.c.strides[1]};
  KernelArguments arguments;
  arguments.operand(ordered).operand(1).operand(2);
  w.add_operands(arguments, ordered).bytes(shape, sizeof shape).append(epilogue.arguments());
  plan.add(std::make_unique<KernelStep>(
      build_kernel(device, source, "matmul_skinny", {}, static_cast<int>(lanes)),
      NdRange::linear((column_blocks + sets - 1) / sets, lanes), std::move(arguments)));
  return "matmul_skinny";
}

}  // namespace xpu::dnn

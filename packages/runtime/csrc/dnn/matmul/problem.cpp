#include "dnn/matmul/problem.h"

#include <algorithm>

#include "dnn/candidates.h"
#include "dnn/descriptor.h"
#include "dnn/operand_checks.h"
#include "xpu/dnn/plans.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

const char name[] = "matmul";

void check_shapes(const Tensor& a, const Tensor& b, const Tensor& c) {
  LazyText describe = [&] { return join(a, " @ ", b, " -> ", c); };
  expect<UsageError>(
      a.ndim >= 2 && b.ndim >= 2 && c.ndim == std::max(a.ndim, b.ndim),
      "matmul: expected two or more dimensions, and a result of as many as the larger operand; got ",
      describe);
  int n = c.ndim;
  bool fits = a.shape[a.ndim - 1] == b.shape[b.ndim - 2] && c.shape[n - 2] == a.shape[a.ndim - 2] &&
              c.shape[n - 1] == b.shape[b.ndim - 1];
  for (int back = 3; back <= n && fits; ++back) {
    auto of_a = back <= a.ndim ? a.shape[a.ndim - back] : 1,
         of_b = back <= b.ndim ? b.shape[b.ndim - back] : 1;
    fits = (of_a == of_b || of_a == 1 || of_b == 1) && c.shape[n - back] == (of_a == 1 ? of_b : of_a);
  }
  expect<UsageError>(fits, "matmul: shapes do not fit together: ", describe);
}

// A dimension with a stride of 0 has one element, so its size becomes 1.
void shrink_broadcast(Tensor& t) {
  for (int d = 0; d < t.ndim - 2; ++d)
    if (t.strides[d] == 0) t.shape[d] = 1;
}

void drop(Tensor& t, int dimension) {
  for (int d = dimension; d + 1 < t.ndim; ++d) {
    t.shape[d] = t.shape[d + 1];
    t.strides[d] = t.strides[d + 1];
  }
  --t.ndim;
}

// Makes the innermost batch dimension part of the rows if b has one matrix for all of it.
void fold_batches(Tensor& a, Tensor& b, Tensor& c) {
  while (c.ndim > 2) {
    int d = c.ndim - 3, rows = d + 1;
    auto size = c.shape[d];
    auto dense = [&](const Tensor& t) { return t.strides[d] == t.shape[rows] * t.strides[rows]; };
    bool folds = size == 1 || (b.shape[d] == 1 && a.shape[d] == size && dense(a) && dense(c));
    if (!folds) return;
    for (auto* t : {&a, &c}) {
      if (size != 1) t->shape[rows] *= size;
      drop(*t, d);
    }
    drop(b, d);
  }
}

}  // namespace

MatmulProblem::MatmulProblem(int device, const Tensor& a_, const Tensor& b_, const Tensor& c_,
                             const MatmulOptions& o, bool quantizes_rows_)
    : options(o), quantizes_rows(quantizes_rows_), problem(name, device) {
  check_shapes(a_, b_, c_);
  require_broadcasts(name, "the bias", o.bias, c_);
  require_fits(name, "a", o.a, a_);
  require_fits(name, "b", o.b, b_);
  require_fits(name, "c", o.c, c_);
  expect<UsageError>(!o.a.offset && !o.c.offset, "matmul: only b can have an offset");
  require_fit(name, o.post_ops, c_);
  a = with_leading_ones(a_, c_.ndim);
  b = with_leading_ones(b_, c_.ndim);
  c = c_;
  shrink_broadcast(a);
  shrink_broadcast(b);
  if (is_plain()) fold_batches(a, b, c);
  problem.add(a);
  problem.add(b);
  problem.add(c);
  is_b_aligned = reinterpret_cast<std::uintptr_t>(b.data) % 4 == 0;
  problem.number(o.deterministic | o.allow_tf32 << 1 | is_b_aligned << 2 | quantizes_rows << 3 |
                 (o.packed_b != nullptr) << 4 | o.small_a << 5);
  bias = post_ops.add(problem, o.bias);
  scale_a = post_ops.add(problem, o.a.scale);
  zero_a = post_ops.add(problem, o.a.zero_point);
  scale_b = post_ops.add(problem, o.b.scale);
  zero_b = post_ops.add(problem, o.b.zero_point);
  offset_b = post_ops.add(problem, o.b.offset);
  scale_c = post_ops.add(problem, o.c.scale);
  zero_c = post_ops.add(problem, o.c.zero_point);
  post_ops.add(problem, o.post_ops);
}

Epilogue matmul_epilogue(const MatmulProblem& p, const char* type, bool operand_scales) {
  Epilogue epilogue(p.c.ndim, type);
  for (auto& scale : {p.scale_a, p.scale_b})
    if (operand_scales) epilogue.multiply(scale);
  epilogue.add(p.bias);
  for (std::size_t i = 0; i < p.options.post_ops.size(); ++i)
    epilogue.apply(p.options.post_ops[i], p.post_ops.operand(i));
  epilogue.quantize(p.c, p.scale_c, p.zero_c);
  return epilogue;
}

void matmul(Stream stream, const Tensor& a, const Tensor& b, const Tensor& c, const MatmulOptions& options) {
  MatmulProblem p(stream.device(), a, b, c, options);
  if (p.c.numel() == 0) return;
  auto candidates = [&p] {
    std::vector<Candidate> list;
    if (is_float(p.c.dtype) && size_of(p.b.dtype) <= 2)
      list.push_back({"skinny", [&p](Plan& plan) { return matmul_skinny(p, plan); }});
    list.push_back({"onednn", [&p](Plan& plan) { return matmul_onednn(p, plan); }});
    list.push_back({"onednn+sycl", [&p](Plan& plan) { return matmul_onednn_and_kernel(p, plan); }});
    list.push_back({"sycl", [&p](Plan& plan) { return matmul_sycl(p, plan); }});
    return list;
  };
  find_plan(p.problem, candidates)->run(stream, p.problem, options.packed_b);
}

bool matmul_of_quantized_rows(Stream stream, const Tensor& a, const Tensor& b, const Tensor& c,
                              const MatmulOptions& options) {
  expect<UsageError>(c.ndim == 2 && is_float(a.dtype) && a.dtype != DType::f64 && !options.a &&
                         (b.dtype == DType::i8 || b.dtype == DType::f8e4m3),
                     "matmul_of_quantized_rows: expected matrices of floats and of i8 or f8e4m3; got ", a,
                     " @ ", b, " -> ", c);
  MatmulProblem p(stream.device(), a, b, c, options, true);
  if (p.c.numel() == 0) return true;
  if (!forced_candidate().empty()) return false;
  const char* fused = "skinny";
  auto plan = find_plan(p.problem, [&] {
    return std::vector<Candidate>{{fused, [&p](Plan& made) { return matmul_skinny(p, made); }},
                                  {"separate", [](Plan&) { return std::string(); }}};
  });
  if (plan->candidate != fused) return false;
  plan->run(stream, p.problem);
  return true;
}

}  // namespace xpu::dnn

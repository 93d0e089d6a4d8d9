// Embeddings: gradients of their tables, and bags of rows reduced to one.
#include <ATen/ops/_embedding_bag_backward_native.h>
#include <ATen/ops/_embedding_bag_dense_backward.h>
#include <ATen/ops/embedding_native.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>
#include <torch/library.h>

#include <algorithm>
#include <limits>

#include "device/errors.h"
#include "ops/arguments.h"
#include "ops/indexing.h"
#include "ops/kernels.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/fault.h"

namespace torch_xpu {
namespace {

using at::Tensor;

void check_index_type(const char* name, const Tensor& indices) {
  TORCH_CHECK(indices.scalar_type() == at::kLong || indices.scalar_type() == at::kInt, "Expected tensor for ",
              name, " to have one of the following scalar types: Long, Int; but got ", indices.scalar_type());
}

// PyTorch selects rows by an operator of another name.
Tensor embedding(const Tensor& weight, const Tensor& indices, c10::SymInt padding_idx,
                 bool scale_grad_by_freq, bool sparse) {
  auto guard = guard_for(weight, indices);
  xpu::FaultNameScope name("embedding");
  return at::native::embedding_symint(weight, indices, std::move(padding_idx), scale_grad_by_freq, sparse);
}

// How often the index at each place occurs, as a column of the gradient's dtype.
Tensor frequencies(const Tensor& indices, std::int64_t rows, const Tensor& grad) {
  auto flat = indices.reshape({-1});
  auto counts = at::zeros({rows}, grad.options().dtype(at::kFloat));
  counts.index_add_(0, flat, at::empty({}, counts.options()).fill_(1).expand(flat.sizes()));
  return counts.index_select(0, flat).to(grad.scalar_type()).unsqueeze(1);
}

Tensor table_gradient(const Tensor& grad, const Tensor& indices, std::int64_t rows, std::int64_t padding) {
  auto out = at::empty({rows, grad.size(-1)}, grad.options());
  std::optional<std::int64_t> skipped;
  if (padding >= 0) skipped = padding;
  if (grad.numel() == 0) return out.zero_();
  translate_errors([&] {
    xpu::kernels::embedding_backward(stream_of(grad), view_of(out), view_of(grad), view_of(indices), skipped,
                                     index_options());
  });
  return out;
}

Tensor embedding_dense_backward(const Tensor& grad_output, const Tensor& indices, c10::SymInt num_weights,
                                c10::SymInt padding_idx, bool scale_grad_by_freq) {
  auto guard = guard_for(grad_output, indices);
  check_one_device(grad_output, indices);
  check_index_type("argument #2 'indices'", indices);
  auto rows = num_weights.expect_int();
  auto grad = grad_output.reshape({-1, grad_output.size(-1)});
  auto flat = indices.reshape({-1});
  if (scale_grad_by_freq) grad = grad.div(frequencies(flat, rows, grad));
  return table_gradient(grad, flat, rows, padding_idx.expect_int());
}

// Equal indices write equal rows, so which of them comes last does not matter.
Tensor& embedding_renorm_(Tensor& self, const Tensor& indices, double max_norm, double norm_type) {
  auto guard = guard_for(self, indices);
  xpu::FaultNameScope name("embedding");
  check_one_device(self, indices);
  TORCH_CHECK(self.dim() == 2, "embedding_renorm_: expected a matrix, got ", self.dim(), " dimensions");
  check_index_type("argument #2 'indices'", indices);
  auto flat = indices.reshape({-1}).to(at::kLong);
  if (flat.numel() == 0) return self;
  auto rows = self.index_select(0, flat);
  auto norms = rows.norm(norm_type, 1, /*keepdim=*/true);
  auto scaled = rows.mul(norms.add(1e-7).reciprocal_().mul_(max_norm));
  return self.index_copy_(0, flat, at::where(norms.gt(max_norm), scaled, rows));
}

namespace bag {
enum Mode : std::int64_t { sum, mean, max };
}

// The bag each index belongs to: how many later bags begin at or before it.
Tensor bags_of(const Tensor& offsets, std::int64_t bags, std::int64_t count) {
  auto marks = at::zeros({count + 1}, offsets.options());
  if (bags > 1) {
    auto starts = offsets.narrow(0, 1, bags - 1);
    marks.index_add_(0, starts, at::empty({}, marks.options()).fill_(1).expand(starts.sizes()));
  }
  return marks.cumsum(0).narrow(0, 0, count).to(offsets.scalar_type());
}

// As in kernels/embedding_bag.sycl.
struct BagShape {
  std::int64_t bags, columns, count, offsets, rows, padding, table[2], weights;
  std::uint32_t code, offset_code;
};

struct BagOptions {
  std::int64_t mode;
  Tensor weights;
  std::int64_t padding;
};

void reduce_bags(const Tensor& table, const Tensor& indices, const Tensor& offsets, const BagOptions& options,
                 const Tensor& output, const Tensor& sizes, const Tensor& which) {
  auto dtype = dtype_of(table.scalar_type());
  bool weighted = options.weights.defined();
  auto head = xpu::join(
      "#include <xpu/convert.h>\nusing X = ", stored_type(dtype), ";\nusing T = ", math_type(dtype),
      ";\nusing I = ", stored_type(dtype_of(indices.scalar_type())), ";\n#define MODE ", options.mode,
      "\n#define WEIGHTED ", weighted, "\n#define DENSE ", table.stride(1) == 1, "\n");
  translate_errors([&] {
    auto stream = stream_of(table);
    static const auto code =
        xpu::fault_code("embedding_bag", "index {a} is out of range for a table of {b} rows");
    static const auto offset_code =
        xpu::fault_code("embedding_bag", "offset {a} is out of range for {b} indices");
    BagShape s{.bags = output.size(0),
               .columns = output.size(1),
               .count = indices.numel(),
               .offsets = offsets.numel(),
               .rows = table.size(0),
               .padding = options.padding >= 0 ? options.padding : std::numeric_limits<std::int64_t>::min(),
               .table = {table.stride(0), table.stride(1)},
               .weights = weighted ? options.weights.stride(0) : 0,
               .code = code,
               .offset_code = offset_code};
    auto& info = xpu::device_info(stream.device());
    auto kernel = kernel_with(stream.device(), head, embedding_bag_source, "embedding_bag");
    std::size_t group =
        info.is_gpu ? std::min<std::size_t>(128, info.max_work_group_size) : info.sub_group_size;
    xpu::Args list;
    for (auto& t : {table, indices, offsets, weighted ? options.weights : table})
      list.add(const_cast<void*>(t.const_data_ptr()));
    list.add(output.mutable_data_ptr()).add(sizes.mutable_data_ptr());
    list.add((options.mode == bag::max ? which : sizes).mutable_data_ptr());
    list.add(xpu::fault_record(stream.device())).add(s);
    xpu::launch(stream, kernel, xpu::NdRange::linear(static_cast<std::size_t>(s.bags), group), list,
                static_cast<std::size_t>(s.count * s.columns) * table.element_size());
  });
}

using Bag = std::tuple<Tensor, Tensor, Tensor, Tensor>;

// Inference needs no bag of each index, and gets a tensor without values, as on CUDA.
template <bool inference>
Bag embedding_bag(const Tensor& weight, const Tensor& indices_, const Tensor& offsets_,
                  bool scale_grad_by_freq, std::int64_t mode, bool,
                  const std::optional<Tensor>& per_sample_weights, bool include_last_offset,
                  std::int64_t padding_idx) {
  auto guard = guard_for(weight, indices_, offsets_, per_sample_weights);
  check_one_device(weight, indices_, offsets_, per_sample_weights);
  TORCH_CHECK(indices_.dim() == 1 && offsets_.dim() == 1,
              "embedding_bag: expected indices and offsets of one dimension, got ", indices_.dim(), " and ",
              offsets_.dim());
  check_index_type("indices", indices_);
  check_index_type("offsets", offsets_);
  bool wide = indices_.scalar_type() == at::kLong || offsets_.scalar_type() == at::kLong;
  auto indices = indices_.to(wide ? at::kLong : at::kInt).contiguous();
  auto offsets = offsets_.to(indices.scalar_type()).contiguous();
  bool weighted = per_sample_weights && per_sample_weights->defined();
  TORCH_CHECK(!weighted || mode == bag::sum,
              "embedding_bag: per_sample_weights was not None; they are only supported for mode='sum'");
  TORCH_CHECK(!scale_grad_by_freq || mode != bag::max, "embedding_bag: max does not scale by frequency");
  auto count = indices.numel(), bags = offsets.numel() - (include_last_offset ? 1 : 0);
  auto features = weight.size(1);
  auto bag_of = inference ? at::empty({count}, indices.options()) : bags_of(offsets, bags, count);
  auto output = at::empty({bags, features}, weight.options());
  auto bag_size = at::empty({bags}, indices.options());
  auto max_indices =
      at::empty({mode == bag::max ? bags : 0, mode == bag::max ? features : 0}, indices.options());
  if (bags == 0) return {output, bag_of, bag_size, max_indices};
  auto options = BagOptions{mode, weighted ? *per_sample_weights : Tensor(), padding_idx};
  reduce_bags(weight, indices, offsets, options, output, bag_size, max_indices);
  return {output, bag_of, bag_size, max_indices};
}

Tensor embedding_bag_dense_backward(const Tensor& grad_, const Tensor& indices, const Tensor& offset2bag,
                                    const Tensor& bag_size, const Tensor& maximum_indices,
                                    c10::SymInt num_weights, bool scale_grad_by_freq, std::int64_t mode,
                                    const std::optional<Tensor>& per_sample_weights,
                                    std::int64_t padding_idx) {
  auto guard = guard_for(grad_, indices);
  check_one_device(grad_, indices, offset2bag);
  auto rows = num_weights.expect_int();
  auto grad = grad_.contiguous();
  if (indices.numel() == 0) return at::zeros({rows, grad.size(1)}, grad.options());
  if (mode == bag::max) {
    // Bags of nothing but padding chose no row.
    auto given = grad.masked_fill(bag_size.eq(0).unsqueeze(1), 0);
    return at::zeros({rows, grad.size(1)}, grad.options())
        .scatter_add_(0, maximum_indices.to(at::kLong), given);
  }
  if (mode == bag::mean) grad = grad.div(bag_size.clamp_min(1).unsqueeze(1).to(grad.scalar_type()));
  auto each = grad.index_select(0, offset2bag);
  if (per_sample_weights && per_sample_weights->defined()) each.mul_(per_sample_weights->unsqueeze(1));
  if (scale_grad_by_freq) each.div_(frequencies(indices, rows, grad));
  return table_gradient(each, indices, rows, padding_idx);
}

Tensor per_sample_weights_backward(const Tensor& grad, const Tensor& weight, const Tensor& indices,
                                   const Tensor&, const Tensor& offset2bag, std::int64_t mode,
                                   std::int64_t padding_idx) {
  auto guard = guard_for(grad, weight);
  check_one_device(grad, weight, indices, offset2bag);
  TORCH_CHECK(mode == bag::sum,
              "embedding_bag_backward: per_sample_weights only supported for mode='sum', got mode ", mode);
  auto products = grad.index_select(0, offset2bag).mul_(weight.index_select(0, indices)).sum(1);
  if (padding_idx >= 0) products.masked_fill_(indices.eq(padding_idx), 0);
  return products;
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("embedding", embedding);
  m.impl("embedding_dense_backward", embedding_dense_backward);
  m.impl("embedding_renorm_", embedding_renorm_);
  m.impl("_embedding_bag", embedding_bag<false>);
  m.impl("_embedding_bag_forward_only", embedding_bag<true>);
  m.impl("_embedding_bag_backward", at::native::_embedding_bag_backward_symint);
  m.impl("_embedding_bag_dense_backward", embedding_bag_dense_backward);
  m.impl("_embedding_bag_per_sample_weights_backward", per_sample_weights_backward);
}

}  // namespace torch_xpu

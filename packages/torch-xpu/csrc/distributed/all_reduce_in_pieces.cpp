// An all-reduce of a large tensor: while a piece is on the way, others are copied.
#include <algorithm>
#include <memory>
#include <utility>

#include "distributed/reduction.h"
#include "distributed/staged_collective.h"
#include "distributed/staging.h"

namespace torch_xpu::distributed {
namespace {

using std::chrono::milliseconds;

// Smaller pieces are slower: gloo takes longer for the same bytes.
constexpr std::size_t piece_bytes = std::size_t{32} << 20;

/// What the pieces share.
struct Whole {
  Whole(const char* name, const c10d::ReduceOp& op, const at::Tensor& tensor, int ranks)
      : tensor(alias({tensor}).front()), reduction(name, op, tensor.scalar_type(), ranks) {}

  bool is_direct() const {
    return tensor.is_contiguous() && reduction.transport_type() == tensor.scalar_type();
  }

  const at::Tensor tensor;
  const Reduction reduction;
  at::Tensor prepared, host;  ///< made on the lane
};

struct Range {
  std::int64_t begin, count;
  at::Tensor of(const at::Tensor& tensor) const { return tensor.view({-1}).narrow(0, begin, count); }
};

Steps steps_of_piece(const std::shared_ptr<Whole>& whole, Range range, bool is_last, StartReduction start) {
  Steps steps;
  steps.to_host = [whole, range](xpu::Stream stream) {
    if (range.begin == 0) {
      whole->prepared = whole->reduction.prepare(whole->tensor);
      whole->host = host_buffer(whole->prepared, whole->reduction.transport_type());
    }
    copy_to_host(stream, range.of(whole->host), range.of(whole->prepared));
  };
  steps.start = [whole, range, start = std::move(start)](c10d::Backend& transport, milliseconds timeout) {
    Staged staged;
    staged.inputs = {range.of(whole->host)};
    return start(transport, timeout, staged, whole->reduction.transport_op());
  };
  steps.from_host = [whole, range, is_last](xpu::Stream stream) {
    if (!whole->is_direct()) {
      if (is_last) store_output(stream, whole->host, whole->tensor, &whole->reduction);
      return;
    }
    copy_from_host(stream, range.of(whole->tensor), range.of(whole->host));
    if (is_last && !whole->reduction.is_plain()) whole->reduction.store(whole->tensor, whole->tensor);
  };
  return steps;
}

}  // namespace

bool is_worth_pieces(const Tensors& tensors) {
  return tensors.size() == 1 && tensors.front().nbytes() >= 2 * piece_bytes;
}

WorkPtr all_reduce_in_pieces(Group& group, Call call, const c10d::ReduceOp& op, StartReduction start) {
  auto tensor = call.inputs.at(0);
  auto whole = std::make_shared<Whole>(call.name, op, tensor, group.size);
  call.outputs = call.inputs;
  // Of the numbers that the transport gets, of which a complex one has two.
  std::int64_t count = tensor.numel() * (tensor.is_complex() ? 2 : 1);
  auto pieces = static_cast<std::int64_t>(tensor.nbytes() / piece_bytes);
  std::int64_t length = (count + pieces - 1) / pieces;
  std::vector<Steps> all;
  for (std::int64_t begin = 0; begin < count; begin += length) {
    Range range{begin, std::min(length, count - begin)};
    all.push_back(steps_of_piece(whole, range, begin + range.count == count, start));
  }
  return group.enqueue(std::move(call), std::move(all));
}

}  // namespace torch_xpu::distributed

#include "distributed/arguments.h"

#include <c10/util/Exception.h>

namespace torch_xpu::distributed {

at::Device device_of(const char* collective, const Tensors& first, const Tensors& second) {
  const auto& tensors = first.empty() ? second : first;
  TORCH_CHECK(!tensors.empty(), collective, ": got no tensors");
  auto device = tensors.front().device();
  for (auto* list : {&first, &second}) {
    for (auto& tensor : *list) {
      TORCH_CHECK(tensor.device() == device && device.is_xpu(), collective,
                  ": all tensors must be on one xpu device, got ", device, " and ", tensor.device());
      TORCH_CHECK(tensor.layout() == at::kStrided, collective, ": got a tensor of layout ", tensor.layout(),
                  "; collectives of xpu need dense ones");
    }
  }
  return device;
}

void require_outputs(const char* collective, std::size_t count, int ranks) {
  TORCH_CHECK(count == static_cast<std::size_t>(ranks), collective, ": got ", count, " tensors for ", ranks,
              " ranks");
}

void require_type(const char* collective, const at::Tensor& first, const at::Tensor& second) {
  TORCH_CHECK_TYPE(first.scalar_type() == second.scalar_type(), collective, ": the tensors are of ",
                   first.scalar_type(), " and ", second.scalar_type());
}

void require_bytes(const char* collective, const at::Tensor& large, const at::Tensor& small, int ranks) {
  require_type(collective, large, small);
  TORCH_CHECK(large.numel() == small.numel() * ranks, collective, ": got tensors of ", large.numel(), " and ",
              small.numel(), " elements; the first must have ", ranks, " times as many, one part for a rank");
}

std::vector<std::int64_t> byte_splits(const at::Tensor& tensor, const std::vector<std::int64_t>& splits,
                                      int ranks, const char* which) {
  auto bytes = static_cast<std::int64_t>(tensor.nbytes());
  if (splits.empty()) {
    TORCH_CHECK(tensor.dim() > 0 && tensor.size(0) % ranks == 0, "all_to_all_single: dimension 0 of the ",
                which, ", of sizes ", tensor.sizes(), ", does not divide by ", ranks, " ranks");
    return std::vector<std::int64_t>(static_cast<std::size_t>(ranks), bytes / ranks);
  }
  std::int64_t rows = 0;
  for (auto split : splits) rows += split;
  TORCH_CHECK(splits.size() == static_cast<std::size_t>(ranks) && tensor.dim() > 0 && rows == tensor.size(0),
              "all_to_all_single: the ", which, " splits ", splits, " are not of dimension 0 of sizes ",
              tensor.sizes(), " for ", ranks, " ranks");
  auto row = tensor.size(0) ? bytes / tensor.size(0) : 0;
  std::vector<std::int64_t> of_bytes;
  for (auto split : splits) of_bytes.push_back(split * row);
  return of_bytes;
}

}  // namespace torch_xpu::distributed

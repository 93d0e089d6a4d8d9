// Checks of the tensors of a collective. Each throws c10::Error, which names the collective.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace torch_xpu::distributed {

using Tensors = std::vector<at::Tensor>;

/// Returns the xpu device on which all of the tensors are.
at::Device device_of(const char* collective, const Tensors& first, const Tensors& second = {});
/// Requires one tensor for each rank.
void require_outputs(const char* collective, std::size_t count, int ranks);
/// Requires tensors of one type.
void require_type(const char* collective, const at::Tensor& first, const at::Tensor& second);
/// Requires tensors of one type, of which `large` has the elements of `ranks` times `small`.
void require_bytes(const char* collective, const at::Tensor& large, const at::Tensor& small, int ranks);
/// Returns the number of bytes for each rank, of an all-to-all whose splits count rows of dimension 0.
/// Without splits all ranks have as many rows. `which` names the tensor.
std::vector<std::int64_t> byte_splits(const at::Tensor& tensor, const std::vector<std::int64_t>& splits,
                                      int ranks, const char* which);

}  // namespace torch_xpu::distributed

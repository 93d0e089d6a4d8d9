#include "distributed/staging.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>

#include "xpu/copy.h"

namespace torch_xpu::distributed {

Tensors alias(const Tensors& tensors) {
  Tensors aliases;
  for (auto& tensor : tensors) {
    if (tensor.numel() == 0) {
      aliases.push_back(tensor);
      continue;
    }
    aliases.push_back(at::for_blob(tensor.data_ptr(), tensor.sizes())
                          .strides(tensor.strides())
                          .options(tensor.options())
                          .target_device(tensor.device())
                          .deleter([tensor](void*) {})
                          .make_tensor());
  }
  return aliases;
}

at::Tensor host_buffer(const at::Tensor& like, at::ScalarType type) {
  return at::empty(like.sizes(), at::TensorOptions(type).pinned_memory(true));
}

at::Tensor host_bytes(std::int64_t bytes) {
  auto block =
      at::empty({std::max<std::int64_t>(bytes, 1)}, at::TensorOptions(at::kByte).pinned_memory(true));
  return block.narrow(0, 0, bytes);
}

void copy_to_host(xpu::Stream stream, const at::Tensor& host, const at::Tensor& device) {
  if (device.nbytes()) xpu::copy(stream, host.data_ptr(), device.const_data_ptr(), device.nbytes());
}

void copy_from_host(xpu::Stream stream, const at::Tensor& device, const at::Tensor& host) {
  if (device.nbytes()) xpu::copy(stream, device.data_ptr(), host.const_data_ptr(), device.nbytes());
}

PackedBytes::PackedBytes(const Tensors& tensors) {
  std::int64_t offset = 0;
  for (auto& tensor : tensors) {
    offsets_.push_back(offset);
    sizes_.push_back(static_cast<std::int64_t>(tensor.nbytes()));
    offset += sizes_.back();
  }
  all_ = host_bytes(offset);
}

}  // namespace torch_xpu::distributed

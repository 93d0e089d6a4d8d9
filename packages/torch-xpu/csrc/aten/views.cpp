// Views and storage: host work on sizes and strides, the same on every device.
#include <ATen/Context.h>
#include <ATen/EmptyTensor.h>
#include <ATen/core/Tensor.h>
#include <ATen/native/ResizeCommon.h>
#include <ATen/native/TensorShape.h>
#include <ATen/ops/_reshape_alias_native.h>
#include <ATen/ops/as_strided_native.h>
#include <ATen/ops/is_set_to_native.h>
#include <ATen/ops/unfold_native.h>
#include <ATen/ops/view_as_complex_native.h>
#include <ATen/ops/view_as_real_native.h>
#include <ATen/ops/view_native.h>
#include <c10/core/DeviceGuard.h>
#include <torch/library.h>

#include "device/runtime.h"

namespace torch_xpu {
namespace {

using at::IntArrayRef;
using at::Tensor;

void grow_storage(const Tensor& self, std::size_t bytes) {
  auto* storage = self.storage().unsafeGetStorageImpl();
  if (bytes <= storage->nbytes()) return;
  TORCH_CHECK(storage->resizable(), "the storage of this tensor cannot be resized: it was made elsewhere");
  c10::DeviceGuard guard(self.device());
  auto larger = storage->allocator()->allocate(bytes);
  if (storage->nbytes()) storage->allocator()->copy_data(larger.get(), storage->data(), storage->nbytes());
  storage->set_data_ptr_noswap(std::move(larger));
  storage->set_nbytes(bytes);
}

const Tensor& resize_(const Tensor& self, IntArrayRef sizes, std::optional<at::MemoryFormat> format) {
  auto* impl = self.unsafeGetTensorImpl();
  if (sizes != self.sizes()) {
    impl->set_sizes_contiguous(sizes);
    auto before = self.storage().nbytes();
    grow_storage(
        self, at::detail::computeStorageNbytesContiguous(sizes, self.element_size(), self.storage_offset()));
    auto& context = at::globalContext();
    if (context.deterministicAlgorithms() && context.deterministicFillUninitializedMemory()) [[unlikely]]
      at::native::fill_resize_deterministic_(self, static_cast<std::int64_t>(before));
  }
  if (format && *format != at::MemoryFormat::Contiguous) {
    TORCH_CHECK(*format != at::MemoryFormat::Preserve,
                "resize_: memory_format=preserve_format means nothing here");
    impl->empty_tensor_restride(*format);
  }
  return self;
}

Tensor& set_storage_offset(Tensor& self, at::Storage source, std::int64_t offset, IntArrayRef sizes,
                           IntArrayRef strides) {
  TORCH_CHECK(source.device() == self.device(), "set_: the tensor is on ", self.device(),
              " and the storage on ", source.device());
  auto* impl = self.unsafeGetTensorImpl();
  impl->set_storage_keep_dtype(std::move(source));
  impl->set_storage_offset(offset);
  if (strides.data() || sizes.empty())
    impl->set_sizes_and_strides(sizes, strides);
  else
    impl->set_sizes_contiguous(sizes);
  grow_storage(self,
               at::detail::computeStorageNbytes(self.sizes(), self.strides(), self.element_size(), offset));
  return self;
}

Tensor& set_storage(Tensor& self, at::Storage source) {
  auto elements = static_cast<std::int64_t>(source.nbytes() / self.element_size());
  const std::int64_t one = 1;
  return set_storage_offset(self, std::move(source), 0, elements, one);
}

Tensor& set_tensor(Tensor& self, const Tensor& source) {
  if (self.is_same(source)) return self;
  return set_storage_offset(self, source.storage(), source.storage_offset(), source.sizes(),
                            source.strides());
}

Tensor& set_empty(Tensor& self) {
  c10::DeviceGuard guard(self.device());
  auto& allocator = *self.storage().allocator();
  at::Storage storage(at::Storage::use_byte_size_t(), 0, allocator.allocate(0), &allocator, true);
  return set_storage_offset(self, storage, 0, {0}, {1});
}

Tensor as_strided(const Tensor& self, IntArrayRef sizes, IntArrayRef strides,
                  std::optional<std::int64_t> offset) {
  return at::native::as_strided_tensorimpl(self, sizes, strides, offset);
}

void record_stream(Tensor& self, c10::Stream stream) {
  sycl_runtime().record_stream(self.storage().mutable_data(), stream.device_index(), stream.id());
}

}  // namespace

TORCH_LIBRARY_IMPL(aten, XPU, m) {
  m.impl("as_strided", as_strided);
  m.impl("view", at::native::view);
  m.impl("_reshape_alias", at::native::_reshape_alias);
  m.impl("unfold", at::native::unfold);
  m.impl("view_as_real", at::native::view_as_real);
  m.impl("view_as_complex", at::native::view_as_complex);
  m.impl("resize_", resize_);
  m.impl("set_.source_Storage_storage_offset", set_storage_offset);
  m.impl("set_.source_Storage", set_storage);
  m.impl("set_.source_Tensor", set_tensor);
  m.impl("set_", set_empty);
  m.impl("is_set_to", at::native::is_set_to);
  m.impl("record_stream", record_stream);
}

}  // namespace torch_xpu

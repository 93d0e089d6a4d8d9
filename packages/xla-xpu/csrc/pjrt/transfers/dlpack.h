// Arrays for other libraries, by DLPack's struct of version 0.
#pragma once

#include <cstdint>
#include <vector>

namespace xla_xpu {

/// A DLManagedTensor of dense memory that Storage::find() knows; it keeps the memory. Work the caller queues
/// on its current stream from now on comes after what made the array. Throws for an address that is unknown.
void* to_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device_type,
                int device);
/// The same of memory on a device that its owner takes back whatever becomes of the tensor.
void* borrowed_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device);
/// Calls the tensor's deleter.
void drop_dlpack(void* managed_tensor);

}  // namespace xla_xpu

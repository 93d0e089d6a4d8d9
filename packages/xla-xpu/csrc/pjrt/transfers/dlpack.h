// Exports arrays to other libraries as DLPack's struct of version 0.
#pragma once

#include <cstdint>
#include <vector>

#include "xpu/stream.h"

namespace xla_xpu {

/// Returns a DLManagedTensor of contiguous memory that Storage::find() returns; it keeps the memory alive.
/// Work enqueued on the caller's current stream from now on runs after the array's producer. Throws
/// UsageError for an unknown address.
void* to_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device_type,
                int device);
/// Orders `consumer` after the producer of the array at this address, which is of the stream's device; the
/// memory is reused only after the consumer's work. Throws UsageError for an unknown address.
void order_after_producer(void* data, xpu::Stream consumer);
/// Returns a DLManagedTensor of device memory that it does not keep alive.
void* to_unowned_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device);
/// Calls the tensor's deleter.
void drop_dlpack(void* managed_tensor);

}  // namespace xla_xpu

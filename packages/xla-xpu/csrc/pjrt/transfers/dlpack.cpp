#include "pjrt/transfers/dlpack.h"

#include "pjrt/storage.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

// The interface as dlpack.h publishes it.
struct Device {
  std::int32_t type, id;
};
struct DataType {
  std::uint8_t code, bits;
  std::uint16_t lanes;
};
struct Tensor {
  void* data;
  Device device;
  std::int32_t ndim;
  DataType dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};
struct ManagedTensor {
  Tensor tensor;
  void* context;
  void (*deleter)(ManagedTensor*);
};

constexpr int oneapi_device = 14;

struct Export : ManagedTensor {
  std::shared_ptr<Storage> storage;
  std::vector<std::int64_t> shape, strides;
};

void order_after(Storage& storage, xpu::Stream consumer) {
  auto ours = xpu::default_stream(consumer.device());
  if (consumer == ours) return;
  consumer.wait(ours);
  storage.record_stream(consumer);
}

void* make_tensor(std::shared_ptr<Storage> storage, void* data, const std::vector<std::int64_t>& shape,
                  const MinorToMajor& order, int code, int bits, Device device) {
  auto* tensor = new Export;
  tensor->storage = std::move(storage);
  tensor->shape = shape;
  tensor->strides = strides_of(order, 1, shape);
  tensor->tensor = {data,
                    device,
                    static_cast<std::int32_t>(shape.size()),
                    {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1},
                    tensor->shape.data(),
                    tensor->strides.data(),
                    0};
  tensor->context = nullptr;
  tensor->deleter = [](ManagedTensor* tensor) { delete static_cast<Export*>(tensor); };
  return static_cast<ManagedTensor*>(tensor);
}

}  // namespace

void* to_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device_type,
                int device) {
  auto [storage, order] = Storage::find(data);
  xpu::expect<xpu::UsageError>(storage || !data, "to_dlpack: no array of JAX on xpu is at address ", data);
  if (storage && device_type == oneapi_device) order_after(*storage, xpu::current_stream(device));
  return make_tensor(std::move(storage), data, shape, order, code, bits, {device_type, device});
}

void order_after_producer(void* data, xpu::Stream consumer) {
  auto storage = Storage::find(data).storage;
  xpu::expect<xpu::UsageError>(storage || !data, "no array of JAX on xpu is at address ", data);
  if (storage) order_after(*storage, consumer);
}

void* to_unowned_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device) {
  return make_tensor(nullptr, data, shape, {}, code, bits, {oneapi_device, device});
}

void drop_dlpack(void* managed_tensor) {
  auto* tensor = static_cast<ManagedTensor*>(managed_tensor);
  tensor->deleter(tensor);
}

}  // namespace xla_xpu

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

void order_after_the_array(Storage& storage, int device) {
  auto consumer = xpu::current_stream(device), ours = xpu::default_stream(device);
  if (consumer == ours) return;
  consumer.wait(ours);
  storage.used_on(consumer);
}

void* exported(std::shared_ptr<Storage> storage, void* data, const std::vector<std::int64_t>& shape,
               const Order& order, int code, int bits, Device device) {
  auto* made = new Export;
  made->storage = std::move(storage);
  made->shape = shape;
  made->strides = strides_of(order, 1, shape);
  made->tensor = {data,
                  device,
                  static_cast<std::int32_t>(shape.size()),
                  {static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1},
                  made->shape.data(),
                  made->strides.data(),
                  0};
  made->context = nullptr;
  made->deleter = [](ManagedTensor* tensor) { delete static_cast<Export*>(tensor); };
  return static_cast<ManagedTensor*>(made);
}

}  // namespace

void* to_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device_type,
                int device) {
  auto [storage, order] = Storage::find(data);
  xpu::expect<xpu::UsageError>(storage || !data, "to_dlpack: no array of this process is at ", data);
  if (storage && device_type == oneapi_device) order_after_the_array(*storage, device);
  return exported(std::move(storage), data, shape, order, code, bits, {device_type, device});
}

void* borrowed_dlpack(void* data, const std::vector<std::int64_t>& shape, int code, int bits, int device) {
  return exported(nullptr, data, shape, {}, code, bits, {oneapi_device, device});
}

void drop_dlpack(void* managed_tensor) {
  auto* tensor = static_cast<ManagedTensor*>(managed_tensor);
  tensor->deleter(tensor);
}

}  // namespace xla_xpu

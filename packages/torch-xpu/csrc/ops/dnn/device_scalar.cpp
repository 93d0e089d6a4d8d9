#include "ops/dnn/device_scalar.h"

#include <ATen/ops/empty.h>

#include <bit>
#include <map>
#include <mutex>
#include <tuple>

#include "device/errors.h"
#include "ops/tensor.h"
#include "xpu/graph.h"

namespace torch_xpu {
namespace {

using ScalarKey = std::tuple<c10::DeviceIndex, at::ScalarType, std::uint32_t>;

struct ScalarCache {
  std::mutex mutex;
  std::map<ScalarKey, at::Tensor> made;
};

// A model has a few numbers for each layer.
constexpr std::size_t max_scalars = 1 << 14;

template <class T>
at::Tensor make_scalar(T value, at::ScalarType type, const at::Tensor& like) {
  return at::empty({}, like.options().dtype(type)).fill_(value);
}

template <class T>
at::Tensor find_or_make(T value, at::ScalarType type, const at::Tensor& like) {
  static auto& cache = *new ScalarCache;
  std::lock_guard lock(cache.mutex);
  ScalarKey key{like.get_device(), type, std::bit_cast<std::uint32_t>(value)};
  if (auto found = cache.made.find(key); found != cache.made.end()) return found->second;
  auto stream = stream_of(like);
  auto made = make_scalar(value, type, like);
  if (xpu::is_capturing(stream) || cache.made.size() >= max_scalars) return made;
  // Work of any stream may then read it without an event.
  translate_errors([&] { stream.synchronize(); });
  return cache.made.emplace(key, made).first->second;
}

}  // namespace

at::Tensor device_scalar(float value, const at::Tensor& like) {
  return find_or_make(value, at::kFloat, like);
}

at::Tensor device_scalar(std::int32_t value, const at::Tensor& like) {
  return find_or_make(value, at::kInt, like);
}

}  // namespace torch_xpu

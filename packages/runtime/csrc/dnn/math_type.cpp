#include "dnn/math_type.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "xpu/device.h"

namespace xpu::dnn {

// CPUs with fp16 instructions but without AMX, measured in GFLOP/s: f32 390, f16 390, bf16 200. Older and
// other CPUs with bf16 multiply it at twice f32's speed.
bool f32_is_fastest(int device) {
  static const bool cpu = dnnl::get_effective_cpu_isa() == dnnl::cpu_isa::avx10_1_512;
  return cpu && !device_info(device).is_gpu;
}

DType math_type(int device, DType type, std::int64_t products, std::int64_t elements) {
  if (type != DType::bf16 || !f32_is_fastest(device)) return type;
  // An element's conversion costs as much as is saved by about a hundred products, in the caches by forty.
  // The three conversions cost that much themselves.
  bool cached = elements < 1 << 19 && products >= 1 << 23;
  return products > (cached ? 40 : 100) * elements ? DType::f32 : type;
}

dnnl::memory::desc in_type(const dnnl::memory::desc& desc, DType from, DType to) {
  if (from == to || desc.get_data_type() != data_type_of(from)) return desc;
  auto sizes = desc.get_dims(), strides = sizes;
  if (desc.get_format_kind() == dnnl::memory::format_kind::any)
    return {sizes, data_type_of(to), dnnl::memory::format_tag::any};
  auto given = desc.get_strides();
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return given[a] > given[b]; });
  std::int64_t step = 1;
  for (auto d = order.rbegin(); d != order.rend(); step *= sizes[*d++]) strides[*d] = step;
  return {sizes, data_type_of(to), strides};
}

}  // namespace xpu::dnn

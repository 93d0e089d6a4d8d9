#include "dnn/math_type.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "xpu/device.h"

namespace xpu::dnn {

namespace {

enum class Speed { native, half, emulated };

// CPUs with fp16 instructions but without AMX, measured in GFLOP/s: f32 390, f16 390, bf16 200. Older and
// other CPUs with bf16 multiply it at twice f32's speed. Where there are no instructions for 16 bits, oneDNN
// converts each number (AVX2: f32 52, bf16 10, f16 7).
Speed find_speed_of_bf16() {
  using dnnl::cpu_isa;
  auto isa = dnnl::get_effective_cpu_isa();
  if (isa == cpu_isa::avx10_1_512) return Speed::half;
  for (auto old : {cpu_isa::sse41, cpu_isa::avx, cpu_isa::avx2, cpu_isa::avx2_vnni, cpu_isa::avx512_core,
                   cpu_isa::avx512_core_vnni})
    if (isa == old) return Speed::emulated;
  return Speed::native;
}

Speed cpu_speed_of_bf16() {
  static const auto speed = find_speed_of_bf16();
  return speed;
}

Speed speed_of(int device, DType type) {
  auto bf16 = cpu_speed_of_bf16();
  if (device_info(device).is_gpu || (type != DType::bf16 && type != DType::f16)) return Speed::native;
  return type == DType::bf16 || bf16 == Speed::emulated ? bf16 : Speed::native;
}

}  // namespace

bool f32_is_fastest(int device) {
  return speed_of(device, DType::bf16) != Speed::native;
}

bool emulates_16_bits() {
  return cpu_speed_of_bf16() == Speed::emulated;
}

bool multiplies_integers(int device) {
  using dnnl::cpu_isa;
  static const bool saturates = [] {
    auto isa = dnnl::get_effective_cpu_isa();
    return isa == cpu_isa::sse41 || isa == cpu_isa::avx || isa == cpu_isa::avx2 ||
           isa == cpu_isa::avx512_core;
  }();
  return !saturates || device_info(device).is_gpu;
}

DType math_type(int device, DType type, std::int64_t products, std::int64_t elements) {
  auto speed = speed_of(device, type);
  if (speed == Speed::native) return type;
  // A product of a few rows takes oneDNN longer than the conversion of all weights.
  if (speed == Speed::emulated) return DType::f32;
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

#include "dnn/matmul/gemm_step.h"

#include <sycl/sycl.hpp>

#include "dnn/host_task.h"
#include "xpu/enqueue.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

using Type = dnnl::memory::data_type;

std::optional<Gemm::Matrix> matrix(const PlacedOperand& place) {
  auto sizes = place.desc.get_dims(), steps = place.desc.get_strides();
  bool rows = steps[1] == 1 || sizes[1] == 1, columns = steps[0] == 1 || sizes[0] == 1;
  if (!rows && !columns) return {};
  int along = rows ? 1 : 0, across = 1 - along;
  auto step = sizes[across] == 1 ? sizes[along] : steps[across];
  if (step < sizes[along]) return {};
  return Gemm::Matrix{place.operand, !rows, step};
}

// A call with its addresses, which a graph may copy.
struct Call {
  Gemm gemm;
  void *a, *b, *c;

  void operator()() const {
    auto status = compute();
    expect<OutOfMemory>(status != dnnl_out_of_memory, "onednn gemm: no memory to pack the matrices in");
    expect<DeviceError>(status == dnnl_success, "onednn gemm: oneDNN's status ", static_cast<int>(status));
  }

 private:
  dnnl_status_t compute() const {
    auto& g = gemm;
    auto flag_of = [](const Gemm::Matrix& x) { return x.transposed ? 'T' : 'N'; };
    if (g.type == Type::f32)
      return dnnl_sgemm(flag_of(g.a), flag_of(g.b), g.m, g.n, g.k, 1, as<float>(a), g.a.step, as<float>(b),
                        g.b.step, 0, as<float>(c), g.c.step);
    const std::int32_t no_offset = 0;
    auto integers = [&](auto function, auto* first) {
      return function(flag_of(g.a), flag_of(g.b), 'F', g.m, g.n, g.k, 1, first, g.a.step, 0,
                      as<std::int8_t>(b), g.b.step, 0, 0, as<std::int32_t>(c), g.c.step, &no_offset);
    };
    return g.type == Type::s8 ? integers(dnnl_gemm_s8s8s32, as<std::int8_t>(a))
                              : integers(dnnl_gemm_u8s8s32, as<std::uint8_t>(a));
  }
  template <class T>
  static T* as(void* pointer) {
    return static_cast<T*>(pointer);
  }
};

}  // namespace

std::optional<Gemm> Gemm::of(const PlacedOperand& a, const PlacedOperand& b, const PlacedOperand& c) {
  auto type = a.desc.get_data_type(), second = b.desc.get_data_type(), result = c.desc.get_data_type();
  bool floats = type == Type::f32 && second == Type::f32 && result == Type::f32;
  bool integers = (type == Type::s8 || type == Type::u8) && second == Type::s8 && result == Type::s32;
  if ((!floats && !integers) || a.desc.get_ndims() != 2) return {};
  auto first = matrix(a), other = matrix(b), target = matrix(c);
  if (!first || !other || !target || target->transposed) return {};
  return Gemm{type,   c.desc.get_dims()[0], c.desc.get_dims()[1], a.desc.get_dims()[1], *first, *other,
              *target};
}

// Measured against the primitive on two cores with AVX-512, at forty shapes. Without VNNI the sums of
// integers may saturate. With AMX nothing was measured; the primitive has newer code for it.
bool Gemm::is_faster() const {
  const int cpu = static_cast<int>(dnnl::get_effective_cpu_isa());
  constexpr int vnni = dnnl_cpu_isa_avx512_core_vnni,
                amx = dnnl_cpu_isa_avx512_core_amx & ~dnnl_cpu_isa_avx10_1_512;
  bool integers = type != Type::f32;
  if (integers && ((cpu & vnni) != vnni || (cpu & amx))) return false;
  if (m * n * k <= 1 << 22 && k <= 4096) return true;  // where the primitive's own cost shows
  if (b.transposed) return m <= 8 || (integers ? m >= 64 : m >= 512 && n >= 512);
  return n >= (a.transposed ? 512 : 256);
}

void GemmStep::run(Stream stream, const std::shared_ptr<const Plan>&, void* const* pointers) const {
  Call call{gemm_, pointers[gemm_.a.operand], pointers[gemm_.b.operand], pointers[gemm_.c.operand]};
  enqueue(stream, {WorkKind::dnn, "onednn gemm"},
          [call, device = stream.device()](sycl::queue& queue, sycl::event* event) {
            run_on_host(device, queue, event, call);
          });
}

}  // namespace xpu::dnn

// A square matmul through xpu::dnn and by a bare oneDNN primitive, on the same device and the same memory.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <oneapi/dnnl/dnnl_sycl.hpp>
#include <sycl/sycl.hpp>

#include "xpu/copy.h"
#include "xpu/device.h"
#include "xpu/dnn/matmul.h"
#include "xpu/memory.h"

namespace {

using Type = dnnl::memory::data_type;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Kind {
  xpu::DType operand, result;
  Type bare_operand, bare_result;
};

Kind kind_of(const char* name) {
  static const std::map<std::string, Kind> kinds{
      {"f32", {xpu::DType::f32, xpu::DType::f32, Type::f32, Type::f32}},
      {"bf16", {xpu::DType::bf16, xpu::DType::bf16, Type::bf16, Type::bf16}},
      {"f16", {xpu::DType::f16, xpu::DType::f16, Type::f16, Type::f16}},
      {"i8", {xpu::DType::i8, xpu::DType::i32, Type::s8, Type::s32}}};
  return kinds.at(name);
}

struct Bench {
  std::int64_t n;
  xpu::Stream stream = xpu::default_stream(0);
  sycl::queue queue{xpu::sycl_context(0), xpu::sycl_device(0), sycl::property::queue::in_order()};
  dnnl::engine engine = dnnl::sycl_interop::make_engine(xpu::sycl_device(0), xpu::sycl_context(0));
  dnnl::stream bare_stream = dnnl::sycl_interop::make_stream(engine, queue);
  xpu::Tensor a, b, c;
  dnnl::matmul bare;
  std::unordered_map<int, dnnl::memory> arguments;

  Bench(const char* dtype, std::int64_t size) : n(size) {
    auto kind = kind_of(dtype);
    auto make = [&](xpu::DType type) {
      auto bytes = static_cast<std::size_t>(n * n) * xpu::size_of(type);
      void* data = xpu::memory::allocate(bytes, stream);
      std::vector<char> zeros(bytes);
      xpu::copy(stream, data, zeros.data(), bytes);
      stream.synchronize();
      return xpu::Tensor(data, type, {n, n});
    };
    a = make(kind.operand);
    b = make(kind.operand);
    c = make(kind.result);
    auto desc = [&](Type type) { return dnnl::memory::desc({n, n}, type, dnnl::memory::format_tag::ab); };
    auto in = desc(kind.bare_operand), out = desc(kind.bare_result);
    bare = dnnl::matmul(dnnl::matmul::primitive_desc(engine, in, in, out));
    auto memory = [&](const dnnl::memory::desc& d, void* data) {
      return dnnl::sycl_interop::make_memory(d, engine, dnnl::sycl_interop::memory_kind::usm, data);
    };
    arguments = {{DNNL_ARG_SRC, memory(in, a.data)},
                 {DNNL_ARG_WEIGHTS, memory(in, b.data)},
                 {DNNL_ARG_DST, memory(out, c.data)}};
  }
  ~Bench() {
    for (auto* t : {&a, &b, &c}) xpu::memory::deallocate(t->data);
  }
  void ours() { xpu::dnn::matmul(stream, a, b, c); }
  void theirs() { bare.execute(bare_stream, arguments); }
  void wait() {
    stream.synchronize();
    queue.wait();
  }
};

// Seconds a call; with `host`, until the call returns, otherwise until its work is done.
template <class F>
double time_of(Bench& at, int calls, bool host, F work) {
  at.wait();
  double begin = seconds();
  for (int i = 0; i < calls; ++i) work();
  double enqueued = seconds();
  at.wait();
  return ((host ? enqueued : seconds()) - begin) / calls;
}

}  // namespace

extern "C" {
/// Null where oneDNN has no primitive of the type for this device: f16 on CPUs without its instructions.
void* matmul_open(const char* dtype, std::int64_t n) {
  try {
    return new Bench(dtype, n);
  } catch (const dnnl::error&) {
    return nullptr;
  }
}
void matmul_close(void* bench) {
  delete static_cast<Bench*>(bench);
}
double matmul_ours(void* bench, int calls, bool host) {
  auto& at = *static_cast<Bench*>(bench);
  return time_of(at, calls, host, [&] { at.ours(); });
}
double matmul_bare(void* bench, int calls, bool host) {
  auto& at = *static_cast<Bench*>(bench);
  return time_of(at, calls, host, [&] { at.theirs(); });
}
}

// A kernel that takes as long as one wants, to hold a stream busy.
#pragma once

#include "xpu/launch.h"
#include "xpu/stream.h"

/// Keeps `stream` busy for about `milliseconds`, then writes `value` to `out`.
inline void hold(xpu::Stream stream, unsigned* out, unsigned value, int milliseconds) {
  static const char* source = R"(
extern "C" [[__sycl_detail__::add_ir_attributes_function("sycl-nd-range-kernel", 1)]] __attribute__((sycl_device))
void hold(unsigned* out, unsigned value, long turns) {
  unsigned x = value;
  for (long i = 0; i < turns; ++i) x = x * 1664525u + 1013904223u + (x >> 7);
  *out = x == 1u ? x : value;
})";
  auto kernel = xpu::build_kernel(stream.device(), source, "hold");
  xpu::launch(stream, kernel, xpu::NdRange::linear(1, 1), xpu::args(out, value, milliseconds * 400000L));
}

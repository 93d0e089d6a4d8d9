// One oneDNN engine for each device and one oneDNN stream for each queue.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "xpu/sycl_fwd.h"

namespace xpu::dnn {

/// Why oneDNN cannot be used on the device; empty when it can.
const std::string& unsupported_reason(int device);
/// Throws Unsupported with unsupported_reason() when there is one.
const dnnl::engine& engine_of(int device);

/// The stream on `queue`, which is one of `device`; made at first use.
dnnl::stream& stream_of(int device, sycl::queue& queue);

}  // namespace xpu::dnn

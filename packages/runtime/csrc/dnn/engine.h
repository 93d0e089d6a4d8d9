// One oneDNN engine for each device and one oneDNN stream for each queue.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>

#include "xpu/sycl_fwd.h"

namespace xpu::dnn {

/// Returns the reason why oneDNN cannot be used on the device, or "".
const std::string& unsupported_reason(int device);
/// Throws Unsupported if there is an unsupported_reason().
const dnnl::engine& engine_of(int device);

/// Returns the oneDNN stream on `queue`, a queue of `device`. Created at first use and never destroyed.
dnnl::stream& stream_of(int device, sycl::queue& queue);

}  // namespace xpu::dnn

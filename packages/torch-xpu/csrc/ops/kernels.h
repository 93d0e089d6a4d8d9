// The kernels of operators for which the runtime has none: sources in kernels/, built for the dtypes and the
// shape of a call.
#pragma once

#include <string>

#include "xpu/launch.h"
#include "xpu/tensor.h"

namespace torch_xpu {

// Each is the text of the file of that name in kernels/: written by the build.
extern const char* const assertion_source;
extern const char* const ctc_loss_source;
extern const char* const distribution_gradients_source;
extern const char* const distributions_source;
extern const char* const embedding_bag_source;
extern const char* const grid_sample_source;
extern const char* const histogram_source;
extern const char* const jagged_source;
extern const char* const low_bit_adam_source;
extern const char* const margin_loss_source;
extern const char* const random_states_source;
extern const char* const segment_source;
extern const char* const windows_source;

/// The names of a dtype in a kernel: in memory, and in arithmetic (float for the narrow floats).
const char* stored_type(xpu::DType dtype);
const char* math_type(xpu::DType dtype);

/// The kernel `name` of `source`, with `head` before it; the head, the name and the device find it again.
xpu::Kernel kernel_with(int device, const std::string& head, const char* source, const char* name);

}  // namespace torch_xpu

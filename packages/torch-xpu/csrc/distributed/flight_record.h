// PyTorch's flight record: the collectives that this process has started. PyTorch exports no way to add to
// it, so it holds only the collectives of PyTorch's own gloo groups, which are our transports.
#pragma once

#include <string>

namespace torch_xpu::distributed {

/// Writes the record to the file that the user names: TORCH_FR_DUMP_TEMP_FILE or
/// TORCH_NCCL_DEBUG_INFO_TEMP_FILE and the rank. Returns the name, or nothing if there is none, or if it
/// could not be written. Blocks for at most a second: the stack traces need Python's lock, whose holder may
/// wait for the collective that failed.
std::string write_flight_record(int rank);

}  // namespace torch_xpu::distributed

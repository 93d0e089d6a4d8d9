// What XPU_DUMP_KERNELS asks for: files of every kernel that is used, or a list of those that are wanted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "xpu/cache.h"

namespace xpu {

/// The folder for files; empty if it names none. It stays the same.
const std::string& dump_folder();

/// Write a file into the folder, if there is one.
void dump_source(const std::string& name, std::string_view source);
void dump_spirv(const std::string& name, const Bytes& spirv);
/// Only what a GPU's driver made, which tells the number of registers and spills.
void dump_native(int device, const std::string& name, const Bytes& binary);

/// Appends a kernel to the list, if there is one.
void list_kernel(std::string_view source, const std::vector<std::string>& options, int sub_group_size);

}  // namespace xpu

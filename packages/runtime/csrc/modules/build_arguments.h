// What callers give to build a kernel is checked before a compiler sees it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace xpu {

/// Throws UsageError if the text, which the message calls `what`, has a NUL character.
void require_text(std::string_view text, const char* what);
void require_text(std::string_view source, const std::vector<std::string>& options);

/// Returns the sub-group size that kernels are built for: the device's own if 0 is wanted.
int checked_sub_group_size(int device, int wanted);

}  // namespace xpu

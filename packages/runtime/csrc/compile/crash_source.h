// What a compiler crashed on, for a report.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// Saves it. Returns the file's path, or "" if no folder is writable.
std::string save_crash_source(std::string_view text, std::string_view suffix);

}  // namespace xpu

// Folders for temporary files and for sources that a compiler crashed on.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// The first folder for temporary files that exists and is writable; empty if there is none.
std::string temporary_folder();

/// Returns the path that a relative one has now, so that it does not follow later changes of the working
/// directory. Returns "" for "".
std::string absolute_path(const std::string& path);

/// Saves what a compiler crashed on, for a report. Returns the file's path, or "" if no folder is writable.
std::string save_crash_source(std::string_view text, std::string_view suffix);

}  // namespace xpu

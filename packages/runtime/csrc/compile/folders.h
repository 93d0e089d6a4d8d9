// Places for files beside the caches.
#pragma once

#include <string>
#include <string_view>

namespace xpu {

/// The first folder for temporary files that there is and can be written; empty when there is none.
std::string temporary_folder();

/// Keeps what a compiler died of where the user finds it; returns the file's path, or nothing.
std::string keep_for_report(std::string_view text, std::string_view suffix);

}  // namespace xpu

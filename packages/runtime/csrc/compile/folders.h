// Folders of the system and of the user.
#pragma once

#include <string>

namespace xpu {

/// True for a folder in which this user can make files.
bool is_writable_folder(const std::string& folder);
/// The first folder for temporary files that exists and is writable; empty if there is none.
std::string temporary_folder();

/// Returns the path that a relative one has now, so that it does not follow later changes of the working
/// directory. Returns "" for "".
std::string absolute_path(const std::string& path);

}  // namespace xpu

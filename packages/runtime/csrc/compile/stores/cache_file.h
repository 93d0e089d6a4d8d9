// One file of the disk cache: magic, SHA-256 of name and payload, payload.
#pragma once

#include <sys/stat.h>

#include <optional>
#include <string>
#include <string_view>

#include "xpu/cache.h"

namespace xpu {

struct CacheFile {
  std::optional<Bytes> payload;
  std::string fault;  ///< what is wrong with an existing file; empty if it is sound or missing
};

/// A file of another owner is a fault.
CacheFile read_cache_file(const std::string& path);

/// Writes a temporary file and renames it, so that readers never see an incomplete one. Returns an errno, or
/// 0.
int write_cache_file(const std::string& path, const Bytes& payload);

/// True for the names that write_cache_file() is given: 64 hexadecimal digits and a kind.
bool is_cache_file_name(std::string_view name);
/// True for the name of a temporary file that write_cache_file() leaves if its process is killed.
bool is_unfinished_name(std::string_view name);
/// True if the open file begins as cache files do; with `unfinished` also if it ends before it could differ.
/// Reads from the file's beginning.
bool has_cache_header(int file, bool unfinished);
/// True for a folder that is the user's own and that nobody else may write.
bool is_private_folder(const struct stat& about);

}  // namespace xpu

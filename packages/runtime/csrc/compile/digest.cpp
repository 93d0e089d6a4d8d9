#include "xpu/digest.h"

#include <fstream>
#include <vector>

#include "compile/sha256.h"

namespace xpu {

std::optional<std::string> digest_of_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hash.add(buffer.data(), static_cast<std::size_t>(file.gcount()));
  }
  if (!file.eof()) return {};
  return hash.hex();
}

}  // namespace xpu

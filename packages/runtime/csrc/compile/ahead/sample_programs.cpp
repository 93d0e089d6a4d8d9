#include "compile/ahead/sample_programs.h"

#include <cstring>

#include "compile/stores/ready_spirv.h"
#include "process/immortal.h"

namespace xpu {

std::vector<std::vector<ReadyKey>> sample_programs(int device) {
  static auto& file = PackFile::in_site_packages("xpu_runtime/programs.ready", "xpu-runtime");
  std::vector<std::vector<ReadyKey>> found;
  for (auto& keys : file.of_targets(target_of(device))) {
    auto& program = found.emplace_back(keys.size() / sizeof(ReadyKey));
    std::memcpy(program.data(), keys.data(), program.size() * sizeof(ReadyKey));
  }
  return found;
}

}  // namespace xpu

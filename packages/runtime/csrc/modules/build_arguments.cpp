#include "modules/build_arguments.h"

#include <algorithm>

#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

// The compiler would ignore the text after it without an error.
void require_text(std::string_view text, const char* what) {
  expect<UsageError>(text.find('\0') == text.npos, "the ", what, " has a NUL character, after ",
                     std::min(text.find('\0'), text.size()), " bytes of ", text.size());
}

void require_text(std::string_view source, const std::vector<std::string>& options) {
  require_text(source, "kernel source");
  for (auto& option : options) require_text(option, "compiler option");
}

int checked_sub_group_size(int device, int wanted) {
  auto& info = device_info(device);
  if (wanted == 0) return static_cast<int>(info.sub_group_size);
  auto& sizes = info.sub_group_sizes;
  if (std::ranges::count(sizes, wanted)) return wanted;
  std::string offered;
  for (auto size : sizes) offered += (offered.empty() ? "" : ", ") + std::to_string(size);
  fail<UsageError>("sub-group size: got ", wanted, ", expected one of ", offered, ", which ", info.name,
                   " has");
}

}  // namespace xpu

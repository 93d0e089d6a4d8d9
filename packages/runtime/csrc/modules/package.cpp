// Kernels for packages of compiled programs.
#include <set>

#include "compile/builder.h"
#include "compile/compilers/compiler.h"
#include "compile/keys.h"
#include "compile/stores/package.h"
#include "compile/stores/store.h"
#include "modules/build_arguments.h"
#include "xpu/error.h"
#include "xpu/process.h"
#include "xpu/ready_kernels.h"

namespace xpu {
namespace {

// Bytes of the vector registers that assembly in kernels may use: none, AVX2, AVX-512.
constexpr int vector_sizes[] = {0, 32, 64};

// Empty if the driver gives no binary.
Bytes native_code(const BuildInput& input) {
  auto key = native_key(input);
  if (auto entry = find_stored(key)) return std::move(entry->bytes);
  for (auto* compiler : compilers()) {
    auto built = compiler->build(input);
    if (!built) continue;
    if (auto entry = native_entry(input.device, built->native)) store(key, *entry);
    return std::move(built->native);
  }
  fail<InternalError>("no compiler is to be had");
}

class Entries {
 public:
  bool add(const ReadyKey& key, Bytes content) {
    if (content.empty() || !known_.insert(key).second) return false;
    all_.push_back({{key.begin(), key.end()}, std::move(content)});
    return true;
  }
  std::vector<PackageEntry> take() { return std::move(all_); }

 private:
  std::set<ReadyKey> known_;
  std::vector<PackageEntry> all_;
};

}  // namespace

std::vector<PackageEntry> build_package_entries(int device, std::string_view source) {
  require_text(source, std::vector<std::string>{});
  auto size = checked_sub_group_size(device, 0);
  Entries entries;
  auto own = source_input(device, source, size, {}, cpu_vector_bytes(device));
  if (generic_backend()) {
    entries.add(package_key(native_key(own)), native_code(own));
    return entries.take();
  }
  auto key = package_key(spirv_key(own));
  auto spirv = build_source_to_spirv(std::move(own));
  auto input = spirv_input(device, spirv);
  entries.add(key, std::move(spirv));
  entries.add(package_key(native_key(input)), native_code(input));
  if (cpu_vector_bytes(device) == 0) return entries.take();
  // Kernels without assembly have one key for all CPUs.
  std::set<ReadyKey> keys{key};
  for (int bytes : vector_sizes) {
    auto other = source_input(device, source, size, {}, bytes);
    auto other_key = package_key(spirv_key(other));
    if (keys.insert(other_key).second) entries.add(other_key, build_source_to_spirv(std::move(other)));
  }
  return entries.take();
}

}  // namespace xpu

#include "compile/stores/ready_spirv.h"

#include "compile/build_input.h"
#include "compile/stores/store.h"
#include "process/immortal.h"
#include "xpu/device.h"

namespace xpu {
namespace {

// A build of the library alone has no such file.
const PackFile& modules() {
  static auto& file = PackFile::in_site_packages("xpu_runtime/kernels.ready", "xpu-runtime");
  return file;
}

class ReadySpirvStore : public Store {
 public:
  std::string_view name() const override { return "SPIR-V that ships"; }

  std::optional<Entry> find(const Key& key) override {
    auto spirv = modules().find(key.ready);
    if (!spirv) return {};
    return Entry{Entry::Kind::spirv, std::move(*spirv)};
  }

  std::string reason(const Key&) override {
    return modules().empty() ? "is not installed" : "has other kernels";
  }
};

}  // namespace

Store& ready_spirv_store() {
  static auto& store = leaked<ReadySpirvStore>();
  return store;
}

std::vector<Bytes> ready_spirv_of(int device) {
  return modules().of_targets(target_of(device));
}

// Programs of both kinds of CPUs want the kernels that use no assembly.
TargetMask target_of(int device) {
  if (device_info(device).is_gpu) return TargetMask::gpu;
  return cpu_vector_bytes(device) == 64 ? TargetMask::avx512 : TargetMask::avx2;
}

}  // namespace xpu

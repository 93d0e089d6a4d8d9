#include "compile/stores/ready_image.h"

#include <atomic>

#include "compile/cpu_features.h"
#include "compile/stores/pack_file.h"
#include "compile/stores/store.h"
#include "process/immortal.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {
namespace {

std::atomic<bool> in_use{true};

const PackFile& images() {
  static auto& file = PackFile::in_site_packages("xpu_cpu_images/images.ready", "xpu-cpu-images");
  return file;
}

bool takes_images(int device) {
  auto& info = device_info(device);
  return info.type == "cpu" && info.backend == "opencl" && !generic_backend();
}

class ReadyImageStore : public Store {
 public:
  std::string_view name() const override { return "images that ship"; }

  std::optional<Entry> find(const Key& key) override {
    if (!takes_images(key.device) || !has_ready_images()) return {};
    auto image = images().find(key.ready);
    if (!image) return {};
    return Entry{Entry::Kind::native, std::move(*image)};
  }

  std::string reason(const Key& key) override {
    if (!takes_images(key.device)) return "are for the OpenCL CPU device";
    if (!in_use) return "are turned off";
    if (images().empty()) return "are not installed (xpu-cpu-images)";
    return join("have other kernels, or are not for driver ", device_info(key.device).driver_version,
                " and vectors of ", machine_vector_bytes(), " bytes");
  }
};

}  // namespace

Store& ready_image_store() {
  static auto& store = leaked<ReadyImageStore>();
  return store;
}

bool has_ready_images() {
  return in_use && !images().empty();
}

void use_ready_images(bool wanted) {
  in_use = wanted;
}

}  // namespace xpu

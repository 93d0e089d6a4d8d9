#include "compile/keys.h"

#include "compile/cpu_features.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/process.h"

namespace xpu {
namespace {

void add_source(Sha256& hash, const BuildInput& input) {
  hash.field(input.source);
  for (auto& option : input.options) hash.field(option);
}

std::string digest_of(const Bytes& spirv) {
  return Sha256().add(spirv.data(), spirv.size()).hex();
}

ReadyKey image_key_of_digest(int device, const std::string& digest, int vector_bytes) {
  auto& info = device_info(device);
  return Sha256()
      .field(digest)
      .field(info.platform)
      .field(info.driver_version)
      .field(std::to_string(vector_bytes))
      .digest();
}

}  // namespace

// The key of what ships has not the compiler's version: SPIR-V that another one made serves as well.
Key spirv_key(const BuildInput& source) {
  Sha256 cached, ready;
  cached.field(compiler_id());
  add_source(cached, source);
  add_source(ready, source);
  return {Key::Kind::spirv, source.device, cached.hex(), ready.digest()};
}

// The generic mode caches SYCL's images, the other backends cache what their driver makes.
Key native_key(const BuildInput& input) {
  auto digest = input.spirv.empty() ? spirv_key(input).id : digest_of(input.spirv);
  Sha256 hash;
  hash.field(digest).field(target_id(input.device)).field(generic_backend() ? "syclbin" : "driver");
  if (device_info(input.device).type == "cpu") hash.field(cpu_feature_digits());
  return {Key::Kind::native, input.device, hash.hex(),
          image_key_of_digest(input.device, digest, machine_vector_bytes())};
}

ReadyKey image_key(int device, const Bytes& spirv, int vector_bytes) {
  return image_key_of_digest(device, digest_of(spirv), vector_bytes);
}

std::string target_id(int device) {
  auto& info = device_info(device);
  return join(info.platform, "|", info.name, "|", info.device_id, "|", info.driver_version, "|",
              info.version);
}

}  // namespace xpu

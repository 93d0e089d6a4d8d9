#include "compile/program/kernel_image.h"

#include <cstring>
#include <string_view>

namespace xpu {
namespace {

constexpr std::string_view image_magic = "XPUIMAGE1\n";

class ImageWriter {
 public:
  ImageWriter& text(std::string_view t) {
    bytes_.insert(bytes_.end(), t.begin(), t.end());
    return *this;
  }
  ImageWriter& number(std::uint32_t n) { return text({reinterpret_cast<const char*>(&n), sizeof n}); }
  Bytes take() { return std::move(bytes_); }

 private:
  Bytes bytes_;
};

/// Never reads beyond the end: results are then empty, and `failed` is true.
class ImageReader {
 public:
  explicit ImageReader(const Bytes& bytes)
      : left_(reinterpret_cast<const char*>(bytes.data()), bytes.size()) {}
  std::string_view text(std::size_t size) {
    failed_ = failed_ || size > left_.size();
    if (failed_) return {};
    auto got = left_.substr(0, size);
    left_.remove_prefix(size);
    return got;
  }
  std::uint32_t number() {
    std::uint32_t n = 0;
    auto got = text(sizeof n);
    if (!got.empty()) std::memcpy(&n, got.data(), sizeof n);
    return n;
  }
  std::string_view rest() { return text(left_.size()); }
  bool failed() const { return failed_; }

 private:
  std::string_view left_;
  bool failed_ = false;
};

}  // namespace

Bytes pack_image(const KernelImage& image) {
  ImageWriter writer;
  writer.text(image_magic).number(static_cast<std::uint32_t>(image.signatures.size()));
  for (auto& [name, signature] : image.signatures) {
    writer.number(static_cast<std::uint32_t>(name.size())).text(name);
    writer.number(static_cast<std::uint32_t>(signature.parameters.size()));
    for (auto& parameter : signature.parameters) writer.number(parameter.size).number(parameter.pointer);
  }
  writer.text({reinterpret_cast<const char*>(image.syclbin.data()), image.syclbin.size()});
  return writer.take();
}

std::optional<KernelImage> unpack_image(const Bytes& packed) {
  ImageReader reader(packed);
  if (reader.text(image_magic.size()) != image_magic) return {};
  KernelImage image;
  for (auto kernels = reader.number(); kernels > 0 && !reader.failed(); --kernels) {
    auto& parameters = image.signatures[std::string(reader.text(reader.number()))].parameters;
    for (auto count = reader.number(); count > 0 && !reader.failed(); --count) {
      auto size = reader.number();
      parameters.push_back({size, reader.number() != 0});
    }
  }
  auto rest = reader.rest();
  if (reader.failed()) return {};
  image.syclbin.assign(rest.begin(), rest.end());
  return image;
}

}  // namespace xpu

#include "compile/compilers/build_service.h"
#include "compile/compilers/compiler.h"
#include "process/immortal.h"

namespace xpu {
namespace {

class HelperCompiler : public Compiler {
 public:
  explicit HelperCompiler(build_service::Priority priority) : priority_(priority) {}
  std::string_view name() const override { return "a helper process"; }

  std::optional<Built> build(const BuildInput& input) override {
    auto built = build_service::build(input, priority_);
    if (!built) return {};
    return Built{nullptr, std::move(built->spirv), std::move(built->native)};
  }

 private:
  build_service::Priority priority_;
};

}  // namespace

Compiler& helper_compiler() {
  static auto& compiler = leaked<HelperCompiler>(build_service::Priority::normal);
  return compiler;
}

Compiler& background_compiler() {
  static auto& compiler = leaked<HelperCompiler>(build_service::Priority::low);
  return compiler;
}

}  // namespace xpu

#include "compile/compilers/compiler.h"
#include "compile/compilers/time_limit.h"
#include "compile/program/backend.h"
#include "process/immortal.h"
#include "process/shutdown.h"

namespace xpu {
namespace {

// The thread of a build that takes too long continues, so that it shares nothing with its caller.
Built build_unbounded(const BuildInput& input) {
  Built built;
  if (input.source.empty()) {
    built.program = load_spirv(input.device, input.spirv);
  } else {
    auto compiled = compile_source(input.device, input.source, input.options);
    built.program = std::move(compiled.program);
    built.spirv = std::move(compiled.spirv);
  }
  built.native = built.program->native();
  return built;
}

class InProcessCompiler : public Compiler {
 public:
  std::string_view name() const override { return "this process"; }

  std::optional<Built> build(const BuildInput& input) override {
    auto built = build_in_time<Built>([input] { return build_unbounded(input); },
                                      [&] { throw_build_timeout(input.source, input.spirv); });
    shutdown::reregister_exit_handler();  // the compiler has registered one
    return built;
  }
};

}  // namespace

Compiler& in_process_compiler() {
  static auto& compiler = leaked<InProcessCompiler>();
  return compiler;
}

}  // namespace xpu

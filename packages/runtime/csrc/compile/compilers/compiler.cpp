#include "compile/compilers/compiler.h"

namespace xpu {

std::span<Compiler* const> compilers() {
  static Compiler* const all[] = {&helper_compiler(), &in_process_compiler()};
  return all;
}

}  // namespace xpu

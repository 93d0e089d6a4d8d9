#include "compile/program/program.h"

namespace xpu {

const Signature* Program::signature(const std::string& kernel) const {
  auto found = signatures.find("__sycl_kernel_" + kernel);
  if (found == signatures.end()) found = signatures.find(kernel);
  return found == signatures.end() ? nullptr : &found->second;
}

}  // namespace xpu

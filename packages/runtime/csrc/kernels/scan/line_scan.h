// Runs the kernels of kernels/scan.sycl over the lines of a tensor.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/kernel_table.h"
#include "xpu/kernels/scan.h"

namespace xpu::kernels {

/// One scan call with all that its kernels depend on.
struct LineScan {
  const char* name;
  Tensor out, second, in;  ///< second: no memory when the scan has one output
  int dim;
  ScanOptions options;
  bool commutes;
  std::size_t accumulator_bytes;
  bool orders = false;  ///< compares values, which complex numbers do not allow
};

/// `prelude()` gives the types and functions the source asks for; it is called when a kernel is not in
/// `kernels` yet. The kernels' key is made of the dtypes and options, so a table serves one prelude only.
class LineScanner {
 public:
  template <class Prelude>
  void run(Stream stream, const LineScan& call, Prelude prelude) {
    queue(
        stream, call, [](void* p) { return (*static_cast<Prelude*>(p))(); }, &prelude);
  }

 private:
  void queue(Stream stream, const LineScan& call, std::string (*prelude)(void*), void* context);
  KernelTable kernels_;
};

}  // namespace xpu::kernels

// Walks of more dimensions than kernels are built for, over row-major stand-ins.
#pragma once

#include "kernels/contiguous.h"
#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// More dimensions than a kernel takes describe the walk or its target. Not asked again of what ContiguousAccess
/// made.
bool needs_contiguous(const IndexedAccess& access);

/// The same walk over row-major copies, which few dimensions describe.
class ContiguousAccess {
 public:
  enum class Writes { moved, target };

  ContiguousAccess(Stream stream, const IndexedAccess& access, Writes writes);
  const IndexedAccess& access() const { return access_; }
  /// Copies what was written to where it is wanted.
  void finish();

 private:
  void copy_indices();

  Stream stream_;
  IndexedAccess access_;
  ScratchBuffer target_, moved_, index_[IndexedAccess::max_indices];
  Tensor wanted_, made_;
};

}  // namespace xpu::kernels

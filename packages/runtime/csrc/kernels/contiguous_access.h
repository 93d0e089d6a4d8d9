// Indexed access of more dimensions than kernels are built for, by way of row-major copies.
#pragma once

#include "kernels/contiguous.h"
#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// True if the access or its target needs more dimensions than a kernel takes. False for a ContiguousAccess.
bool needs_contiguous(const IndexedAccess& access);

/// An access to row-major copies of the operands, which needs few dimensions.
class ContiguousAccess {
 public:
  enum class Writes { elements, target };

  ContiguousAccess(Stream stream, const IndexedAccess& access, Writes writes);
  const IndexedAccess& access() const { return access_; }
  /// Copies what was written back to the original operand. Must be called after the kernels are enqueued.
  void finish();

 private:
  void copy_indices();

  Stream stream_;
  IndexedAccess access_;
  ScratchBuffer target_, elements_, index_[IndexedAccess::max_indices];
  Tensor destination_, source_;
};

}  // namespace xpu::kernels

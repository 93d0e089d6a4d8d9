#pragma once

#include <cstddef>
#include <memory>

#include "xpu/abi.h"

namespace xpu::dnn {

/// The copies of constant weights in the layouts that their products and convolutions prefer. The first call
/// that prefers a layout packs the weights and blocks until they are packed; later calls read the copy. The
/// weights' memory must hold the same numbers as long as this object exists. Thread-safe.
///
/// A call that a graph captures reads a copy that exists, which must outlive the graph, and makes none.
class XPU_API PackedWeights {
 public:
  PackedWeights();
  /// Never blocks: the memory is reused once the work that reads it has completed.
  ~PackedWeights();
  PackedWeights(const PackedWeights&) = delete;
  PackedWeights& operator=(const PackedWeights&) = delete;

  std::size_t count() const;
  std::size_t bytes() const;

  struct State;
  State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

}  // namespace xpu::dnn

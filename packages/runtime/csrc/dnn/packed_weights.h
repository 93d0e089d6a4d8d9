// The memory of packed weights.
#pragma once

#include <functional>
#include <mutex>
#include <oneapi/dnnl/dnnl.hpp>
#include <vector>

#include "xpu/dnn/packed_weights.h"
#include "xpu/stream.h"

namespace xpu::dnn {

struct PackedWeights::State {
  struct Copy {
    dnnl::memory::desc layout;
    void* pointer;
    Stream stream;  ///< of the pool's block
  };
  std::mutex mutex;
  std::vector<Copy> copies;

  State() = default;
  State(const State&) = delete;
  ~State();

  /// Returns the copy in the layout for work on `stream`. If there is none, `pack` enqueues the work that
  /// fills a new one, which is waited for; while a graph captures the stream, null is returned instead.
  void* find_or_pack(Stream stream, const dnnl::memory::desc& layout,
                     const std::function<void(void* copy)>& pack);
};

}  // namespace xpu::dnn

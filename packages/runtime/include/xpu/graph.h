// Record the launches of a stream once, replay them with one call.
#pragma once

#include <cstddef>
#include <memory>

#include "xpu/abi.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace xpu {

/// Native SYCL graphs where they work, otherwise the recorded launches replayed one by one from C++.
class XPU_API Graph {
 public:
  Graph();
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// From now on work queued on `stream` is recorded instead of run, and what is allocated on it comes from
  /// the private pool, or from one of the graph's own. Waiting on the stream is an error until end(). A graph
  /// that is destroyed without end() gives the stream back.
  void begin(Stream stream, memory::PoolId pool = 0);
  void end();
  /// Runs what was recorded, in order after what `stream` holds.
  void replay(Stream stream);
  /// Gives everything back, so that begin() may be called again. Replays that still run keep what they use,
  /// as when the graph is destroyed.
  void reset();

  bool recorded() const;
  std::size_t size() const;  ///< pieces of work recorded
  const char* mode() const;  ///< "native", "list", or "" before end()

 private:
  struct State;
  void drop() noexcept;
  std::unique_ptr<State> state_;
};

/// True while `stream` is being recorded.
XPU_API bool is_capturing(Stream stream);

}  // namespace xpu

// Graphs: capture the work of a stream once, replay it with one call.
#pragma once

#include <cstddef>
#include <memory>

#include "xpu/abi.h"
#include "xpu/memory.h"
#include "xpu/stream.h"

namespace xpu {

/// A native SYCL graph where those work, otherwise a list of submissions that replay() enqueues one by one.
/// Several threads may replay at once; the other functions must not run beside any other.
class XPU_API Graph {
 public:
  Graph();
  /// Ends a capture that is still running. Pending replays keep what they use.
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  /// Captures work that any thread enqueues on `stream`, and on streams that wait for it, instead of running
  /// it. Memory allocated on them comes from the private pool `pool`; 0: from a pool of the graph's own.
  /// Waiting for them is an error until end(). Throws UsageError if the stream is captured already.
  void begin(Stream stream, memory::PoolId pool = 0);
  /// Ends the capture. Blocks while a native graph is instantiated. If it throws, the captured work is lost.
  void end();
  /// Enqueues the captured work on `stream`, which may be any stream of the device. Does not wait for it.
  void replay(Stream stream);
  /// Drops the captured work, so that begin() may be called again. Pending replays keep what they use.
  /// Throws UsageError during a capture.
  void reset();

  /// True after end().
  bool captured() const;
  std::size_t size() const;  ///< number of submissions captured
  const char* mode() const;  ///< "native", "list", or "" before end()

 private:
  struct State;
  void drop() noexcept;
  std::unique_ptr<State> state_;
};

/// True while a graph captures `stream`. Thread-safe.
XPU_API bool is_capturing(Stream stream);

}  // namespace xpu

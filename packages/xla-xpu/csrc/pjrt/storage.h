// Reference-counted memory of a buffer.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/completion_event.h"
#include "pjrt/layout.h"
#include "pjrt/memory.h"
#include "xpu/stream.h"

namespace xla_xpu {

class Storage {
 public:
  /// Allocates memory of a kind. Work enqueued on the device's stream from now on may use it; the host may
  /// use memory of a host kind at once.
  static std::shared_ptr<Storage> make(Memory& memory, std::size_t bytes);
  /// Wraps memory that another library owns.
  static std::shared_ptr<Storage> view(Memory& memory, void* data, std::size_t bytes);
  /// Calls `release` when work no longer uses a view's memory.
  void on_release(std::function<void()> release) { release_ = std::move(release); }
  /// Memory that was registered with register_address(), and the order of the array in it.
  struct Registration {
    std::shared_ptr<Storage> storage;  ///< null if it was freed
    MinorToMajor order;
  };
  static Registration find(const void* data);

  ~Storage();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Returns false for a view(): not even the holder of the only reference may write to it.
  bool owns_memory() const { return owner_ != Owner::other; }

  /// Keeps the memory alive until the work now pending on `stream` has completed.
  void record_stream(xpu::Stream stream);
  /// Lets find() return this memory, with the order of the array in it, for its address.
  void register_address(const std::shared_ptr<Storage>& self, const MinorToMajor& order);

 private:
  enum class Owner { pool, pinned, host, other };

  Storage(Memory& memory, void* data, std::size_t bytes, Owner owner);
  void release_later();

  xpu::Stream stream_;  // the stream it was allocated for
  void* data_;
  std::size_t bytes_;
  Owner owner_;
  std::function<void()> release_;  // frees memory that belongs to no pool of the runtime
  std::mutex mutex_;
  std::shared_ptr<CompletionEvent> last_use_;  // of memory that belongs to no pool; under mutex_
  bool is_registered_ = false;                 // under the registry's mutex
};

}  // namespace xla_xpu

// The memory of a buffer, shared by whoever still needs it.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/layout.h"
#include "pjrt/memory.h"
#include "pjrt/moment.h"
#include "xpu/stream.h"

namespace xla_xpu {

class Storage {
 public:
  /// Memory of a kind, usable by work queued on the device's stream from now on, and on the host at once
  /// where the kind is one of the host.
  static std::shared_ptr<Storage> make(Memory& memory, std::size_t bytes);
  /// Memory of somebody else.
  static std::shared_ptr<Storage> view(Memory& memory, void* data, std::size_t bytes);
  /// Tells the owner of a view when it is no longer used.
  void on_release(std::function<void()> release) { release_ = std::move(release); }
  /// Memory whose address was given out with expose(), and the order of the array in it.
  struct Exposed {
    std::shared_ptr<Storage> storage;  ///< null when it is gone
    Order order;
  };
  static Exposed find(const void* data);

  ~Storage();

  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// Whether it may be written to by who holds the only reference: not what belongs to somebody else.
  bool own() const { return owner_ != Owner::other; }

  /// Says that work queued on `stream` up to now uses the memory: it is kept until then.
  void used_on(xpu::Stream stream);
  /// Makes the address, and the order of the array there, known to find().
  void expose(const std::shared_ptr<Storage>& self, const Order& order);

 private:
  enum class Owner { pool, pinned, host, other };

  Storage(Memory& memory, void* data, std::size_t bytes, Owner owner);
  void release_later();

  xpu::Stream stream_;  // the one it was made for
  void* data_;
  std::size_t bytes_;
  Owner owner_;
  std::function<void()> release_;  // what frees memory that no pool of the runtime knows
  std::mutex mutex_;
  std::shared_ptr<Moment> last_use_;  // of memory that no pool knows; under mutex_
  bool exposed_ = false;              // under the registry's mutex
};

}  // namespace xla_xpu

// All streams of a device.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "streams/stream_state.h"

namespace xpu {

/// Streams are added and never removed, so readers need no lock and addresses are stable.
class StreamTable {
 public:
  StreamTable() = default;
  ~StreamTable();
  StreamTable(const StreamTable&) = delete;
  StreamTable& operator=(const StreamTable&) = delete;

  /// The device's default stream; null until add() has made it. Thread-safe.
  std::atomic<StreamState*> default_stream{nullptr};
  std::mutex mutex;                     ///< held while a stream is added, and for `pool` and `next_in_pool`
  static constexpr int pool_size = 32;  // as many as PyTorch's other devices have
  std::array<std::array<StreamState*, pool_size>, 3> pool{};
  std::array<unsigned, 3> next_in_pool{};

  /// The caller holds `mutex`.
  template <class... Arguments>
  StreamState& add(Arguments&&... arguments);
  int size() const;
  /// The stream with this handle, or null if there is none. Thread-safe, never blocks.
  StreamState* find(std::uintptr_t handle) const noexcept;
  /// Calls `visit(StreamState&)` for each stream in the order of their ids. Thread-safe.
  template <class Visit>
  void for_each(Visit visit) const;

 private:
  struct Chunk {
    static constexpr std::size_t capacity = 64;
    alignas(StreamState) std::byte memory[capacity * sizeof(StreamState)];
    std::atomic<std::size_t> count{0};
    std::atomic<Chunk*> next{nullptr};

    StreamState* at(std::size_t i) {
      return std::launder(reinterpret_cast<StreamState*>(memory + i * sizeof(StreamState)));
    }
  };

  mutable Chunk first_;
};

template <class... Arguments>
StreamState& StreamTable::add(Arguments&&... arguments) {
  Chunk* last = &first_;
  while (auto* next = last->next.load()) last = next;
  if (last->count == Chunk::capacity) {
    last->next = new Chunk;
    last = last->next;
  }
  auto* added = new (last->memory + last->count * sizeof(StreamState))
      StreamState(std::forward<Arguments>(arguments)...);
  last->count.fetch_add(1, std::memory_order_release);
  return *added;
}

template <class Visit>
void StreamTable::for_each(Visit visit) const {
  for (Chunk* chunk = &first_; chunk; chunk = chunk->next)
    for (std::size_t i = 0, count = chunk->count; i < count; ++i) visit(*chunk->at(i));
}

}  // namespace xpu

#include "streams/stream_table.h"

#include <deque>

#include "process/immortal.h"
#include "process/startup.h"
#include "xpu/device.h"
#include "xpu/error.h"
#include "xpu/trace.h"

namespace xpu {
namespace {

StreamTable& table_of(int device) {
  device_info(device);  // throws for an unknown device
  static auto& tables = immortal<std::deque<StreamTable>>(static_cast<std::size_t>(device_count()));
  return tables[device];
}

/// The caller holds the table's mutex.
StreamState& add(StreamTable& table, int device, int priority, sycl::queue queue, bool external) {
  // On other backends, and where they are simulated, waiting host threads do not compute.
  bool on_cpu = device_info(device).type == "cpu" && !generic_backend();
  auto& added = table.add(device, table.size(), priority, on_cpu, external, std::move(queue));
  if (trace::active()) set_profiling(added, true);
  return added;
}

/// The caller holds the table's mutex.
StreamState& ensure_default(StreamTable& table, int device) {
  if (!table.default_stream)
    table.default_stream = &add(table, device, 0, make_queue(device, 0, false), false);
  return *table.default_stream;
}

thread_local std::vector<StreamState*> current;  // by device; null: the default stream

StreamState* chosen_stream(int device) {
  return device >= 0 && static_cast<std::size_t>(device) < current.size() ? current[device] : nullptr;
}

}  // namespace

StreamTable::~StreamTable() {
  for_each([](StreamState& stream) { stream.~StreamState(); });
  while (auto* chunk = first_.next.load()) {
    first_.next = chunk->next.load();
    delete chunk;
  }
}

int StreamTable::size() const {
  std::size_t size = 0;
  for (Chunk* chunk = &first_; chunk; chunk = chunk->next) size += chunk->count;
  return static_cast<int>(size);
}

StreamState* StreamTable::find(std::uintptr_t handle) const noexcept {
  for (Chunk* chunk = &first_; chunk; chunk = chunk->next) {
    auto index = (handle - reinterpret_cast<std::uintptr_t>(chunk->memory)) / sizeof(StreamState);
    if (index >= chunk->count.load(std::memory_order_acquire)) continue;
    auto* found = chunk->at(index);
    return Stream(found).handle() == handle ? found : nullptr;
  }
  return nullptr;
}

Stream default_stream(int device) {
  auto& table = table_of(device);
  if (auto* known = table.default_stream.load(std::memory_order_acquire)) [[likely]]
    return Stream(known);
  std::lock_guard lock(table.mutex);
  return Stream(&ensure_default(table, device));
}

Stream current_stream(int device) {
  auto* chosen = chosen_stream(device);
  return chosen ? Stream(chosen) : default_stream(device);
}

Stream exchange_stream(Stream stream) {
  expect<UsageError>(static_cast<bool>(stream), "an empty stream cannot be made current");
  int device = stream.device();
  Stream before = current_stream(device);
  if (current.size() <= static_cast<std::size_t>(device)) current.resize(device_count());
  current[device] = stream.state();
  return before;
}

Stream stream_from_pool(int device, int priority) {
  startup::require_thread_allowed();
  expect<UsageError>(priority >= -1 && priority <= 1, "stream priority: got ", priority,
                     ", expected -1 (high), 0 or 1 (low)");
  auto& table = table_of(device);
  std::lock_guard lock(table.mutex);
  ensure_default(table, device);
  auto& slot = table.pool[priority + 1][table.next_in_pool[priority + 1]++ % StreamTable::pool_size];
  if (!slot) slot = &add(table, device, priority, make_queue(device, priority, false), false);
  return Stream(slot);
}

Stream private_stream(int device) {
  startup::require_thread_allowed();
  auto& table = table_of(device);
  std::lock_guard lock(table.mutex);
  ensure_default(table, device);
  return Stream(&add(table, device, 0, make_queue(device, 0, false), false));
}

Stream stream_of_handle(int device, std::uintptr_t handle) {
  auto* found = table_of(device).find(handle);
  if (!found) [[unlikely]]
    fail<UsageError>("device ", device, " has no stream with handle ", handle,
                     "; a handle is what Stream::handle() returns in this process");
  return Stream(found);
}

Stream stream_of_handle(std::uintptr_t handle) {
  for (int device = 0; device < device_count(); ++device)
    if (auto* found = table_of(device).find(handle)) return Stream(found);
  fail<UsageError>("no device has a stream with handle ", handle,
                   "; a handle is what Stream::handle() returns in this process");
}

Stream external_stream(sycl::queue& queue) {
  expect<UsageError>(queue.is_in_order(),
                     "an external queue must be in order: create it with sycl::property::queue::in_order");
  for (int device = 0; device < device_count(); ++device) {
    if (sycl_device(device) != queue.get_device()) continue;
    expect<UsageError>(sycl_context(device) == queue.get_context(),
                       "the external queue has a context of its own, so memory of "
                       "this process cannot be used on it; create the queue with xpu::sycl_context(",
                       device, ")");
    auto& table = table_of(device);
    std::lock_guard lock(table.mutex);
    ensure_default(table, device);
    StreamState* known = nullptr;
    table.for_each([&](StreamState& state) {
      if (state.own.sycl == queue) known = &state;
    });
    return Stream(known ? known : &add(table, device, 0, queue, true));
  }
  fail<UsageError>("the external queue's device is not one of this process's xpu devices");
}

std::vector<Stream> all_streams(int device) {
  std::vector<Stream> found;
  table_of(device).for_each([&](StreamState& state) { found.push_back(Stream(&state)); });
  return found;
}

}  // namespace xpu

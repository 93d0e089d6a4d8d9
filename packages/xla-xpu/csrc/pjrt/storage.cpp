#include "pjrt/storage.h"

#include <cstdlib>
#include <new>
#include <unordered_map>
#include <utility>

#include "pjrt/error.h"
#include "xpu/host_memory.h"
#include "xpu/log.h"
#include "xpu/memory.h"

namespace xla_xpu {
namespace {

constexpr std::size_t host_alignment = 64;

xpu::memory::Owner jax() {
  static const auto owner = xpu::memory::owner("jax");
  return owner;
}

struct Registry {
  std::mutex mutex;
  struct Entry {
    std::weak_ptr<Storage> storage;
    MinorToMajor order;
  };
  std::unordered_map<const void*, Entry> storages;
};

Registry& registry() {
  static auto* one = new Registry;
  return *one;
}

}  // namespace

Storage::Storage(Memory& memory, void* data, std::size_t bytes, Owner owner)
    : stream_(memory.device->stream), data_(data), bytes_(bytes), owner_(owner) {}

std::shared_ptr<Storage> Storage::make(Memory& memory, std::size_t bytes) {
  auto storage = [&](void* data, Owner owner) {
    return std::shared_ptr<Storage>(new Storage(memory, data, bytes, owner));
  };
  switch (memory.kind) {
    case MemoryKind::device:
      return storage(xpu::memory::allocate(bytes, memory.device->stream, jax()), Owner::pool);
    case MemoryKind::pinned_host:
      return storage(xpu::host_memory::allocate(bytes), Owner::pinned);
    case MemoryKind::unpinned_host:
      break;
  }
  void* data = nullptr;
  if (bytes) {
    std::size_t whole = (bytes + host_alignment - 1) / host_alignment * host_alignment;
    data = std::aligned_alloc(host_alignment, whole);
    if (!data) throw std::bad_alloc();
  }
  auto host_storage = storage(data, Owner::host);
  host_storage->on_release([data] { std::free(data); });
  return host_storage;
}

std::shared_ptr<Storage> Storage::view(Memory& memory, void* data, std::size_t bytes) {
  return std::shared_ptr<Storage>(new Storage(memory, data, bytes, Owner::other));
}

Storage::Registration Storage::find(const void* data) {
  std::lock_guard lock(registry().mutex);
  auto found = registry().storages.find(data);
  if (found == registry().storages.end()) return {};
  return {found->second.storage.lock(), found->second.order};
}

void Storage::register_address(const std::shared_ptr<Storage>& self, const MinorToMajor& order) {
  if (!data_) return;
  std::lock_guard lock(registry().mutex);
  is_registered_ = true;
  registry().storages[data_] = {self, order};
}

void Storage::record_stream(xpu::Stream stream) {
  switch (owner_) {
    case Owner::pool:
      if (stream != stream_) xpu::memory::record_stream(data_, stream);
      return;
    case Owner::pinned:
      return xpu::host_memory::record_stream(data_, stream);
    case Owner::other:
      if (xpu::memory::find(data_).base) {
        // The pool that owns the memory does not reuse it before that work has completed.
        xpu::memory::record_stream(data_, stream);
        return;
      }
      [[fallthrough]];
    case Owner::host:
      break;
  }
  std::lock_guard lock(mutex_);
  // The last use then completes after all earlier ones.
  if (last_use_) last_use_->order_before(stream);
  last_use_ = CompletionEvent::record(stream);
}

Storage::~Storage() {
  if (is_registered_) {
    std::lock_guard lock(registry().mutex);
    auto found = registry().storages.find(data_);
    // Another storage may have the address by now.
    if (found != registry().storages.end() && found->second.storage.expired())
      registry().storages.erase(found);
  }
  switch (owner_) {
    case Owner::pool:
      xpu::memory::deallocate(data_);
      break;
    case Owner::pinned:
      xpu::host_memory::deallocate(data_);
      break;
    case Owner::host:
    case Owner::other:
      release_later();
      break;
  }
}

void Storage::release_later() {
  if (!release_) return;
  if (!last_use_) return release_();
  try {
    last_use_->then([release = std::move(release_)](const std::exception_ptr&) { release(); });
  } catch (const std::exception& e) {
    xpu::log(xpu::LogLevel::warning,
             xpu::join("jax: imported memory could not be returned to its owner: ", e.what()));
  }
}

}  // namespace xla_xpu

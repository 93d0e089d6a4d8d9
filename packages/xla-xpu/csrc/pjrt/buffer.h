// PJRT_Buffer: an array on a device, with the event after which its memory holds the values. Thread-safe.
#pragma once

#include <pjrt_c_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/layout.h"
#include "pjrt/storage.h"

struct PJRT_Buffer {
  PJRT_Buffer(xla_xpu::Memory& memory, int type, std::vector<std::int64_t> dims,
              std::shared_ptr<xla_xpu::Storage> storage, std::shared_ptr<xla_xpu::CompletionEvent> ready,
              xla_xpu::MinorToMajor order = {})
      : memory(memory),
        type(type),
        dims(std::move(dims)),
        order(std::move(order)),
        ready(std::move(ready)),
        storage_(std::move(storage)) {}

  /// Returns a reference that keeps the memory alive. Throws PjrtFailure if the buffer was deleted or
  /// donated.
  std::shared_ptr<xla_xpu::Storage> storage() const;
  bool deleted() const;
  /// Deletes the buffer and returns its memory; null if it was already deleted.
  std::shared_ptr<xla_xpu::Storage> take();
  /// Keeps the memory alive for an external user, even after the buffer is deleted.
  void add_external_reference();
  /// Throws PjrtFailure if there is no external reference.
  void drop_external_reference();

  xla_xpu::Memory& memory;
  const int type;
  const std::vector<std::int64_t> dims;
  const xla_xpu::MinorToMajor order;
  const std::shared_ptr<xla_xpu::CompletionEvent> ready;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<xla_xpu::Storage> storage_;  // null: deleted
  // One for each add_external_reference().
  std::vector<std::shared_ptr<xla_xpu::Storage>> external_references_;
};

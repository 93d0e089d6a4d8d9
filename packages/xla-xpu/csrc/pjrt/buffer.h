// An array on a device: its type and shape, its memory, and when that holds the values.
#pragma once

#include <pjrt_c_api.h>

#include <memory>
#include <mutex>
#include <vector>

#include "pjrt/layout.h"
#include "pjrt/storage.h"

struct PJRT_Buffer {
  PJRT_Buffer(xla_xpu::Memory& memory, int type, std::vector<std::int64_t> dims,
              std::shared_ptr<xla_xpu::Storage> storage, std::shared_ptr<xla_xpu::Moment> ready,
              xla_xpu::Order order = {})
      : memory(memory),
        type(type),
        dims(std::move(dims)),
        order(std::move(order)),
        ready(std::move(ready)),
        storage_(std::move(storage)) {}

  /// What a use of the buffer keeps while it lasts. Throws when the buffer was deleted or donated.
  std::shared_ptr<xla_xpu::Storage> storage() const;
  bool deleted() const;
  /// Gives up the memory; null when that happened before.
  std::shared_ptr<xla_xpu::Storage> take();
  /// Keeps the memory for somebody outside, even when the buffer is deleted.
  void hold();
  void let_go();

  xla_xpu::Memory& memory;
  const int type;
  const std::vector<std::int64_t> dims;
  const xla_xpu::Order order;
  const std::shared_ptr<xla_xpu::Moment> ready;

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<xla_xpu::Storage> storage_;            // null: deleted
  std::vector<std::shared_ptr<xla_xpu::Storage>> held_;  // one for each hold()
};

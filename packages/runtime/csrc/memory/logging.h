// An adaptor that writes a line of CSV for each allocate and free.
#pragma once

#include <atomic>
#include <cstdio>
#include <mutex>
#include <string>

#include "xpu/memory_resource.h"

namespace xpu::memory {

/// The log file, shared by the pools of all devices, with the columns
/// time_ns,thread,action,address,bytes,device,stream,owner. Thread-safe.
class XPU_API AllocationLog {
 public:
  /// Starts a new file; "" closes the log. Throws UsageError if the file cannot be written.
  void open(const std::string& path);
  bool is_open() const { return open_.load(std::memory_order_relaxed); }
  void write(const char* action, const void* ptr, std::size_t bytes, Stream stream, Owner owner) noexcept;

 private:
  std::atomic<bool> open_{false};
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  std::string path_;
};

class XPU_API LoggingResource final : public Resource {
 public:
  LoggingResource(Resource& upstream, AllocationLog& allocation_log)
      : upstream_(upstream), log_(allocation_log) {}
  void* allocate(std::size_t bytes, Stream stream, Owner owner) override;
  void deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept override;
  std::size_t release_unused() override { return upstream_.release_unused(); }

 private:
  Resource& upstream_;
  AllocationLog& log_;
};

}  // namespace xpu::memory

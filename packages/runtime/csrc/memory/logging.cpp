#include "memory/logging.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "xpu/error.h"
#include "xpu/log.h"
#include "xpu/memory.h"

namespace xpu::memory {

void AllocationLog::open(const std::string& path) {
  std::lock_guard lock(mutex_);
  if (file_ && std::fclose(file_) != 0)
    log(LogLevel::error, join("the allocation log ", path_, " is incomplete: ", std::strerror(errno)));
  file_ = nullptr;
  open_ = false;
  if (path.empty()) return;
  file_ = std::fopen(path.c_str(), "w");
  expect<UsageError>(file_, "cannot write the allocation log ", path, ": ", std::strerror(errno));
  path_ = path;
  std::fputs("time_ns,thread,action,address,bytes,device,stream,owner\n", file_);
  open_ = true;
}

void AllocationLog::write(const char* action, const void* ptr, std::size_t bytes, Stream stream,
                          Owner owner) noexcept {
  using namespace std::chrono;
  auto time = duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
  std::lock_guard lock(mutex_);
  if (!file_) return;
  int written = std::fprintf(file_, "%lld,%ld,%s,%p,%zu,%d,%lld,%s\n", static_cast<long long>(time),
                             syscall(SYS_gettid), action, ptr, bytes, stream ? stream.device() : -1,
                             stream ? static_cast<long long>(stream.id()) : -1, owner_name(owner).c_str());
  if (written >= 0) return;
  log(LogLevel::error, join("the allocation log ", path_, " stops here: ", std::strerror(errno)));
  std::fclose(file_);
  file_ = nullptr;
  open_ = false;
}

void* LoggingResource::allocate(std::size_t bytes, Stream stream, Owner owner) {
  try {
    void* ptr = upstream_.allocate(bytes, stream, owner);
    if (log_.is_open()) log_.write("allocate", ptr, bytes, stream, owner);
    return ptr;
  } catch (const OutOfMemory&) {
    if (log_.is_open()) log_.write("allocate_failure", nullptr, bytes, stream, owner);
    throw;
  }
}

// Logs before the free, so that the lines of one address are in the order of its allocations.
void LoggingResource::deallocate(void* ptr, std::size_t bytes, Stream stream) noexcept {
  if (log_.is_open()) log_.write("free", ptr, bytes, stream, 0);
  upstream_.deallocate(ptr, bytes, stream);
}

}  // namespace xpu::memory

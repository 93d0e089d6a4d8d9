// The few names of SYCL's that PyTorch's headers of compiled programs use, over the functions of torch-xpu.
//
// So a program depends neither on SYCL's headers, which take long to compile, nor on the version of its
// library, and its memory comes from the pool that all programs share.
#pragma once

#include <cstddef>
#include <utility>

#include <torch/csrc/inductor/aoti_runtime/utils.h>
#include <torch_xpu/aoti/runtime.h>

namespace sycl {

namespace info {
enum class event_command_status { submitted, complete };
namespace event {
struct command_execution_status {};
}  // namespace event
}  // namespace info

/// Has completed unless it is that of a barrier.
class event {
 public:
  event() = default;
  explicit event(XpuEventHandle handle) : handle_(handle) {}
  event(event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  event& operator=(event&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~event() {
    if (handle_) aoti_torch_xpu_delete_event(handle_);
  }

  void wait() {
    if (handle_) AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_wait_event(handle_));
  }
  void wait_and_throw() { wait(); }
  template <class Status>
  info::event_command_status get_info() {
    std::int32_t complete = 1;
    if (handle_) AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_query_event(handle_, &complete));
    return complete ? info::event_command_status::complete : info::event_command_status::submitted;
  }

 private:
  XpuEventHandle handle_ = nullptr;
};

/// Stands at the address that identifies a stream. Nobody makes one.
class queue {
 public:
  queue() = delete;
  event ext_oneapi_submit_barrier() {
    XpuEventHandle made = nullptr;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_record_event(this, &made));
    return event(made);
  }
  event memcpy(void* to, const void* from, std::size_t bytes) {
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_copy(this, to, from, bytes));
    return event();
  }
};

inline void* malloc_device(std::size_t bytes, queue& stream) {
  void* memory = nullptr;
  AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_xpu_allocate(&stream, bytes, &memory));
  return memory;
}
inline void free(void* memory, queue&) {
  aoti_torch_xpu_deallocate(memory);
}

}  // namespace sycl

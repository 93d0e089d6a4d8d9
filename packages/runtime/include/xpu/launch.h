// The one door through which work reaches a device.
#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

enum class WorkKind { kernel, copy, fill, dnn, graph, marker };

/// What a piece of work is called in traces and error messages.
struct WorkInfo {
  WorkKind kind;
  std::string_view name;
  std::size_t bytes = 0;
};

/// Calls a callable without owning or allocating; must not outlive it.
class Submit {
 public:
  template <class F, class = std::enable_if_t<!std::is_same_v<std::decay_t<F>, Submit>>>
  Submit(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        call_([](void* o, sycl::queue& q, sycl::event* e) { (*static_cast<std::remove_reference_t<F>*>(o))(q, e); }) {}
  void operator()(sycl::queue& queue, sycl::event* event) const { call_(object_, queue, event); }

 private:
  void* object_;
  void (*call_)(void*, sycl::queue&, sycl::event*);
};

/// Runs `submit(queue, event)` on the stream's queue. When `event` is not null the submission must store its event
/// there. Adds what every submission needs: the check for a forked child, the strict-memory window, the trace record,
/// translation of SYCL's exceptions.
XPU_API void enqueue(Stream stream, const WorkInfo& info, Submit submit);

}  // namespace xpu

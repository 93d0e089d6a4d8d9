// All device work goes through enqueue(): it applies capture, traces and strict memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <type_traits>

#include "xpu/abi.h"
#include "xpu/stream.h"
#include "xpu/sycl_fwd.h"

namespace xpu {

enum class WorkKind { kernel, copy, fill, dnn, graph, marker };

/// The name of a submission in traces and error messages, and the bytes that it moves.
struct WorkInfo {
  WorkKind kind;
  std::string_view name;
  std::size_t bytes = 0;
};

/// Reference to a callable, without allocation; must not outlive it. The callable is copied only if a graph
/// captures it: by its member `clone()` if it has one, otherwise by its copy constructor.
class EnqueueFunction {
 public:
  template <class F>
  static constexpr bool other = !std::is_same_v<std::decay_t<F>, EnqueueFunction>;

  template <class F, class = std::enable_if_t<other<F>>>
  EnqueueFunction(F&& f)
      : object_(const_cast<void*>(static_cast<const void*>(&f))),
        table_(&table_of<std::remove_reference_t<F>>) {}
  void operator()(sycl::queue& queue, sycl::event* event) const { table_->call(object_, queue, event); }

  class Owned;
  /// Returns a copy of the callable, for a graph.
  Owned clone() const;

 private:
  struct Table {
    void (*call)(void*, sycl::queue&, sycl::event*);
    Owned (*clone)(void*);
  };
  template <class F>
  static Owned clone_of(void* object);
  template <class F>
  static constexpr Table table_of{
      [](void* o, sycl::queue& q, sycl::event* e) { (*static_cast<F*>(o))(q, e); },
      [](void* o) { return clone_of<F>(o); },
  };

  void* object_;
  const Table* table_;
};

class EnqueueFunction::Owned {
 public:
  template <class F>
  explicit Owned(F* copy) : object_(copy, [](void* o) { delete static_cast<F*>(o); }), function_(*copy) {}
  const EnqueueFunction& view() const { return function_; }

 private:
  std::unique_ptr<void, void (*)(void*)> object_;
  EnqueueFunction function_;
};

template <class F>
EnqueueFunction::Owned EnqueueFunction::clone_of(void* object) {
  F& f = *static_cast<F*>(object);
  if constexpr (requires { f.clone(); })
    return Owned(new auto(f.clone()));
  else
    return Owned(new std::decay_t<F>(f));
}

inline EnqueueFunction::Owned EnqueueFunction::clone() const {
  return table_->clone(object_);
}

/// Calls `function(queue, event)`, which submits work to the queue; if `event` is not null it must store the
/// work's event there. If a graph captures the stream, the function is kept instead. It must not call
/// enqueue() itself. Thread-safe. Does not wait for the work, but blocks while too much is pending on a CPU
/// stream. SYCL's exceptions become the runtime's; throws DeviceError in a forked child and after shutdown.
XPU_API void enqueue(Stream stream, const WorkInfo& info, EnqueueFunction function);

/// While the guard is alive, enqueue() on its thread only selects and builds kernels. Device memory is not
/// touched. Guards nest; destroy one on the thread that made it.
class XPU_API DryRunGuard {
 public:
  DryRunGuard();
  ~DryRunGuard();
  DryRunGuard(const DryRunGuard&) = delete;
  DryRunGuard& operator=(const DryRunGuard&) = delete;
};

}  // namespace xpu

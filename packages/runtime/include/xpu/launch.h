// The one door through which work reaches a device.
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

/// What a piece of work is called in traces and error messages.
struct WorkInfo {
  WorkKind kind;
  std::string_view name;
  std::size_t bytes = 0;
};

/// Calls a callable without owning or allocating; must not outlive it.
/// The callable is copied only when a graph keeps it: it then gives `clone()`, or holds what it needs by value.
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
  /// A copy that keeps what it needs.
  Owned clone() const;

 private:
  struct Table {
    void (*call)(void*, sycl::queue&, sycl::event*);
    Owned (*own)(void*);
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
  explicit Owned(F* kept) : object_(kept, [](void* o) { delete static_cast<F*>(o); }), submit_(*kept) {}
  const EnqueueFunction& view() const { return submit_; }

 private:
  std::unique_ptr<void, void (*)(void*)> object_;
  EnqueueFunction submit_;
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
  return table_->own(object_);
}

/// Runs `submit(queue, event)` on the stream's queue. When `event` is not null the submission must store its
/// event there. It must not come back through this door. Adds what every submission needs: the check for a
/// forked child, the strict-memory window, the trace record, translation of SYCL's exceptions.
XPU_API void enqueue(Stream stream, const WorkInfo& info, EnqueueFunction submit);

/// While one lives, nothing that its thread enqueues reaches a device. What comes before still happens:
/// kernels and primitives are chosen and built, so that the performance need not wait for that. Memory is not
/// touched.
class XPU_API DryRunGuard {
 public:
  DryRunGuard();
  ~DryRunGuard();
  DryRunGuard(const DryRunGuard&) = delete;
  DryRunGuard& operator=(const DryRunGuard&) = delete;
};

}  // namespace xpu

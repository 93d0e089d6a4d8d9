// Adds records to the active trace. Thread-safe. Call only while trace::active().
#pragma once

#include <optional>
#include <string_view>
#include <sycl/sycl.hpp>

#include "xpu/enqueue.h"
#include "xpu/trace.h"

namespace xpu::trace {

/// The events from whose profiling data the device times of a piece of work are read.
struct TimingEvents {
  std::optional<sycl::event> previous;  ///< the work begins when this ends; empty: when `work` starts
  std::optional<sycl::event> work;
};

void record_work(Stream stream, const WorkInfo& info, std::uint64_t begin, std::uint64_t end,
                 TimingEvents events);
/// `total`: bytes allocated on the device afterwards.
void record_memory(bool allocate, std::size_t bytes, int device, std::int64_t stream, std::uint64_t total);
void record_host(Record::Kind kind, std::string_view name, std::uint64_t begin, std::uint64_t end);

}  // namespace xpu::trace

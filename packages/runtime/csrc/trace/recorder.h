// Where records go while a trace is active.
#pragma once

#include <optional>
#include <string_view>
#include <sycl/sycl.hpp>

#include "xpu/launch.h"
#include "xpu/trace.h"

namespace xpu::trace {

/// The events whose times are the device's times of a piece of work.
struct DeviceTimes {
  std::optional<sycl::event>
      after;  ///< the work begins when this ends; without it the work's own event knows
  std::optional<sycl::event> work;
};

void note_work(Stream stream, const WorkInfo& info, std::uint64_t begin, std::uint64_t end,
               DeviceTimes times);
/// `total`: bytes allocated on the device afterwards.
void note_memory(bool allocate, std::size_t bytes, int device, std::int64_t stream, std::uint64_t total);
void note_host(Record::Kind kind, std::string_view name, std::uint64_t begin, std::uint64_t end);

}  // namespace xpu::trace

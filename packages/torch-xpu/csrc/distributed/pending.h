// A collective of a group that has not completed, for the files of the group.
#pragma once

#include <chrono>
#include <exception>
#include <optional>
#include <string>
#include <vector>

#include "distributed/group.h"
#include "xpu/event.h"
#include "xpu/trace.h"

namespace torch_xpu::distributed {

struct Group::Pending {
  Call call;
  std::vector<Steps> pieces;
  std::uint64_t number;
  std::chrono::milliseconds timeout;
  xpu::Event before;  ///< the work that was pending on the caller's stream
  c10::intrusive_ptr<StagedWork> work;
  std::vector<std::vector<c10::intrusive_ptr<c10d::Work>>> transport_works;  ///< of each piece
  std::optional<xpu::trace::Span> span;                                      ///< while the transport has it
  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

/// Returns a DistBackendError.
std::exception_ptr backend_error(const std::string& text);

}  // namespace torch_xpu::distributed

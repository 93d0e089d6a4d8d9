#include "distributed/flight_record.h"

#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>

#include <chrono>
#include <cstdlib>

#include "distributed/pool_answer.h"

namespace torch_xpu::distributed {
namespace {

bool is_wanted() {
  return std::getenv("TORCH_FR_DUMP_TEMP_FILE") || std::getenv("TORCH_NCCL_DEBUG_INFO_TEMP_FILE");
}

}  // namespace

std::string write_flight_record(int rank) {
  if (!is_wanted()) return "";
  auto file = pool_answer(std::chrono::seconds(1), [rank] {
    bool has_stack_traces = c10d::getCvarBool(c10d::TORCH_INCLUDE_STACK_TRACE, true);
    bool has_pending_only = c10d::getCvarBool(c10d::TORCH_INCLUDE_ONLY_ACTIVE, false);
    auto& writer = c10d::DebugInfoWriter::getWriter(rank);
    writer.write(c10d::dump_fr_trace(true, has_stack_traces, has_pending_only));
    return writer.getWriterTarget();
  });
  return file.value_or("");
}

}  // namespace torch_xpu::distributed

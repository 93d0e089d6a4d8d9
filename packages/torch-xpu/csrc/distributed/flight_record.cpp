#include "distributed/flight_record.h"

#include <torch/csrc/distributed/c10d/FlightRecorder.hpp>
#include <torch/csrc/distributed/c10d/Utils.hpp>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>

#include "distributed/lane.h"

namespace torch_xpu::distributed {
namespace {

bool is_wanted() {
  return std::getenv("TORCH_FR_DUMP_TEMP_FILE") || std::getenv("TORCH_NCCL_DEBUG_INFO_TEMP_FILE");
}

}  // namespace

std::string write_flight_record(int rank) {
  if (!is_wanted()) return "";
  auto answer = std::make_shared<std::promise<std::string>>();
  auto file = answer->get_future();
  run_on_pool([answer, rank] {
    try {
      bool has_stack_traces = c10d::getCvarBool(c10d::TORCH_INCLUDE_STACK_TRACE, true);
      bool has_pending_only = c10d::getCvarBool(c10d::TORCH_INCLUDE_ONLY_ACTIVE, false);
      auto& writer = c10d::DebugInfoWriter::getWriter(rank);
      writer.write(c10d::dump_fr_trace(true, has_stack_traces, has_pending_only));
      answer->set_value(writer.getWriterTarget());
    } catch (...) {
      answer->set_exception(std::current_exception());
    }
  });
  if (file.wait_for(std::chrono::seconds(1)) != std::future_status::ready) return "";
  try {
    return file.get();
  } catch (const std::exception&) {
    return "";  // the collective's own error matters more
  }
}

}  // namespace torch_xpu::distributed

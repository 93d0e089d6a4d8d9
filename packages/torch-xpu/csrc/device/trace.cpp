#include "device/trace.h"

#include "device/errors.h"
#include "xpu/trace.h"

namespace torch_xpu {
namespace {

using RecordKind = xpu::trace::Record::Kind;

bool is_work(RecordKind kind) {
  return kind == RecordKind::kernel || kind == RecordKind::copy || kind == RecordKind::fill ||
         kind == RecordKind::dnn || kind == RecordKind::graph;
}

TracedWork::Kind kind_of(RecordKind kind) {
  return kind == RecordKind::copy   ? TracedWork::Kind::copy
         : kind == RecordKind::fill ? TracedWork::Kind::fill
                                    : TracedWork::Kind::kernel;
}

}  // namespace

std::vector<TracedWork> traced_work() {
  std::vector<TracedWork> out;
  for (auto& record : translate_errors([] { return xpu::trace::stop(); })) {
    if (!is_work(record.kind)) continue;
    TracedWork work;
    work.kind = kind_of(record.kind);
    work.name = std::move(record.name);
    work.device = record.device;
    work.stream = record.stream;
    work.thread = record.thread;
    work.correlation = record.correlation;
    work.bytes = record.bytes;
    work.host_begin = static_cast<std::int64_t>(record.host_begin);
    work.host_end = static_cast<std::int64_t>(record.host_end);
    work.device_begin = static_cast<std::int64_t>(record.device_begin);
    work.device_end = static_cast<std::int64_t>(record.device_end);
    out.push_back(std::move(work));
  }
  return out;
}

}  // namespace torch_xpu

#include "pjrt/extensions/xspace.h"

#include <chrono>
#include <map>

#include "pjrt/extensions/protobuf.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

using xpu::trace::Record;
constexpr std::uint64_t ps_per_ns = 1000;

// The runtime records times of the steady clock; the profiler expects the wall clock.
std::uint64_t wall_minus_steady() {
  using namespace std::chrono;
  auto wall = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  return static_cast<std::uint64_t>(wall) - xpu::trace::now();
}

/// The numbers of the events' names: a plane stores each name once, and its events refer to it by number.
class Names {
 public:
  std::uint64_t of(const std::string& name) {
    return numbers_.try_emplace(name, numbers_.size() + 1).first->second;
  }
  void write(ProtoWriter& plane) const {
    for (const auto& [name, number] : numbers_) {
      auto metadata = ProtoWriter().number(1, number).bytes(2, name);                    // id, name
      plane.bytes(4, ProtoWriter().number(1, number).bytes(2, metadata.text()).text());  // event_metadata
    }
  }

 private:
  std::map<std::string, std::uint64_t> numbers_;
};

// A serialized XLine: the events of one stream, whose times count from the line's start. `shift` converts the
// steady clock to the wall clock.
std::string line_of(std::int64_t stream, const std::vector<const Record*>& records, Names& names,
                    std::uint64_t shift) {
  std::uint64_t start = records.front()->device_begin;
  for (const auto* record : records) start = std::min(start, record->device_begin);
  ProtoWriter line;
  line.number(1, static_cast<std::uint64_t>(stream))  // id
      .bytes(2, xpu::join("Stream #", stream))        // name
      .number(3, start + shift);                      // timestamp_ns
  for (const auto* record : records) {
    ProtoWriter event;
    event
        .number(1, names.of(record->name))                                    // metadata_id
        .number(2, (record->device_begin - start) * ps_per_ns)                // offset_ps
        .number(3, (record->device_end - record->device_begin) * ps_per_ns);  // duration_ps
    line.bytes(4, event.text());                                              // events
  }
  return line.text();
}

}  // namespace

std::string xspace_of(const std::vector<Record>& records) {
  std::map<int, std::map<std::int64_t, std::vector<const Record*>>> devices;
  for (const auto& record : records)
    if (record.device_end)  // otherwise the record is of work on the host
      devices[record.device][record.stream].push_back(&record);
  auto shift = wall_minus_steady();
  ProtoWriter space;
  for (const auto& [device, streams] : devices) {
    Names names;
    ProtoWriter plane;
    // id, name. Viewers show planes whose name begins with "/device:CUSTOM:" as devices.
    plane.number(1, static_cast<std::uint64_t>(device)).bytes(2, xpu::join("/device:CUSTOM:XPU:", device));
    for (const auto& [stream, events] : streams)
      plane.bytes(3, line_of(stream, events, names, shift));  // lines
    names.write(plane);
    space.bytes(1, plane.text());  // planes
  }
  return space.text();
}

}  // namespace xla_xpu

#include "python/device/history_module.h"

#include <pybind11/stl.h>

#include "device/errors.h"
#include "device/history.h"

namespace py = pybind11;

// PyTorch's, which its header declares beside a JSON library that the wheel does not carry.
namespace torch {
std::vector<py::object> py_symbolize(std::vector<CapturedTraceback*>& to_symbolize);
}

namespace torch_xpu {
namespace {

using history::Traceback;

// Many tracebacks at once: frames that they share become one object.
class Frames {
 public:
  explicit Frames(const history::Recorded& recorded) {
    for (auto& device : recorded.devices)
      for (auto& event : device) add(event.traceback);
    for (auto& [_, traceback] : recorded.blocks) add(traceback);
    symbolized_ = torch::py_symbolize(tracebacks_);
  }
  py::object of(const Traceback& traceback) const {
    return traceback ? symbolized_[number_.at(traceback.get())] : py::object(py::list());
  }

 private:
  void add(const Traceback& traceback) {
    if (traceback && number_.emplace(traceback.get(), tracebacks_.size()).second)
      tracebacks_.push_back(traceback.get());
  }

  std::vector<torch::CapturedTraceback*> tracebacks_;
  std::map<const torch::CapturedTraceback*, std::size_t> number_;
  std::vector<py::object> symbolized_;
};

py::dict describe(const history::Event& event, const Frames& frames) {
  py::dict d;
  d["action"] = event.action;
  d["size"] = event.size;
  d["stream"] = event.stream;
  d["time_us"] = event.time_us;
  d["frames"] = frames.of(event.traceback);
  if (std::string_view(event.action) == "oom")
    d["device_free"] = event.device_free;
  else
    d["addr"] = event.address;
  return d;
}

// The events by device, and the frames of living blocks by address.
py::tuple recorded() {
  auto all = [] {
    py::gil_scoped_release release;
    return translate_errors([] { return history::recorded(); });
  }();
  Frames frames(all);
  py::list devices;
  for (auto& device : all.devices) {
    py::list events;
    for (auto& event : device) events.append(describe(event, frames));
    devices.append(events);
  }
  py::dict blocks;
  for (auto& [address, traceback] : all.blocks) blocks[py::int_(address)] = frames.of(traceback);
  return py::make_tuple(devices, blocks);
}

void record(bool events, const std::string& context, bool cpp, std::size_t max_entries, bool clear,
            const std::set<std::string>& skipped) {
  history::Options options;
  options.events = events;
  options.of_blocks = context != "none";
  options.at_allocation = context == "alloc" || context == "all";
  options.at_free = context == "all";
  options.cpp = cpp;
  options.max_entries = max_entries;
  options.skipped = skipped;
  py::gil_scoped_release release;
  translate_errors([&] { history::start(std::move(options), clear); });
}

}  // namespace

void bind_history(py::module_& m) {
  m.def("record_history", &record, py::arg("events"), py::arg("context"), py::arg("cpp"),
        py::arg("max_entries"), py::arg("clear"), py::arg("skipped"));
  m.def("stop_history", &history::stop, py::call_guard<py::gil_scoped_release>());
  m.def("history", &recorded);
}

}  // namespace torch_xpu

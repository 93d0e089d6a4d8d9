// Steps between the devices of one program: exchange of data, and device ids.
#include <memory>

#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

// Orders later work on each stream after all work now pending on any of them. Does not block the host.
void barrier(std::span<Frame> frames) {
  auto first = frames.front().stream;
  for (auto& frame : frames.subspan(1)) first.wait(frame.stream);
  for (auto& frame : frames.subspan(1)) frame.stream.wait(first);
}

// Fills the array of every device with pieces of other devices' arrays, and the rest with zeros.
class ExchangeStep final : public Step {
 public:
  explicit ExchangeStep(const PlanFields& fields)
      : out_(fields.operand("out")),
        in_(fields.operand("in")),
        bytes_(static_cast<std::size_t>(out_.view.numel()) * xpu::size_of(out_.view.dtype)) {
    for (auto device : fields.list("pieces")) {
      auto& pieces = pieces_.emplace_back();
      for (auto item : py::cast<py::list>(device)) {
        auto values = py::cast<std::vector<std::size_t>>(item);
        pieces.push_back({values.at(0), values.at(1), values.at(2), values.at(3)});
      }
    }
  }

  void list_enqueue_only(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override { run_collective({&frame, 1}); }
  void run_collective(std::span<Frame> frames) const override {
    xpu::expect<xpu::UsageError>(frames.size() == pieces_.size(), "jax: a program for ", pieces_.size(),
                                 " devices exchanges data, but runs on ", frames.size());
    // Devices read only after all have written, and write again only after all have read.
    barrier(frames);
    for (std::size_t i = 0; i < frames.size(); ++i) fill(frames, i);
    barrier(frames);
  }
  bool collective() const override { return true; }

 private:
  struct Piece {
    std::size_t device, source_offset, target_offset, bytes;
  };

  void fill(std::span<Frame> frames, std::size_t i) const {
    auto& frame = frames[i];
    auto* out = static_cast<std::byte*>(frame.at(out_).data);
    std::size_t filled = 0;
    for (auto& piece : pieces_[i]) filled += piece.bytes;
    if (filled < bytes_) xpu::fill_bytes(frame.stream, out, 0, bytes_);
    for (auto& piece : pieces_[i]) {
      auto* in = static_cast<const std::byte*>(frames[piece.device].at(in_).data);
      xpu::copy(frame.stream, out + piece.target_offset, in + piece.source_offset, piece.bytes);
    }
  }

  Operand out_, in_;
  std::size_t bytes_;
  std::vector<std::vector<Piece>> pieces_;  // by device
};

// Writes a device's replica or partition as a u32.
class DeviceIdStep final : public Step {
 public:
  explicit DeviceIdStep(const PlanFields& fields)
      : out_(fields.operand("out")), divisor_(fields.get<int>("divisor")), count_(fields.get<int>("count")) {}
  void run(Frame& frame) const override {
    auto id = static_cast<std::uint32_t>(frame.device_index / divisor_ % count_);
    xpu::fill_pattern(frame.stream, frame.at(out_).data, &id, sizeof(id), 1);
  }

 private:
  Operand out_;
  int divisor_, count_;
};

}  // namespace

std::unique_ptr<Step> make_exchange(const PlanFields& fields) {
  return std::make_unique<ExchangeStep>(fields);
}
std::unique_ptr<Step> make_device_id(const PlanFields& fields) {
  return std::make_unique<DeviceIdStep>(fields);
}

}  // namespace xla_xpu

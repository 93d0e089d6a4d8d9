// What devices of one program know of each other: their numbers, and pieces of their arrays.
#include <memory>

#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/error.h"

namespace xla_xpu {
namespace {

// What is queued afterwards on any of the streams comes after what all of them hold now.
void meet(std::span<Frame> frames) {
  auto first = frames.front().stream;
  for (auto& frame : frames.subspan(1)) first.wait(frame.stream);
  for (auto& frame : frames.subspan(1)) frame.stream.wait(first);
}

// Every device fills its array with pieces of arrays of others; what no piece fills is zero.
class ExchangeStep final : public Step {
 public:
  explicit ExchangeStep(const Fields& fields)
      : out_(fields.operand("out")),
        in_(fields.operand("in")),
        bytes_(static_cast<std::size_t>(out_.view.numel()) * xpu::size_of(out_.view.dtype)) {
    for (auto device : fields.list("pieces")) {
      auto& pieces = pieces_.emplace_back();
      for (auto item : py::cast<py::list>(device)) {
        auto numbers = py::cast<std::vector<std::size_t>>(item);
        pieces.push_back({numbers.at(0), numbers.at(1), numbers.at(2), numbers.at(3)});
      }
    }
  }

  void list_queueing(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override { run_together({&frame, 1}); }
  void run_together(std::span<Frame> frames) const override {
    xpu::expect<xpu::UsageError>(frames.size() == pieces_.size(), "jax: a program for ", pieces_.size(),
                                 " devices exchanges data, but is run on ", frames.size());
    // Nobody reads before the others have written, or writes again before the others have read.
    meet(frames);
    for (std::size_t i = 0; i < frames.size(); ++i) fill(frames, i);
    meet(frames);
  }
  bool collective() const override { return true; }

 private:
  struct Piece {
    std::size_t device, from, to, bytes;
  };

  void fill(std::span<Frame> frames, std::size_t i) const {
    auto& frame = frames[i];
    auto* out = static_cast<std::byte*>(frame.at(out_).data);
    std::size_t filled = 0;
    for (auto& piece : pieces_[i]) filled += piece.bytes;
    if (filled < bytes_) xpu::fill_bytes(frame.stream, out, 0, bytes_);
    for (auto& piece : pieces_[i]) {
      auto* in = static_cast<const std::byte*>(frames[piece.device].at(in_).data);
      xpu::copy(frame.stream, out + piece.to, in + piece.from, piece.bytes);
    }
  }

  Operand out_, in_;
  std::size_t bytes_;
  std::vector<std::vector<Piece>> pieces_;  // by device
};

// A device's replica or partition, as a u32.
class NumberStep final : public Step {
 public:
  explicit NumberStep(const Fields& fields)
      : out_(fields.operand("out")), divisor_(fields.get<int>("divisor")), count_(fields.get<int>("count")) {}
  void run(Frame& frame) const override {
    auto number = static_cast<std::uint32_t>(frame.number / divisor_ % count_);
    xpu::fill_pattern(frame.stream, frame.at(out_).data, &number, sizeof(number), 1);
  }

 private:
  Operand out_;
  int divisor_, count_;
};

}  // namespace

std::unique_ptr<Step> make_exchange(const Fields& fields) {
  return std::make_unique<ExchangeStep>(fields);
}
std::unique_ptr<Step> make_number(const Fields& fields) {
  return std::make_unique<NumberStep>(fields);
}

}  // namespace xla_xpu

// Calls a Python function with copies of arrays in host memory: callbacks, and operations without a device
// kernel. Blocks until pending work of the stream has completed.
#include "exec/host_calls.h"
#include "exec/python_function.h"
#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/host_memory.h"

namespace xla_xpu {
namespace {

class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes) : data_(xpu::host_memory::allocate(bytes)), bytes_(bytes) {}
  ~PinnedBuffer() { xpu::host_memory::deallocate(data_); }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

std::size_t bytes_of(const Operand& operand) {
  return static_cast<std::size_t>(operand.view.numel()) * xpu::size_of(operand.view.dtype);
}

// The function gets the inputs as read-only memoryviews and fills those of the outputs. Operands are
// contiguous. With the field "device", only that device of the program calls it; outputs of the others do not
// change.
class HostCallStep final : public Step {
 public:
  explicit HostCallStep(const PlanFields& fields)
      : function_(fields),
        calls_(host_calls_of(function_.name())),
        device_(fields.get<int>("device", -1)),
        out_(fields.operands("out")),
        in_(fields.operands("in")) {}

  void list_enqueue_only(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override {
    if (device_ >= 0 && frame.device_index != device_) return;
    std::vector<PinnedBuffer> ins, outs;
    for (auto& operand : in_) {
      auto& memory = ins.emplace_back(bytes_of(operand));
      if (memory.bytes()) xpu::copy(frame.stream, memory.data(), frame.at(operand).data, memory.bytes());
    }
    for (auto& operand : out_) outs.emplace_back(bytes_of(operand));
    frame.stream.synchronize();
    ++calls_;
    call(ins, outs);
    for (std::size_t i = 0; i < outs.size(); ++i)
      if (outs[i].bytes()) xpu::copy(frame.stream, frame.at(out_[i]).data, outs[i].data(), outs[i].bytes());
    frame.stream.synchronize();  // pinned memory is freed when this call returns
  }

 private:
  void call(const std::vector<PinnedBuffer>& ins, const std::vector<PinnedBuffer>& outs) const {
    auto views = [](const std::vector<PinnedBuffer>& all, bool read_only) {
      py::list list;
      for (auto& memory : all)
        list.append(
            py::memoryview::from_memory(memory.data(), static_cast<py::ssize_t>(memory.bytes()), read_only));
      return list;
    };
    function_.call([&] { return py::make_tuple(views(ins, true), views(outs, false)); });
  }

  PythonFunction function_;
  std::atomic<std::uint64_t>& calls_;
  int device_;
  std::vector<Operand> out_, in_;
};

}  // namespace

std::unique_ptr<Step> make_host_call(const PlanFields& fields) {
  return std::make_unique<HostCallStep>(fields);
}

}  // namespace xla_xpu

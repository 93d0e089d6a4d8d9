// Calls a Python function with copies of arrays in host memory: callbacks, and what has no device algorithm.
#include "exec/host_calls.h"
#include "exec/python_function.h"
#include "exec/steps.h"
#include "xpu/copy.h"
#include "xpu/host_memory.h"

namespace xla_xpu {
namespace {

class Pinned {
 public:
  explicit Pinned(std::size_t bytes) : data_(xpu::host_memory::allocate(bytes)), bytes_(bytes) {}
  ~Pinned() { xpu::host_memory::deallocate(data_); }
  Pinned(Pinned&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
  Pinned& operator=(Pinned&&) = delete;
  void* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  void* data_;
  std::size_t bytes_;
};

std::size_t bytes_of(const Operand& operand) {
  return static_cast<std::size_t>(operand.view.numel()) * xpu::size_of(operand.view.dtype);
}

// The function gets the inputs' memory as bytes-like objects and fills the outputs'. Operands are contiguous.
// One with a device is called on that one of the program's only, and leaves the others' outputs as they are.
class HostCallStep final : public Step {
 public:
  explicit HostCallStep(const Fields& fields)
      : function_(fields),
        calls_(host_calls_of(function_.name())),
        device_(fields.get<int>("device", -1)),
        out_(fields.operands("out")),
        in_(fields.operands("in")) {}

  void list_queueing(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override {
    if (device_ >= 0 && frame.number != device_) return;
    std::vector<Pinned> ins, outs;
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
    frame.stream.synchronize();  // the memory goes with this call
  }

 private:
  void call(const std::vector<Pinned>& ins, const std::vector<Pinned>& outs) const {
    auto views = [](const std::vector<Pinned>& all, bool read_only) {
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

std::unique_ptr<Step> make_host_call(const Fields& fields) {
  return std::make_unique<HostCallStep>(fields);
}

}  // namespace xla_xpu

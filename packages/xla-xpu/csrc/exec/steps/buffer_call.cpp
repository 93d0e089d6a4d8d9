// Calls a Python function with the addresses of arrays on the device: what it queues comes in its turn.
#include "exec/host_calls.h"
#include "exec/python_function.h"
#include "exec/steps.h"

namespace xla_xpu {
namespace {

// Makes a stream the thread's current one, on which other libraries queue their work.
class Current {
 public:
  explicit Current(xpu::Stream stream) : before_(xpu::exchange_stream(stream)) {}
  ~Current() { xpu::exchange_stream(before_); }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  xpu::Stream before_;
};

class BufferCallStep final : public Step {
 public:
  explicit BufferCallStep(const Fields& fields)
      : function_(fields),
        calls_(host_calls_of(function_.name())),
        out_(fields.operands("out")),
        in_(fields.operands("in")) {}

  void list_queueing(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override {
    ++calls_;
    Current current(frame.stream);
    auto addresses = [&](const std::vector<Operand>& operands) {
      py::list list;
      for (auto& operand : operands) list.append(reinterpret_cast<std::uintptr_t>(frame.at(operand).data));
      return list;
    };
    function_.call([&] { return py::make_tuple(frame.stream.device(), addresses(in_), addresses(out_)); });
  }

 private:
  PythonFunction function_;
  std::atomic<std::uint64_t>& calls_;
  std::vector<Operand> out_, in_;
};

}  // namespace

std::unique_ptr<Step> make_buffer_call(const Fields& fields) {
  return std::make_unique<BufferCallStep>(fields);
}

}  // namespace xla_xpu

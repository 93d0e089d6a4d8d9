// Calls a Python function with device addresses of arrays. Work that it enqueues on the current stream keeps
// its place in the program.
#include "exec/host_calls.h"
#include "exec/python_function.h"
#include "exec/steps.h"

namespace xla_xpu {
namespace {

// Makes a stream the thread's current one, to which other libraries enqueue their work.
class CurrentStreamGuard {
 public:
  explicit CurrentStreamGuard(xpu::Stream stream) : previous_(xpu::exchange_stream(stream)) {}
  ~CurrentStreamGuard() { xpu::exchange_stream(previous_); }
  CurrentStreamGuard(const CurrentStreamGuard&) = delete;
  CurrentStreamGuard& operator=(const CurrentStreamGuard&) = delete;

 private:
  xpu::Stream previous_;
};

class BufferCallStep final : public Step {
 public:
  explicit BufferCallStep(const PlanFields& fields)
      : function_(fields),
        calls_(host_calls_of(function_.name())),
        out_(fields.operands("out")),
        in_(fields.operands("in")) {}

  void list_enqueue_only(std::vector<const Step*>&) const override {}
  void run(Frame& frame) const override {
    ++calls_;
    CurrentStreamGuard guard(frame.stream);
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

std::unique_ptr<Step> make_buffer_call(const PlanFields& fields) {
  return std::make_unique<BufferCallStep>(fields);
}

}  // namespace xla_xpu

#include "dnn/primitive.h"

#include <oneapi/dnnl/dnnl_debug.h>
#include <oneapi/dnnl/dnnl_sycl.h>
#include <array>
#include <sycl/sycl.hpp>

#include "dnn/candidates.h"
#include "dnn/engine.h"
#include "dnn/host_task.h"
#include "xpu/enqueue.h"
#include "xpu/error.h"

namespace xpu::dnn {
namespace {

void check(dnnl_status_t status, const std::string& name, const char* what) {
  if (status == dnnl_success) [[likely]]
    return;
  expect<OutOfMemory>(status != dnnl_out_of_memory, name, ": oneDNN ran out of memory while ", what);
  fail<DeviceError>(name, ": oneDNN failed while ", what, ": ", dnnl_status2str(status));
}

// oneDNN's memory objects of one run. Pending work reads addresses from them later, so each run has its own;
// oneDNN keeps those in use alive after they are destroyed here.
struct Memories {
  std::array<dnnl_exec_arg_t, PrimitiveStep::max_arguments> list;
  int count = 0;
  ~Memories() {
    for (int i = 0; i < count; ++i) dnnl_memory_destroy(list[i].memory);
  }
};

}  // namespace

// A submission in two forms: this one borrows for the current call; Owning is for a graph that replays it.
struct PrimitiveStep::Work {
  const PrimitiveStep* step;
  void* const* pointers;
  const std::shared_ptr<const Plan>* plan;

  struct Owning {
    const PrimitiveStep* step;
    std::array<void*, max_operands> pointers;
    std::shared_ptr<const Plan> plan;
    void operator()(sycl::queue& queue, sycl::event* event) const {
      Work{step, pointers.data(), &plan}(queue, event);
    }
  };
  Owning clone() const {
    Owning copy{step, {}, *plan};
    for (auto& argument : step->arguments_) copy.pointers[argument.operand] = pointers[argument.operand];
    return copy;
  }

  void operator()(sycl::queue& queue, sycl::event* event) const {
    auto& stream = stream_of(step->device_, queue);
    auto engine = engine_of(step->device_).get();
    Memories memories;
    for (auto& argument : step->arguments_) {
      auto& slot = memories.list[memories.count];
      slot.arg = argument.id;
      // The address is set later: if given here, oneDNN would ask the driver for its kind of memory.
      check(dnnl_sycl_interop_memory_create(&slot.memory, argument.desc.get(), engine, dnnl_sycl_interop_usm,
                                            DNNL_MEMORY_NONE),
            step->name_, "describing memory");
      ++memories.count;
      check(dnnl_memory_set_data_handle(slot.memory, pointers[argument.operand]), step->name_,
            "describing memory");
    }
    static const std::vector<sycl::event> none;  // the queue is in-order
    auto execute = [&](sycl::event* done) {
      check(dnnl_sycl_interop_primitive_execute(step->primitive_.get(), stream.get(), memories.count,
                                                memories.list.data(), &none, done),
            step->name_, "submitting");
    };
    auto* submission = direct::Submission::current();
    if (!submission) return execute(event);
    HostTaskInterceptor interceptor;
    execute(event);
    interceptor.submit(step->device_, queue, *submission, event);
  }
};

PrimitiveStep::PrimitiveStep(Plan& plan, int device, const dnnl::primitive_desc_base& desc,
                             dnnl::primitive primitive, std::vector<Argument> arguments)
    : device_(device),
      name_(join("onednn ", desc.impl_info_str())),
      primitive_(std::move(primitive)),
      arguments_(std::move(arguments)) {
  if (auto scratch = desc.scratchpad_desc(); scratch.get_size() > 0)
    arguments_.push_back({DNNL_ARG_SCRATCHPAD, scratch, plan.add_scratch(scratch.get_size())});
  reject_unless(arguments_.size() <= max_arguments, "more than ", max_arguments, " tensors");
}

void PrimitiveStep::run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const {
  enqueue(stream, {WorkKind::dnn, name_}, Work{this, pointers, &plan});
}

std::string fast_implementation(const dnnl::primitive_desc_base& desc) {
  std::string name = desc.impl_info_str();
  reject_unless(!name.starts_with("ref"), "only oneDNN's reference code (", name, ") supports this");
  return name;
}

}  // namespace xpu::dnn

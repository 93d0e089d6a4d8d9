// Execution: enqueues a program and returns; each output buffer has the event after which it holds its
// values.
#include <algorithm>

#include "pjrt/buffer.h"
#include "pjrt/element.h"
#include "pjrt/entry.h"
#include "pjrt/event.h"
#include "pjrt/loaded_program.h"
#include "xpu/copy.h"
#include "xpu/kernels/copy.h"

namespace xla_xpu {
namespace {

/// One device's part of an execution.
struct Launch {
  PJRT_Device* device;
  std::vector<std::shared_ptr<Storage>> inputs, outputs;  ///< as the program's memory kinds ask for
  std::vector<std::shared_ptr<Storage>> device_outputs;   ///< what the program writes
  std::vector<void*> input_data, output_data;
  std::shared_ptr<CompletionEvent> done;
};

struct Request {
  const LoadedProgram& program;
  PJRT_LoadedExecutable_Execute_Args& args;
  std::vector<bool> donated;  // by parameter: donated in this call

  const Executable& executable() const { return *program.executable; }
  PJRT_Buffer& argument(std::size_t device, std::size_t i) const { return *args.argument_lists[device][i]; }
};

Request make_request(PJRT_LoadedExecutable_Execute_Args& args) {
  const auto& loaded = *args.executable;
  if (loaded.deleted)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "the executable ", loaded.program->executable->name,
                   " was deleted");
  Request request{*loaded.program, args, loaded.program->donated};
  const auto& e = request.executable();
  if (args.num_args != e.parameters.size())
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, e.name, " takes ", e.parameters.size(),
                   " arguments, got ", args.num_args);
  std::size_t devices = args.execute_device ? 1 : request.program.devices.size();
  if (args.num_devices != devices)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, e.name, " runs on ", devices,
                   " devices, got arguments for ", args.num_devices);
  const auto& options = *args.options;
  for (std::size_t i = 0; i < options.num_non_donatable_input_indices; ++i)
    request.donated.at(options.non_donatable_input_indices[i]) = false;
  return request;
}

// A donated buffer may be an argument only once.
void check_double_donation(const Request& request, std::size_t device) {
  for (std::size_t i = 0; i < request.args.num_args; ++i) {
    if (!request.donated[i]) continue;
    for (std::size_t j = 0; j < request.args.num_args; ++j)
      if (i != j && &request.argument(device, i) == &request.argument(device, j))
        fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT,
                       "Attempt to donate the same buffer twice in Execute(): argument ", i, " of ",
                       request.executable().name, " is donated and is argument ", j,
                       " too. Toy example for this bug: `f(donate(a), donate(a))` or `f(donate(a), a)`.");
  }
}

std::shared_ptr<Storage> copy_storage(Memory& memory, const Storage& from, xpu::Stream stream) {
  auto copy = Storage::make(memory, from.bytes());
  if (from.bytes()) xpu::copy(stream, copy->data(), from.data(), from.bytes());
  return copy;
}

// Copies the array into the order that the program expects. JAX mostly does this before it calls.
std::shared_ptr<Storage> reorder_storage(Memory& memory, const Storage& from, const PJRT_Buffer& buffer,
                                         const MinorToMajor& order, xpu::Stream stream) {
  std::size_t item = element_bytes(buffer.type);
  auto strided = [&](void* data, const MinorToMajor& which, std::vector<std::int64_t>& strides) {
    strides = strides_of(which, item, buffer.dims);
    for (auto& stride : strides) stride /= static_cast<std::int64_t>(item);
    return xpu::Tensor{data, xpu::dtype_of_width(item), static_cast<int>(buffer.dims.size()),
                       buffer.dims.data(), strides.data()};
  };
  auto result = Storage::make(memory, from.bytes());
  std::vector<std::int64_t> to_strides, from_strides;
  xpu::kernels::copy(stream, strided(result->data(), order, to_strides),
                     strided(const_cast<void*>(from.data()), buffer.order, from_strides));
  return result;
}

// Returns the memory that the program reads as argument `i`: on the device, and a copy if the program writes
// to memory that it may not overwrite.
std::shared_ptr<Storage> prepare_input(const Request& request, const PJRT_Device& device, std::size_t which,
                                       std::size_t i) {
  auto& buffer = request.argument(which, i);
  auto storage = buffer.storage();
  std::size_t wanted = request.executable().parameters[i].bytes();
  std::size_t got = array_bytes(buffer.type, buffer.dims);
  if (buffer.memory.device != &device)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "argument ", i, " of ", request.executable().name,
                   " is on xpu:", buffer.memory.device->id, ", the program runs on xpu:", device.id);
  if (wanted != got)
    fail_with_code(PJRT_Error_Code_INVALID_ARGUMENT, "Executable expected parameter ", i, " of size ", wanted,
                   " but got buffer with incompatible size ", got);
  buffer.ready->order_before(device.stream);
  const auto& order = request.executable().parameters[i].order;
  if (got && buffer.order != order) {
    auto& own = memory_of(device.memories.front());
    auto on_device = buffer.memory.on_host() ? copy_storage(own, *storage, device.stream) : storage;
    storage->record_stream(device.stream);
    return reorder_storage(own, *on_device, buffer, order, device.stream);
  }
  bool writable = request.donated[i] && storage->owns_memory() && storage.use_count() == 2;
  if (buffer.memory.on_host() || (request.program.overwritten[i] && !writable)) {
    auto copy = copy_storage(memory_of(device.memories.front()), *storage, device.stream);
    if (got) storage->record_stream(device.stream);
    return copy;
  }
  return storage;
}

Launch prepare_launch(const Request& request, std::size_t which) {
  const auto& e = request.executable();
  auto* given = request.args.execute_device;
  Launch launch{given ? given : request.program.devices[which], {}, {}, {}, {}, {}, {}};
  check_double_donation(request, which);
  for (std::size_t i = 0; i < e.parameters.size(); ++i) {
    launch.inputs.push_back(prepare_input(request, *launch.device, which, i));
    launch.input_data.push_back(launch.inputs.back()->data());
  }
  auto& own = memory_of(launch.device->memories.front());
  for (std::size_t i = 0; i < e.outputs.size(); ++i) {
    auto& memory = memory_of(*launch.device, e.outputs[i].memory_kind);
    std::size_t bytes = e.outputs[i].bytes();
    int alias = request.program.output_aliases[i];
    launch.device_outputs.push_back(alias < 0 ? Storage::make(own, bytes)
                                              : launch.inputs[static_cast<std::size_t>(alias)]);
    launch.outputs.push_back(memory.on_host() ? Storage::make(memory, bytes) : launch.device_outputs.back());
    launch.output_data.push_back(launch.device_outputs.back()->data());
  }
  return launch;
}

void enqueue(const Request& request, std::span<const Launch> launches) {
  std::vector<Call> calls;
  for (auto& launch : launches)
    calls.push_back({launch.device->stream, launch.input_data, launch.output_data});
  request.executable().run(calls);
}

// Enqueues copies of outputs to host memory after the program, and records the event of its completion.
void finish_launch(Launch& launch) {
  auto stream = launch.device->stream;
  for (std::size_t i = 0; i < launch.outputs.size(); ++i) {
    auto& from = launch.device_outputs[i];
    auto& to = launch.outputs[i];
    if (from == to || !to->bytes()) continue;
    xpu::copy(stream, to->data(), from->data(), to->bytes());
    to->record_stream(stream);
  }
  launch.done = CompletionEvent::record(stream);
  for (auto& storage : launch.inputs)
    if (!storage->owns_memory() && storage->bytes()) storage->record_stream(stream);
}

void return_outputs(const Request& request, Launch& launch, std::size_t which) {
  const auto& outputs = request.executable().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i)
    request.args.output_lists[which][i] =
        new PJRT_Buffer(memory_of(*launch.device, outputs[i].memory_kind), outputs[i].type, outputs[i].dims,
                        std::move(launch.outputs[i]), launch.done, outputs[i].order);
  for (std::size_t i = 0; i < request.args.num_args; ++i)
    if (request.donated[i]) request.argument(which, i).take();
  if (request.args.device_complete_events)
    request.args.device_complete_events[which] = new PJRT_Event{launch.done};
}

void execute(PJRT_LoadedExecutable_Execute_Args& args) {
  auto request = make_request(args);
  std::vector<Launch> launches;
  for (std::size_t which = 0; which < args.num_devices; ++which)
    launches.push_back(prepare_launch(request, which));
  enqueue(request, launches);
  for (auto& launch : launches) finish_launch(launch);
  // Nothing fails from here on: donated arguments are deleted only if there are outputs.
  for (std::size_t which = 0; which < launches.size(); ++which)
    return_outputs(request, launches[which], which);
}

}  // namespace

void install_execution(PJRT_Api& api) {
  api.PJRT_LoadedExecutable_Execute = entry<execute>;
}

}  // namespace xla_xpu

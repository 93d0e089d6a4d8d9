#include "modules/module_table.h"

#include "compile/program/backend.h"
#include "launch/work_groups.h"
#include "process/immortal.h"
#include "process/interrupt.h"
#include "process/startup.h"
#include "process/thread_registry.h"
#include "streams/sleep_until.h"
#include "xpu/device.h"
#include "xpu/error.h"

namespace xpu {

Modules& modules() {
  static auto& all = immortal<Modules>();
  return all;
}

std::shared_ptr<Module> Modules::find(std::string key, int device) {
  std::lock_guard lock(mutex_);
  auto found = by_key_.find(key);
  if (found != by_key_.end()) {
    if (auto module = found->second.lock()) return module;
    by_key_.erase(found);  // its last owner is about to delete it
  }
  auto made = std::make_shared<Module>(*this, std::move(key), device);
  by_key_.emplace(made->key, made);
  return made;
}

void Modules::keep(const std::shared_ptr<Module>& module) {
  std::lock_guard lock(mutex_);
  retained_.try_emplace(module.get(), module);
}

void Modules::forget(const Module& module) {
  std::lock_guard lock(mutex_);
  auto found = by_key_.find(module.key);
  bool replaced = found == by_key_.end() || found->first.data() != module.key.data();
  if (!replaced) by_key_.erase(found);
}

Module::~Module() {
  if (!startup::is_forked_or_shut_down()) {
    all.forget(*this);
    return;
  }
  // At the fork, a thread of the parent may have held a lock of the driver's or the runtime's, and so may a
  // thread that still runs after shutdown. So nothing is destroyed.
  new auto(std::move(kernels_));
  static_cast<void>(program_.release());
}

KernelState& Module::kernel(const std::string& name, const std::function<ProgramPtr()>& make) {
  thread_registry::BlockingScope blocking;
  std::unique_lock lock(mutex_, std::defer_lock);
  // Another thread may be building the module. (TSan does not support locks with a timeout.)
  auto try_lock = [&] { return lock.try_lock(); };
  while (!sleep_until(try_lock, interrupt::check_interval)) interrupt::check_operation();
  if (!program_) program_ = make();
  auto found = kernels_.find(name);
  return found == kernels_.end() ? add(name) : found->second;
}

KernelState& Module::add(const std::string& name) {
  auto kernel = program_->kernel(name);
  namespace query = sycl::info::kernel_device_specific;
  auto limit = kernel.get_info<query::work_group_size>(sycl_device(device));
  auto& info = device_info(device);
  auto* known = program_->signature(name);
  std::uint32_t arguments;
  if (images_tell_signatures()) {
    arguments = kernel.get_info<sycl::info::kernel::num_args>();
    // A signature with another number of arguments was misread.
    if (known && known->parameters.size() != arguments) known = nullptr;
  } else {
    // Such a backend does not report the number of arguments, and reads as many as the kernel has.
    expect<Unsupported>(known, "kernel \"", name,
                        "\": its source does not declare its parameters; declare it as XPU_KERNEL(dims) ",
                        name, "(...) { ... }");
    arguments = static_cast<std::uint32_t>(known->parameters.size());
  }
  bool has_native_queue = info.backend == "opencl" && info.type == "cpu" && !generic_backend();
  auto direct = has_native_queue ? std::make_unique<direct::Kernel>(kernel) : nullptr;
  auto signature = known ? *known : Signature{};
  KernelState state{name,
                    device,
                    kernel,
                    limit,
                    max_work_groups(device),
                    arguments,
                    std::move(signature.parameters),
                    signature.local_bytes,
                    std::move(direct),
                    weak_from_this()};
  return kernels_.emplace(name, std::move(state)).first->second;
}

}  // namespace xpu

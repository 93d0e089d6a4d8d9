// Modules in this process's memory, each with those of its kernels that were asked for.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sycl/sycl.hpp>

#include "compile/program.h"
#include "direct/kernel.h"

namespace xpu {

class Modules;
struct Module;

struct KernelState {
  std::string name;
  int device;
  sycl::kernel kernel;
  std::size_t max_work_group_size;
  std::array<std::size_t, 3> max_work_groups;  ///< of its device, in the order of NdRange
  std::uint32_t arguments;                     ///< how many it takes
  std::vector<Parameter> parameters;           ///< none where they are unknown
  std::unique_ptr<direct::Kernel> direct;      ///< where there are queues below SYCL's
  std::weak_ptr<Module> module;                ///< what this is a part of
};

/// Lives as long as somebody holds it, or as the process once it was kept.
struct Module : std::enable_shared_from_this<Module> {
  Module(Modules& all, std::string key, int device) : all(all), key(std::move(key)), device(device) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Builds the module with `make` if it is the first of its kernels; who else wants one waits meanwhile.
  KernelState& kernel(const std::string& name, const std::function<ProgramPtr()>& make);

  Modules& all;
  const std::string key;
  const int device;

 private:
  KernelState& add(const std::string& name);

  std::mutex mutex_;
  ProgramPtr program_;
  std::map<std::string, KernelState> kernels_;
};

class Modules {
 public:
  /// The module of that key, or a new one.
  std::shared_ptr<Module> find(std::string key, int device);
  void keep(const std::shared_ptr<Module>& module);
  void forget(const Module& module);

 private:
  std::mutex mutex_;
  std::map<std::string_view, std::weak_ptr<Module>> by_key_;  // the keys are the modules' own
  std::map<const Module*, std::shared_ptr<Module>> kept_;
};

Modules& modules();

}  // namespace xpu

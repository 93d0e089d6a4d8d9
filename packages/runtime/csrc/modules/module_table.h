// Modules in memory, each with its kernels that have been requested.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <sycl/sycl.hpp>

#include "compile/program/program.h"
#include "direct/kernel.h"

namespace xpu {

class Modules;
struct Module;

struct KernelState {
  std::string name;
  int device;
  sycl::kernel kernel;
  std::size_t max_work_group_size;
  std::array<std::size_t, 3> max_work_groups;  ///< of the device, in the order of NdRange
  std::uint32_t arguments;                     ///< number of arguments
  std::vector<Parameter> parameters;           ///< empty if unknown
  std::optional<std::uint64_t> local_bytes;    ///< of a work-group; nullopt if unknown
  std::unique_ptr<direct::Kernel> direct;      ///< null if streams have no native queue
  std::weak_ptr<Module> module;                ///< owns this
};

/// Reference-counted; lives as long as the process after Modules::keep(). Thread-safe.
struct Module : std::enable_shared_from_this<Module> {
  Module(Modules& all, std::string key, int device) : all(all), key(std::move(key)), device(device) {}
  ~Module();
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  /// Returns a kernel. The first call builds the module with `make`; concurrent calls block meanwhile.
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
  /// Returns the module of the key, or makes one.
  std::shared_ptr<Module> find(std::string key, int device);
  void keep(const std::shared_ptr<Module>& module);
  void forget(const Module& module);

 private:
  std::mutex mutex_;
  std::map<std::string_view, std::weak_ptr<Module>> by_key_;  // the modules own the keys
  std::map<const Module*, std::shared_ptr<Module>> retained_;
};

Modules& modules();

}  // namespace xpu

#include "process/startup.h"

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <mutex>

#include "compile/folders.h"
#include "process/env.h"
#include "process/thread_registry.h"
#include "xpu/error.h"
#include "xpu/log.h"
#include "xpu/process.h"

namespace xpu::startup {
namespace {

enum class State { running, shutting_down, forked, shut_down };
std::atomic<bool> devices_found{false};
std::atomic<State> state{State::running};
std::atomic<void (*)()> refuse_thread{nullptr};
std::atomic<pthread_t> shutdown_thread{};

void require_one_sycl() {
  auto found = loaded_libraries("libsycl.so");
  if (found.size() < 2) return;
  std::string all;
  for (auto& path : found) all += "\n  " + path;
  fail<UsageError>(
      "more than one SYCL runtime is loaded in this process:", all,
      "\nDevice memory and queues cannot cross between them. Another package brought its own: remove an "
      "activated oneAPI environment (unset LD_LIBRARY_PATH, do not source setvars.sh) or the wheel that "
      "pins a different intel-sycl-rt, then run: xpu-sdk doctor");
}

// The loader resolves the driver's own dependencies by soname, so each is loaded by path first.
void load(const std::string& folder, const char* name) {
  std::string path = folder + "/" + name;
  if (access(path.c_str(), R_OK) != 0) return;
  if (!dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL))
    log(LogLevel::warning, join("cannot load ", path, ": ", dlerror()));
}

// Appends to the variable, so that GPU drivers that the user or the system names stay visible.
void offer_cpu_driver(const std::string& folder) {
  std::string driver = folder + "/libintelocl.so";
  if (access(driver.c_str(), R_OK) != 0) return;
  const char* before = std::getenv("OCL_ICD_FILENAMES");
  std::string list = before ? before : "";
  if (list.find("libintelocl.so") != std::string::npos) return;
  setenv("OCL_ICD_FILENAMES", list.empty() ? driver.c_str() : (list + ":" + driver).c_str(), 1);
}

// Compilers write to the folder that the first of these variables names, and fail if there is none.
void offer_temporary_folder() {
  std::string folder = "/tmp";
  for (auto* name : {"TEMPDIR", "TEMP", "TMP", "TMPDIR"}) folder = env::text(name, folder.c_str());
  auto usable = temporary_folder();
  if (usable.empty() || usable == folder) return;
  log(LogLevel::warning, join("the folder for temporary files, ", folder,
                              ", does not exist or is read-only; compilers use ", usable, " instead"));
  setenv("TMPDIR", usable.c_str(), 1);
}

void prepare_once() {
  require_one_sycl();
  offer_temporary_folder();
  std::string folder = vendor_folder();
  offer_cpu_driver(folder);
  for (auto* name :
       {"libintlc.so.5", "libimf.so", "libirng.so", "libsvml.so", "libtbb.so.12", "libOpenCL.so.1"})
    load(folder, name);
  pthread_atfork(nullptr, nullptr, [] {
    if (devices_found) state = State::forked;
  });
}

}  // namespace

void prepare() {
  static std::once_flag once;
  std::call_once(once, prepare_once);
}

void require_not_forked() {
  expect<DeviceError>(
      !is_forked(),
      "the device was used before this process was forked, and a forked child cannot use it. Start "
      "workers with the 'spawn' or 'forkserver' method: multiprocessing.set_start_method('spawn')");
}

void require_thread_allowed() {
  thread_registry::record_activity();
  auto now = state.load(std::memory_order_relaxed);
  if (now == State::running) [[likely]]
    return;
  if (now == State::shutting_down && !pthread_equal(shutdown_thread, pthread_self())) refuse_thread.load()();
  require_not_forked();
}

void require_usable() {
  require_thread_allowed();
  require_running();
}

void require_running() {
  expect<ShuttingDown>(state.load(std::memory_order_relaxed) != State::shut_down, refusal);
}

void mark_initialized() {
  devices_found = true;
}
bool is_initialized() {
  return devices_found;
}
bool is_forked() {
  return state.load(std::memory_order_relaxed) == State::forked;
}
void mark_shutdown_begun(void (*refuse)()) {
  refuse_thread = refuse;
  shutdown_thread = pthread_self();
  auto before = State::running;
  state.compare_exchange_strong(before, State::shutting_down);
}
bool is_shutting_down() {
  return state.load(std::memory_order_relaxed) == State::shutting_down;
}
void mark_shutdown_done() {
  state = State::shut_down;
}
bool is_forked_or_shut_down() {
  return state.load(std::memory_order_relaxed) > State::shutting_down;
}

}  // namespace xpu::startup

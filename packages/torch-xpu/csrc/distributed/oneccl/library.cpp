#include "distributed/oneccl/library.h"

#include <c10/util/Exception.h>
#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

namespace torch_xpu::distributed::oneccl {
namespace {

struct State {
  std::mutex mutex;
  std::optional<Library> library;
  int calls = 0;
};

State& state() {
  static auto& instance = *new State;  // calls may hang while the process ends
  return instance;
}

void end_under_calls(int status, void*) {
  auto& all = state();
  all.mutex.lock();  // for good, so that no call begins
  if (all.calls > 0) _exit(status);
}

template <class Function>
void find(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  TORCH_CHECK(function, "oneCCL has no function ", name, ": install the version of xpu-sdk[oneccl]");
}

Library find_functions(void* handle) {
  Library found;
  find(handle, "onecclGetErrorString", found.error_string);
  find(handle, "onecclGetUniqueId", found.get_unique_id);
  find(handle, "onecclCommInitRank", found.init_rank);
  find(handle, "onecclCommDestroy", found.destroy);
  find(handle, "onecclAllReduce", found.all_reduce);
  find(handle, "onecclReduce", found.reduce);
  find(handle, "onecclBroadcast", found.broadcast);
  find(handle, "onecclAllGather", found.all_gather);
  find(handle, "onecclReduceScatter", found.reduce_scatter);
  return found;
}

}  // namespace

void load(const std::vector<std::string>& paths) {
  auto& all = state();
  std::lock_guard lock(all.mutex);
  if (all.library) return;
  void* handle = nullptr;
  for (auto& path : paths) {
    void* loaded = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    TORCH_CHECK(loaded, "oneCCL does not load: ", dlerror());
    if (path.ends_with("libccl.so.2")) handle = loaded;
  }
  TORCH_CHECK(handle, "oneCCL's libccl.so.2 is not among its libraries");
  all.library = find_functions(handle);
  // Runs before the exit functions of the libraries above, as it is registered after them.
  TORCH_CHECK(on_exit(end_under_calls, nullptr) == 0, "no exit function can be registered");
}

const Library& library() {
  auto& all = state();
  std::lock_guard lock(all.mutex);
  TORCH_CHECK(all.library, "oneCCL is not loaded");
  return *all.library;
}

void require_success(const char* function, int result) {
  if (result == 0) return;
  C10_THROW_ERROR(DistBackendError, c10::str("oneCCL ", function, ": ", library().error_string(result), " (",
                                             result, "); CCL_LOG_LEVEL=info says more"));
}

std::optional<int> type_of(at::ScalarType type) {
  switch (type) {
    case at::kChar:
      return 0;
    case at::kByte:
      return byte_type;
    case at::kInt:
      return 2;
    case at::kLong:
      return 4;
    case at::kHalf:
      return 6;
    case at::kFloat:
      return 7;
    case at::kDouble:
      return 8;
    case at::kBFloat16:
      return 9;
    default:
      return std::nullopt;
  }
}

std::optional<int> op_of(const c10d::ReduceOp& op) {
  switch (op.op_) {
    case c10d::ReduceOp::SUM:
      return 0;
    case c10d::ReduceOp::PRODUCT:
      return 1;
    case c10d::ReduceOp::MAX:
      return 2;
    case c10d::ReduceOp::MIN:
      return 3;
    default:
      return std::nullopt;  // oneCCL has no average of host memory, which torch_xpu makes from the sum
  }
}

CallScope::CallScope() {
  std::lock_guard lock(state().mutex);
  ++state().calls;
}

CallScope::~CallScope() {
  std::lock_guard lock(state().mutex);
  --state().calls;
}

}  // namespace torch_xpu::distributed::oneccl

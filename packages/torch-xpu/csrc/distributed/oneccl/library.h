// oneCCL's C API, loaded at run time: neither the build nor the wheel needs oneCCL.
#pragma once

#include <c10/core/ScalarType.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace torch_xpu::distributed::oneccl {

/// A communicator of oneCCL.
using Comm = void*;
/// What the ranks of a communicator share, as oneCCL passes it: by value.
struct UniqueId {
  char data[4096];
};

/// Functions of libccl.so.2. Each but `error_string` returns 0, or an error.
struct Library {
  const char* (*error_string)(int);
  int (*get_unique_id)(UniqueId*);
  int (*init_rank)(Comm*, std::size_t ranks, UniqueId, int rank);
  int (*destroy)(Comm);
  int (*all_reduce)(const void* send, void* receive, std::size_t count, int type, int op, Comm, void* stream);
  int (*reduce)(const void* send, void* receive, std::size_t count, int type, int op, int root, Comm,
                void* stream);
  int (*broadcast)(const void* send, void* receive, std::size_t count, int type, int root, Comm,
                   void* stream);
  int (*all_gather)(const void* send, void* receive, std::size_t count, int type, Comm, void* stream);
  int (*reduce_scatter)(const void* send, void* receive, std::size_t count, int type, int op, Comm,
                        void* stream);
};

/// Loads the libraries, in their order, the first time. Throws c10::Error with the loader's reason.
void load(const std::vector<std::string>& paths);
/// Returns the functions that load() has found. Throws c10::Error without load().
const Library& library();
/// Throws DistBackendError if `result` is an error.
void require_success(const char* function, int result);

/// oneCCL's number of bytes as an element type.
constexpr int byte_type = 1;
/// Returns oneCCL's number of an element type or a reduction, or nothing if it has none.
std::optional<int> type_of(at::ScalarType type);
std::optional<int> op_of(const c10d::ReduceOp& op);

/// While one lives, its thread is inside oneCCL. A call whose peer has ended never returns, and oneCCL must
/// not be unloaded under it: a process that ends during a call does so without the later exit functions, with
/// its own status. Calls that would begin after that block for ever.
class CallScope {
 public:
  CallScope();
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

}  // namespace torch_xpu::distributed::oneccl

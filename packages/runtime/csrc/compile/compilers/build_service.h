// Builds programs in helper processes, so that a crash of a vendor's compiler does not end the user's
// process.
//
// Several helpers (the program xpu-build-kernels beside the library) build several programs at once, which
// the CPU device's driver cannot do in one process. They return binaries, which this process only loads. A
// helper ends with this process, also during a build, or after 20 s without a request.
#pragma once

#include <optional>

#include "compile/compilers/helper_process.h"
#include "compile/compilers/messages.h"
#include "xpu/abi.h"

namespace xpu::build_service {

/// Builds in a helper process. Returns nullopt if helpers are disabled or cannot start. Blocks until it is
/// built; a signal may end the wait (see OperationScope). Throws what a build in this process would throw,
/// and CompileError if two helpers crashed or the build took longer than build_time_limit(). Thread-safe.
/// Helpers of low priority are the background_helpers().
std::optional<BuildResponse> build(const BuildInput& input, Priority priority);
/// How many helpers of low priority there are at most: fewer than those that the program waits for.
std::size_t background_helpers();

/// Starts helpers until `count` of them run, or as many as are allowed. Does not wait for them. Thread-safe.
void prestart(std::size_t count);
/// Starts one helper early if the cache has no binaries.
void prestart_if_cache_empty();

/// The main function of the helper: serves requests from `socket` until it closes or `program` (a pidfd, or
/// -1) has ended, and writes to `exit_pipe` how the process that built them exited.
XPU_API void serve(int socket, int exit_pipe, int program);

}  // namespace xpu::build_service

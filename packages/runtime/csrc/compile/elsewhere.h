// Builds programs in other processes: the vendor's compilers are large, and where one dies it takes its
// process with it, which must not be the user's. What they make comes back whole, and is only loaded here.
//
// Several helpers (the program xpu-build-kernels beside the library) build several programs at once, which
// the CPU device's driver does in no single process. A helper ends with this process, and when nothing is
// asked of it for a while.
#pragma once

#include <optional>

#include "compile/messages.h"
#include "xpu/abi.h"

namespace xpu::elsewhere {

/// What a helper made of it; nothing when there may be no helpers, or none can be started. Throws what
/// building it here would have thrown; CompileError also when the helper died of it, and another one too.
std::optional<Answer> build(const Order& order);

/// Starts helpers until there are `count`, or as many as may be.
void expect(std::size_t count);
/// The devices are about to be found: a helper may find them too meanwhile, when it is sure to be needed.
void expect_first();

/// What the program does: builds what comes through `socket` until nothing more does, and writes to `end` how
/// that ended.
XPU_API void serve(int socket, int end);

}  // namespace xpu::elsewhere

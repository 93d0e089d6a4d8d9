// Builds kernels that ship before the process wants them: those that sample programs wanted after the ones
// that it wants. Only observes builds. Helpers of lower priority build, and the disk cache keeps the results.
#pragma once

#include <cstddef>

#include "compile/keys.h"

namespace xpu::build_ahead {

/// Tells that the process wants the kernel that ships under `key`, and whether it must be built. From the
/// first that must, those that may follow are built in the background. Does not wait for them. Thread-safe.
void note_wanted(int device, const ReadyKey& key, bool must_build);
/// How many kernels the program that this process resembles wants after the last one, without those that are
/// built ahead.
std::size_t expected(int device);

}  // namespace xpu::build_ahead

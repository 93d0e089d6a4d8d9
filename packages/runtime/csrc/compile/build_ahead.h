// Builds kernels that ship before they are wanted: those that programs of the zoo wanted after the ones that
// this process wants. Helpers of lower priority build them, and the disk cache takes them.
#pragma once

#include <cstddef>

#include "compile/forecast.h"

namespace xpu::build_ahead {

/// Tells that the process wants the kernel that ships under `key`, and whether it must be built. From the
/// first that must, those that may follow are built in the background. Does not wait for them. Thread-safe.
void note_wanted(int device, const ReadyKey& key, bool must_build);
/// How many kernels the program that this process resembles wants after the last one, without those that are
/// built ahead.
std::size_t expected(int device);

}  // namespace xpu::build_ahead

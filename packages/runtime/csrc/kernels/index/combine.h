// Bringing values to elements that indices choose, where several may meet one element.
#pragma once

#include <string>

#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// Which of the device's atomic instructions does the whole of it for a type that has them.
enum class Atomic : std::uint8_t { none, add, minimum, maximum };

struct Combiner::State {
  CombineExpression expression;
  Atomic atomic = Atomic::none;
  bool replaces = false;  ///< the value that comes stays: bits move
  KernelTable atomics, lines, groups;
};

/// target = combine(target, moved), element by element.
void combine(Stream stream, const IndexedAccess& access, const Combiner& combiner, bool deterministic);

/// The same in a fixed order: updates of an element one after another, in row-major order of the walk. Needs
/// no atomics.
void combine_grouped(Stream stream, const IndexedAccess& access, Combiner::State& state);
/// Elements that lie together in every group: the more, the better grouping does.
std::int64_t window_size(const IndexedAccess& access);

/// The source's T, `value_of`, `stored` and `combined` for elements of a dtype; V is the type in memory.
std::string arithmetic_text(const Combiner::State& state, DType dtype);

}  // namespace xpu::kernels

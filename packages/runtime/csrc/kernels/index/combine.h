// Combines values with elements that indices choose, where several values may go to one element.
#pragma once

#include <string>

#include "kernels/index/indexed.h"

namespace xpu::kernels {

/// The atomic instruction that computes the whole combination, for types that have it.
enum class Atomic : std::uint8_t { none, add, minimum, maximum };

struct Combiner::State {
  CombineExpression expression;
  Atomic atomic = Atomic::none;
  bool replaces = false;  ///< the new value replaces the old one, so elements are copied as bits
  KernelTable atomics, lines, groups;
};

/// target = combine(target, elements), element by element.
void combine(Stream stream, const IndexedAccess& access, const Combiner& combiner, bool deterministic);

/// Combines in a fixed order: updates of an element one after another, in row-major order of `elements`.
/// Needs no atomics.
void combine_grouped(Stream stream, const IndexedAccess& access, Combiner::State& state);
/// The number of elements that one update of a group covers. Grouping is faster the larger it is.
std::int64_t window_size(const IndexedAccess& access);

/// The source's T, `value_of`, `stored` and `combined` for elements of a dtype; V is the type in memory.
std::string arithmetic_text(const Combiner::State& state, DType dtype);

}  // namespace xpu::kernels

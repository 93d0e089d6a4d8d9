// Operators whose checks, shapes and type promotion are PyTorch's own: the "structured" ones, of which only
// the kernel is ours. One line registers the functional, the out and the in-place form.
#pragma once

#include <ATen/TensorIterator.h>
#include <ATen/core/Tensor.h>
#include <torch/library.h>

#include <array>
#include <tuple>
#include <type_traits>

#include "ops/arguments.h"

namespace torch_xpu {

/// Allocates output `i`, or gives `output` the shape as PyTorch does for out= arguments.
void make_output(at::Tensor& output, at::IntArrayRef sizes, at::IntArrayRef strides,
                 const at::TensorOptions& options);

/// For operators that are not structured: throws unless `output` may be given results of the type, or is of
/// it.
void check_holds(const at::Tensor& output, at::ScalarType results);
void check_type(const at::Tensor& output, at::ScalarType results);

/// Throws where `output` writes an element twice, or shares a part of its memory with `input`.
void check_overlap(const at::Tensor& output, const at::Tensor& input);

/// PyTorch's meta class with outputs. For pointwise operators it is the TensorIterator too.
template <class Meta, std::size_t count>
class Structured final : public Meta {
 public:
  Structured() = default;
  explicit Structured(std::array<at::Tensor, count> outputs) : outputs_(std::move(outputs)) {}

  const at::Tensor& maybe_get_output(std::int64_t i) override {
    return outputs_[static_cast<std::size_t>(i)];
  }
  const at::Tensor& output(std::size_t i = 0) const { return outputs_[i]; }

  // Kernels take outputs of any strides, so the two differ in nothing.
  void set_output_strided(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                          at::TensorOptions options) override {
    make_output(outputs_[static_cast<std::size_t>(i)], sizes, strides, options);
    if constexpr (std::is_base_of_v<at::TensorIteratorBase, Meta>)
      at::TensorIteratorBase::set_output_raw_strided(i, sizes, strides, options);
  }
  void set_output_raw_strided(std::int64_t i, at::IntArrayRef sizes, at::IntArrayRef strides,
                              at::TensorOptions options) override {
    set_output_strided(i, sizes, strides, options);
  }

 private:
  std::array<at::Tensor, count> outputs_;
};

template <class Meta, std::size_t count, auto kernel, class = decltype(&Meta::meta)>
struct StructuredForms;

template <class Meta, std::size_t count, auto kernel, class R, class Base, class... Args>
struct StructuredForms<Meta, count, kernel, R (Base::*)(Args...)> {
  using Op = Structured<Meta, count>;
  static constexpr bool tensor_first =
      std::is_same_v<std::tuple_element_t<0, std::tuple<Args...>>, const at::Tensor&>;

  static constexpr bool iterates = std::is_base_of_v<at::TensorIteratorBase, Meta>;

  static void run(Op& op, AsDispatched<Args>... args) {
    auto guard = guard_for(args...);
    if constexpr (!iterates) check_one_device(args...);
    op.meta(as_meta<Args>(args)...);
    kernel(op, args...);
  }

  // As run(), where the outputs are the caller's: an iterator looks itself at how they overlap.
  static void run_into(Op& op, AsDispatched<Args>... args) {
    if constexpr (iterates) {
      run(op, args...);
    } else {
      auto guard = guard_for(args...);
      check_one_device(args...);
      op.meta(as_meta<Args>(args)...);
      for (std::size_t i = 0; i < count; ++i) {
        auto visit = [&](const at::Tensor& input) { check_overlap(op.output(i), input); };
        (detail::each_tensor(visit, args), ...);
      }
      kernel(op, args...);
    }
  }

  template <std::size_t... i>
  static auto results(const Op& op, std::index_sequence<i...>) {
    if constexpr (count == 1)
      return op.output();
    else
      return std::make_tuple(op.output(i)...);
  }
  static auto functional(AsDispatched<Args>... args) {
    Op op;
    run(op, args...);
    return results(op, std::make_index_sequence<count>());
  }

  static at::Tensor& out1(AsDispatched<Args>... args, at::Tensor& out) {
    Op op({out});
    run_into(op, args...);
    return out;
  }
  static std::tuple<at::Tensor&, at::Tensor&> out2(AsDispatched<Args>... args, at::Tensor& a, at::Tensor& b) {
    Op op({a, b});
    run_into(op, args...);
    return {a, b};
  }
  static std::tuple<at::Tensor&, at::Tensor&, at::Tensor&> out3(AsDispatched<Args>... args, at::Tensor& a,
                                                                at::Tensor& b, at::Tensor& c) {
    Op op({a, b, c});
    run_into(op, args...);
    return {a, b, c};
  }
  static std::tuple<at::Tensor&, at::Tensor&, at::Tensor&, at::Tensor&> out4(AsDispatched<Args>... args,
                                                                             at::Tensor& a, at::Tensor& b,
                                                                             at::Tensor& c, at::Tensor& d) {
    Op op({a, b, c, d});
    run_into(op, args...);
    return {a, b, c, d};
  }
};

template <class Meta, auto kernel, class R, class Base, class First, class... Rest>
auto in_place_form(R (Base::*)(First, Rest...)) {
  return +[](at::Tensor& self, AsDispatched<Rest>... rest) -> at::Tensor& {
    Structured<Meta, 1> op({self});
    StructuredForms<Meta, 1, kernel>::run_into(op, self, rest...);
    return self;
  };
}

/// A function template or overload set as the kernel of `structured`.
#define KERNEL(...) [](auto& op, const auto&... args) { __VA_ARGS__(op, args...); }

/// Registers a structured operator: `kernel(op, arguments...)` is called when the outputs exist. Names are
/// those of the overloads; `inplace` may be missing.
template <class Meta, auto kernel, std::size_t count = 1>
void structured(torch::Library& m, const char* functional, const char* out, const char* inplace = nullptr) {
  using Forms = StructuredForms<Meta, count, kernel>;
  m.impl(functional, &Forms::functional);
  if constexpr (count == 1)
    m.impl(out, &Forms::out1);
  else if constexpr (count == 2)
    m.impl(out, &Forms::out2);
  else if constexpr (count == 3)
    m.impl(out, &Forms::out3);
  else
    m.impl(out, &Forms::out4);
  if constexpr (count == 1 && Forms::tensor_first)
    if (inplace) m.impl(inplace, in_place_form<Meta, kernel>(&Meta::meta));
}

}  // namespace torch_xpu

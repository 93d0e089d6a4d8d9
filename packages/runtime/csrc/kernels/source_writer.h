// Writes the parts that the sources of all expression kernels share: types, loads and stores, locals.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "xpu/error.h"
#include "xpu/tensor.h"

namespace xpu::kernels {

class SourceWriter {
 public:
  SourceWriter(std::span<const DType> outputs, std::span<const DType> inputs, DType compute, int scalars)
      : outputs_(outputs), inputs_(inputs), compute_(compute), scalars_(scalars) {}

  template <class... Parts>
  void line(const Parts&... parts) {
    text_ += join(parts..., "\n");
  }
  /// The device library's files, and its names.
  void headers(const std::vector<std::string>& more);
  /// The macros XPU_POINTERS and XPU_POINTER_NAMES, and the types T, Index, Parameters, Pointers, Inputs and
  /// Outputs.
  void types(bool wide_index);
  /// advance, load and store; with `vector` above 1 load_vector and store_vector too.
  void memory(int vector);
  /// Blocks, stage_result() and flush_block(): how results reach streaming stores (streaming_store.h).
  void blocks(int vector);
  /// The locals a0, a1, ... from `in`. Bit i of `unconverted_inputs`: input i keeps its own arithmetic type.
  void input_locals(std::uint32_t unconverted_inputs);
  /// The locals p0, p1, ... from `parameters`.
  void scalar_locals();
  /// The Outputs `out` from expressions.
  void output_values(const std::vector<std::string>& expressions);

  std::string take() { return std::move(text_); }

 private:
  std::string pointers(bool declare) const;
  const char* parameter_type() const;

  std::span<const DType> outputs_, inputs_;
  DType compute_;
  int scalars_;
  std::string text_;
  const char* cast_ = "xpu::to";
};

}  // namespace xpu::kernels

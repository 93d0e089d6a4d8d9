// A plan's step that runs one oneDNN primitive.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "dnn/plan.h"

namespace xpu::dnn {

class PrimitiveStep : public Step {
 public:
  struct Argument {
    int id;  ///< DNNL_ARG_...
    dnnl::memory::desc desc;
    int operand;  ///< index into the pointers of a run
  };
  /// Adds scratch to `plan` for the primitive's scratchpad.
  PrimitiveStep(Plan& plan, int device, const dnnl::primitive_desc_base& desc, dnnl::primitive primitive,
                std::vector<Argument> arguments);
  void run(Stream stream, const std::shared_ptr<const Plan>& plan, void* const* pointers) const override;

  static constexpr std::size_t max_arguments = 20;

 private:
  struct Work;

  int device_;
  std::string name_;
  dnnl::primitive primitive_;
  std::vector<Argument> arguments_;
};

/// Returns the attributes of all our primitives: the plan provides their scratchpads.
inline dnnl::primitive_attr basic_attributes(bool deterministic = false) {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  if (deterministic) attributes.set_deterministic(true);
  return attributes;
}

/// Returns the implementation's name. Throws Rejection for oneDNN's reference code: our kernels are faster.
std::string fast_implementation(const dnnl::primitive_desc_base& desc);

}  // namespace xpu::dnn

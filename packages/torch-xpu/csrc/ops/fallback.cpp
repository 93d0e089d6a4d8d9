#include "ops/fallback.h"

#include <ATen/native/CPUFallback.h>
#include <c10/util/Exception.h>
#include <torch/library.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace torch_xpu {
namespace {

struct Counts {
  std::mutex mutex;
  std::map<std::string, std::int64_t> of;
};
Counts& counts() {
  static auto* one = new Counts;
  return *one;
}

FallbackMode mode_from_environment() {
  const char* text = std::getenv("XPU_FALLBACK");
  std::string mode = text && *text ? text : "warn";
  if (mode == "error") return FallbackMode::error;
  if (mode == "warn") return FallbackMode::warn;
  TORCH_CHECK(mode == "allow", "XPU_FALLBACK: got \"", mode, "\", expected error, warn or allow");
  return FallbackMode::allow;
}

std::atomic<FallbackMode>& mode() {
  static std::atomic<FallbackMode> one{mode_from_environment()};
  return one;
}

// Values that copies to the host and back carry whole: tensors and lists of them, and what has none inside.
bool carried(const c10::Type& type, bool in_list = false) {
  using K = c10::TypeKind;
  switch (type.kind()) {
    case K::OptionalType:
      return carried(*type.containedType(0), in_list);
    case K::ListType:
      return !in_list && carried(*type.containedType(0), true);
    case K::TensorType:
    case K::NumberType:
    case K::IntType:
    case K::SymIntType:
    case K::FloatType:
    case K::SymFloatType:
    case K::BoolType:
    case K::SymBoolType:
    case K::ComplexType:
    case K::StringType:
    case K::NoneType:
    case K::DeviceObjType:
    case K::GeneratorType:
    case K::LayoutType:
    case K::ScalarTypeType:
    case K::MemoryFormatType:
    case K::StreamObjType:
      return true;
    default:
      return false;
  }
}

// Why the operator may do more than its schema says, or nothing. Copies of its tensors would take what it
// writes beside the schema, and the caller would see no difference between that and success.
std::string undescribed(const c10::FunctionSchema& schema) {
  for (auto* part : {&schema.arguments(), &schema.returns()})
    for (auto& value : *part)
      if (!carried(*value.type()))
        return c10::str("takes or gives ", value.type()->str(), value.name().empty() ? "" : " as ",
                        value.name());
  bool writes = schema.is_mutable() || !schema.returns().empty();
  if (!writes && schema.operator_name().getNamespace() != "aten") return "neither gives nor writes anything";
  return {};
}

void refuse_undescribed(const c10::OperatorHandle& op) {
  auto name = toString(op.schema().operator_name());
  auto why = undescribed(op.schema());
  if (why.empty()) return;
  TORCH_CHECK_NOT_IMPLEMENTED(
      false, name, " has no xpu kernel, and cannot run on the host in its place: by its schema it ", why,
      ", so that what it writes is not known. Register a kernel for xpu, or call "
      "it with host tensors");
}

// Refuses operands on several devices, as kernels do. PyTorch sends a convolution of host images with weights
// on xpu here: it chooses the operator by the images, the dispatcher the device by all tensors. The host
// would compute it, and hide that the caller forgot to move the images. A single number may be anywhere.
void require_one_device(const c10::FunctionSchema& schema, const torch::jit::Stack& stack) {
  if (schema.operator_name().getNamespace() != "aten") return;
  auto& arguments = schema.arguments();
  auto values = torch::jit::last(stack, arguments.size());
  std::vector<std::pair<at::Tensor, std::string>> operands;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (values[i].isTensor()) operands.emplace_back(values[i].toTensor(), arguments[i].name());
    if (values[i].isTensorList())
      for (auto& tensor : values[i].toTensorVector()) operands.emplace_back(tensor, arguments[i].name());
  }
  std::erase_if(operands, [](auto& operand) { return !operand.first.defined(); });
  auto first = std::ranges::find_if(operands, [](auto& operand) { return operand.first.is_xpu(); });
  if (first == operands.end()) return;
  auto device = first->first.device();
  for (auto& [tensor, name] : operands)
    TORCH_CHECK(tensor.dim() == 0 || tensor.device() == device,
                "Expected all tensors to be on the same device, but found at least two devices, ", device,
                " and ", tensor.device(), "! (when checking argument ", name, " of ",
                toString(schema.operator_name()), ")");
}

void run_on_host(const c10::OperatorHandle& op, torch::jit::Stack* stack) {
  refuse_undescribed(op);
  require_one_device(op.schema(), *stack);
  auto name = toString(op.schema().operator_name());
  auto how = mode().load(std::memory_order_relaxed);
  TORCH_CHECK_NOT_IMPLEMENTED(how != FallbackMode::error, name,
                              " has no xpu kernel, and XPU_FALLBACK=error forbids to run it on the host");
  bool first;
  {
    std::lock_guard lock(counts().mutex);
    first = counts().of[name]++ == 0;
  }
  if (first && how == FallbackMode::warn)
    TORCH_WARN(name,
               " has no xpu kernel and runs on the host, with copies there and back. "
               "torch_xpu.fallbacks() counts such calls; XPU_FALLBACK=allow ends this warning.");
  at::native::cpu_fallback(op, stack, true);
}

}  // namespace

FallbackMode fallback_mode() {
  return mode();
}
void set_fallback_mode(FallbackMode to) {
  mode() = to;
}

std::map<std::string, std::int64_t> fallbacks() {
  std::lock_guard lock(counts().mutex);
  return counts().of;
}

void reset_fallbacks() {
  std::lock_guard lock(counts().mutex);
  counts().of.clear();
}

TORCH_LIBRARY_IMPL(_, XPU, m) {
  m.fallback(torch::CppFunction::makeFromBoxedFunction<&run_on_host>());
}

}  // namespace torch_xpu

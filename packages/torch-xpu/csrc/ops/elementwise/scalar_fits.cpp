#include "ops/elementwise/scalar_fits.h"

namespace torch_xpu {

void check_fits(const at::Scalar& value, at::ScalarType type) {
  switch (type) {
    case at::kByte:
      static_cast<void>(value.toByte());
      break;
    case at::kChar:
      static_cast<void>(value.toChar());
      break;
    case at::kShort:
      static_cast<void>(value.toShort());
      break;
    case at::kInt:
      static_cast<void>(value.toInt());
      break;
    case at::kLong:
      static_cast<void>(value.toLong());
      break;
    case at::kUInt16:
      static_cast<void>(value.toUInt16());
      break;
    case at::kUInt32:
      static_cast<void>(value.toUInt32());
      break;
    case at::kUInt64:
      static_cast<void>(value.toUInt64());
      break;
    case at::kHalf:
      static_cast<void>(value.toHalf());
      break;
    case at::kBFloat16:
      static_cast<void>(value.toBFloat16());
      break;
    case at::kFloat:
      static_cast<void>(value.toFloat());
      break;
    case at::kDouble:
      static_cast<void>(value.toDouble());
      break;
    default:
      break;  // bool and complex hold every number, minifloats saturate
  }
}

}  // namespace torch_xpu

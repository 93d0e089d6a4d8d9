#include "xpu/kernels/scalar.h"

#include <limits>

namespace xpu {

std::uint64_t Scalar::integer_bits() const {
  if (integral_) return integer_;
  constexpr double above_u64 = 18446744073709551616.0, above_i64 = 9223372036854775808.0;
  if (re_ >= above_u64) return std::numeric_limits<std::uint64_t>::max();
  if (re_ >= above_i64) return static_cast<std::uint64_t>(re_);
  if (re_ <= -above_i64) return std::uint64_t{1} << 63;
  return re_ != re_ ? 0 : static_cast<std::uint64_t>(static_cast<std::int64_t>(re_));
}

}  // namespace xpu

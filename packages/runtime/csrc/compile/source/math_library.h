// The compiler's library of math functions, which it reads anew for each source.
#pragma once

#include <string_view>

namespace xpu {

/// Tells whether a flat source may call the compiler's library of math functions, `__imf_*`.
bool may_call_math_library(std::string_view flat);

/// Makes the next builds of this process link the library or leave it out. To leave it out is faster, but
/// only a request: a compiler that is built otherwise than ours links it always.
void link_math_library(bool wanted);

}  // namespace xpu

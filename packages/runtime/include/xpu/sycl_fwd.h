// SYCL's names without SYCL's headers, which cost seconds to compile.
#pragma once

namespace sycl {
inline namespace _V1 {
class context;
class device;
class event;
class kernel;
class queue;
}  // namespace _V1
}  // namespace sycl

// Forward declarations of SYCL's classes, whose headers take seconds to compile.
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

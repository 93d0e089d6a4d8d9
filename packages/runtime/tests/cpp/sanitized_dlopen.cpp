// The SYCL runtime loads its adapters with RTLD_DEEPBIND, which sanitizers refuse: the flag is taken away on
// the way.
#include <dlfcn.h>

extern "C" __attribute__((visibility("default"))) void* dlopen(const char* file, int flags) noexcept {
  static auto* next = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  return next(file, flags & ~RTLD_DEEPBIND);
}

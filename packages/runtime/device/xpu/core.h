// Types, kernel declaration, work-item ids and barriers: what every kernel needs.
//
// This is header-free SYCL. Including any SYCL header would cost a second per kernel; the few
// __spirv_* builtins that the compiler does not predeclare are declared here by hand.
#ifndef XPU_DEVICE_CORE_H
#define XPU_DEVICE_CORE_H

// The sub-group size is a build-time parameter because it is fixed in the kernel's binary.
#ifndef XPU_SUB_GROUP
#define XPU_SUB_GROUP 16
#endif

// 1 where every result of the kernel is rounded to 16 bits or fewer: float functions may then stop at 14.
#ifndef XPU_SHORT_RESULTS
#define XPU_SHORT_RESULTS 0
#endif

#define XPU_FN inline __attribute__((always_inline))

// XPU_KERNEL(dims) name(parameters...) { body }
// Both facts are given as properties: the standard attribute beside a property draws a warning.
#define XPU_KERNEL(DIMS)                                                                             \
  extern "C" __attribute__((sycl_device)) [[__sycl_detail__::add_ir_attributes_function(             \
      "sycl-nd-range-kernel", "sycl-sub-group-size", DIMS, XPU_SUB_GROUP)]] void

typedef __SIZE_TYPE__ size_t;

#define XPU_ID __attribute__((sycl_device)) __attribute__((const)) extern
XPU_ID size_t __spirv_BuiltInGlobalInvocationId(int);
XPU_ID size_t __spirv_BuiltInGlobalSize(int);
XPU_ID size_t __spirv_BuiltInWorkgroupId(int);
XPU_ID size_t __spirv_BuiltInNumWorkgroups(int);
XPU_ID size_t __spirv_BuiltInWorkgroupSize(int);
XPU_ID size_t __spirv_BuiltInLocalInvocationId(int);
XPU_ID unsigned __spirv_BuiltInSubgroupId();
XPU_ID unsigned __spirv_BuiltInNumSubgroups();
XPU_ID unsigned __spirv_BuiltInSubgroupLocalInvocationId();
#undef XPU_ID

namespace xpu {

using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long;
using half = _Float16;

// Kernel parameters that point into device memory must say so, or every access is a generic one.
template <class T> using global = __attribute__((opencl_global)) T*;

// Tells what a kernel takes in a warning, for the runtime, on backends whose images do not say it: of each parameter
// twice the size, and one more for a pointer. The runtime puts XPU_TELL_SIGNATURE into the bodies.
#ifdef XPU_TELL_SIGNATURES
template <class T> constexpr unsigned long parameter_code = 2 * sizeof(T);
template <class T> constexpr unsigned long parameter_code<T*> = 2 * sizeof(T*) + 1;
template <class Kernel, unsigned long... parameters> struct [[deprecated]] xpu_signature {};
template <class Kernel, class F> struct SignatureOf;
template <class Kernel, class... A> struct SignatureOf<Kernel, void(A...)> {
  using type = xpu_signature<Kernel, parameter_code<A>...>;
};
#define XPU_TELL_SIGNATURE(NAME) XPU_TELL_SIGNATURE_OF(NAME)  // which may be a macro
#define XPU_TELL_SIGNATURE_OF(NAME) \
  using xpu_told = typename xpu::SignatureOf<struct NAME##_kernel, decltype(NAME)>::type;
#endif

// Work-item ids. Dimension 0 is the fastest-varying one, as SPIR-V counts (SYCL counts backwards:
// an nd_range of two numbers {rows, columns} has its columns in dimension 0 here).
XPU_FN i64 global_id(int dim = 0) { return (i64)__spirv_BuiltInGlobalInvocationId(dim); }
XPU_FN i64 global_size(int dim = 0) { return (i64)__spirv_BuiltInGlobalSize(dim); }
XPU_FN i64 group_id(int dim = 0) { return (i64)__spirv_BuiltInWorkgroupId(dim); }
XPU_FN i64 group_count(int dim = 0) { return (i64)__spirv_BuiltInNumWorkgroups(dim); }
XPU_FN i32 local_id(int dim = 0) { return (i32)__spirv_BuiltInLocalInvocationId(dim); }
XPU_FN i32 local_size(int dim = 0) { return (i32)__spirv_BuiltInWorkgroupSize(dim); }
XPU_FN i32 sub_group_id() { return (i32)__spirv_BuiltInSubgroupId(); }
XPU_FN i32 sub_group_count() { return (i32)__spirv_BuiltInNumSubgroups(); }
XPU_FN i32 lane() { return (i32)__spirv_BuiltInSubgroupLocalInvocationId(); }

enum : u32 { kDevice = 1, kWorkGroup = 2, kSubGroup = 3 };  // SPIR-V scopes

// Orders local and global memory among the items of the work-group (or sub-group).
XPU_FN void barrier() { __spirv_ControlBarrier(kWorkGroup, kWorkGroup, 0x310u); }
XPU_FN void sub_group_barrier() { __spirv_ControlBarrier(kSubGroup, kSubGroup, 0x310u); }
XPU_FN void fence() { __spirv_MemoryBarrier(kDevice, 0x310u); }

template <class To, class From> XPU_FN To bits_as(From x) { return __builtin_bit_cast(To, x); }

// Element i of an array of bytes, out of the aligned word that holds it.
template <class T, class I> XPU_FN T byte_at(global<const T> p, I i) {
  static_assert(sizeof(T) == 1);
  int before = (int)((u64)p & 3);
  auto words = (global<const u32>)((u64)p - before);
  I at = i + before;
  return (T)(words[at >> 2] >> ((at & 3) * 8));
}

// Bytes i to i + 3 of an array of at least four, the first lowest; zeros for those beyond the end.
template <class T, class I> XPU_FN u32 word_at(global<const T> p, I i, I count) {
  static_assert(sizeof(T) == 1);
  struct __attribute__((packed)) Word {
    u32 value;
  };
  I at = i < count - 4 ? i : count - 4;
  return ((global<const Word>)(p + at))->value >> (u32)((i - at) * 8);
}

// Comparison picks: with a NaN the second argument comes back. The NaN rules are in math.h.
template <class T> XPU_FN T min_of(T a, T b) { return a < b ? a : b; }
template <class T> XPU_FN T max_of(T a, T b) { return a > b ? a : b; }
XPU_FN i64 ceil_div(i64 a, i64 b) { return (a + b - 1) / b; }

// Both values computed, one taken: written as `c ? f(x) : g(x)` the compiler may make a branch of it,
// and lanes that part run several times slower than both sides together.
template <class T> XPU_FN T select(bool c, T a, T b) { return c ? a : b; }

// A fixed array with value semantics, for shapes, strides and per-item tiles passed by value.
template <class T, int N> struct Array {
  T data[N];
  XPU_FN T& operator[](int i) { return data[i]; }
  XPU_FN const T& operator[](int i) const { return data[i]; }
  static constexpr int size() { return N; }
};

template <class A, class B> constexpr bool same_type = false;
template <class A> constexpr bool same_type<A, A> = true;
template <bool C, class T> struct EnableIf {};
template <class T> struct EnableIf<true, T> { using type = T; };
template <bool C, class T> using enable_if = typename EnableIf<C, T>::type;

XPU_FN constexpr float infinity() { return __builtin_inff(); }
XPU_FN constexpr float nan() { return __builtin_nanf(""); }

}  // namespace xpu

#endif

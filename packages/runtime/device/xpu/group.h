// Shuffles, reductions and scans over a sub-group and over a work-group, for any combining function.
//
// The functions must be reached by every item of the (sub-)group, and the work-group's size must be
// a multiple of XPU_SUB_GROUP. `op(a, b)` must be associative; operands keep their lane order, so it
// need not be commutative, and every lane computes the same bits.
#ifndef XPU_DEVICE_GROUP_H
#define XPU_DEVICE_GROUP_H
#include <xpu/backend.h>
#include <xpu/local.h>

namespace xpu {

constexpr int kMaxSubGroups = 1024 / XPU_SUB_GROUP > 1 ? 1024 / XPU_SUB_GROUP : 1;

// Shares 0, 1, ... count - 1 out among the items of the group, which must all come here with the same count: f(i, way)
// is called for each, with a way below WAYS, so that an item can keep sums that do not wait for each other. What is
// counted is the same for all items: where each counts for itself, a CPU's compiler makes a vector of every address.
template <int WAYS, class F> XPU_FN __attribute__((flatten)) void each_item_in_ways(i64 count, F f) {
  const i64 own = local_id(), step = local_size();
  i64 at = 0;
  for (; at + WAYS * step <= count; at += WAYS * step)
#pragma unroll
    for (int way = 0; way < WAYS; ++way) f(at + way * step + own, way);
  for (; at + own < count; at += step) f(at + own, 0);
}
template <class F> XPU_FN __attribute__((flatten)) void each_item(i64 count, F f) {
  each_item_in_ways<1>(count, [&](i64 i, int) __attribute__((always_inline)) { f(i); });
}

// The value of x in another lane. T is any trivially copyable type: it travels in 32-bit words.
template <class T> XPU_FN T shuffle(T x, int from) {
  if constexpr (sizeof(T) == 4) {
    return bits_as<T>(shuffle_word(bits_as<u32>(x), (u32)from));
  } else if constexpr (sizeof(T) == 2) {
    return bits_as<T>((u16)shuffle_word((u32)bits_as<u16>(x), (u32)from));
  } else if constexpr (sizeof(T) == 1) {
    return bits_as<T>((u8)shuffle_word((u32)bits_as<u8>(x), (u32)from));
  } else {
    static_assert(sizeof(T) % 4 == 0, "a shuffled type has 1, 2 or a multiple of 4 bytes");
    auto words = bits_as<Array<u32, sizeof(T) / 4>>(x);
    for (int i = 0; i < words.size(); ++i) words[i] = shuffle_word(words[i], (u32)from);
    return bits_as<T>(words);
  }
}

template <class T> XPU_FN T shuffle_xor(T x, int mask) { return shuffle(x, lane() ^ mask); }
template <class T> XPU_FN T sub_group_broadcast(T x, int from = 0) { return shuffle(x, from); }

struct Sum {
  template <class T> XPU_FN T operator()(T a, T b) const { return a + b; }
};
struct Product {
  template <class T> XPU_FN T operator()(T a, T b) const { return a * b; }
};
// A NaN in `a` stays.
struct Larger {
  template <class T> XPU_FN T operator()(T a, T b) const { return a < b ? b : a; }
};

template <class T, class Op> XPU_FN T sub_group_reduce(T x, Op op) {
  int me = lane();
  for (int d = 1; d < XPU_SUB_GROUP; d *= 2) {
    T other = shuffle(x, me ^ d);
    x = me & d ? op(other, x) : op(x, other);
  }
  return x;
}

template <class T, class Op> XPU_FN T sub_group_inclusive_scan(T x, Op op) {
  int me = lane();
  for (int d = 1; d < XPU_SUB_GROUP; d *= 2) {
    T other = shuffle(x, me >= d ? me - d : me);
    x = me >= d ? op(other, x) : x;
  }
  return x;
}

template <class T, class Op> XPU_FN T sub_group_exclusive_scan(T x, Op op, T identity) {
  int me = lane();
  T previous = shuffle(sub_group_inclusive_scan(x, op), me > 0 ? me - 1 : 0);
  return me > 0 ? previous : identity;
}

// A static inside a function template is refused by the compiler; a variable template is not.
template <class T, int N> inline Local<T, N> group_scratch;

// Every item gets the result. Ends with a barrier, so calls may follow one another.
template <class T, class Op> XPU_FN T group_reduce(T x, Op op, T identity) {
  T* partial = group_scratch<T, kMaxSubGroups>.data;
  x = sub_group_reduce(x, op);
  if (sub_group_count() == 1) return x;
  if (lane() == 0) partial[sub_group_id()] = x;
  barrier();
  T sum = identity;
  // In order, a block of lanes at a time: 1024 items may be more sub-groups than a sub-group has lanes.
  for (int base = 0; base < sub_group_count(); base += XPU_SUB_GROUP) {
    int i = base + lane();
    T part = sub_group_reduce(i < sub_group_count() ? partial[i] : identity, op);
    sum = op(sum, part);
  }
  barrier();
  return sum;
}

// Inclusive scan in the order of local_id(0). `total`, if given, gets the whole group's result.
template <class T, class Op> XPU_FN T group_inclusive_scan(T x, Op op, T identity, T* total = nullptr) {
  T* partial = group_scratch<T, kMaxSubGroups>.data;
  x = sub_group_inclusive_scan(x, op);
  if (lane() == XPU_SUB_GROUP - 1) partial[sub_group_id()] = x;
  barrier();
  T before = identity, all = identity;
  for (int i = 0; i < sub_group_count(); ++i) {
    before = i == sub_group_id() ? all : before;
    all = op(all, partial[i]);
  }
  barrier();
  if (total) *total = all;
  return op(before, x);
}

template <class T, class Op> XPU_FN T group_exclusive_scan(T x, Op op, T identity, T* total = nullptr) {
  T* partial = group_scratch<T, kMaxSubGroups>.data;
  T inclusive = sub_group_inclusive_scan(x, op);
  int me = lane();
  T previous = shuffle(inclusive, me > 0 ? me - 1 : 0);
  if (me == XPU_SUB_GROUP - 1) partial[sub_group_id()] = inclusive;
  barrier();
  T before = identity, all = identity;
  for (int i = 0; i < sub_group_count(); ++i) {
    before = i == sub_group_id() ? all : before;
    all = op(all, partial[i]);
  }
  barrier();
  if (total) *total = all;
  return me > 0 ? op(before, previous) : before;
}

template <class T> XPU_FN T group_broadcast(T x, int from_local_id) {
  T* box = group_scratch<T, 1>.data;
  if (local_id() == from_local_id) box[0] = x;
  barrier();
  x = box[0];
  barrier();
  return x;
}

XPU_FN bool sub_group_any(bool p) { return __spirv_GroupAny(kSubGroup, p); }
XPU_FN bool sub_group_all(bool p) { return __spirv_GroupAll(kSubGroup, p); }
XPU_FN bool group_any(bool p) { return __spirv_GroupAny(kWorkGroup, p); }
XPU_FN bool group_all(bool p) { return __spirv_GroupAll(kWorkGroup, p); }

}  // namespace xpu

#endif

// Device-side checks: the first fault of a device is written to a record in pinned host memory,
// which the host reads at its next wait and turns into an exception.
#ifndef XPU_DEVICE_FAULT_H
#define XPU_DEVICE_FAULT_H
#include <xpu/atomic.h>

namespace xpu {

struct FaultRecord {
  u32 code;
  u32 unused;
  i64 a;
  i64 b;
};

// `code` comes from the host, which knows the op and the text for it. The first to change the code owns the record; a and b are complete when the kernel is.
XPU_FN void fault(global<FaultRecord> record, u32 code, i64 a, i64 b) {
  global<u32> word = &record->code;
  if (atomic_cas(word, 0u, code) == 0u) {
    record->a = a;
    record->b = b;
  }
}

// For an index that may be negative as Python's may: the index to use, or 0 after noting a fault with a: the index
// and b: the size of the dimension.
XPU_FN i64 checked_index(global<FaultRecord> record, u32 code, i64 index, i64 size) {
  i64 wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  fault(record, code, index, size);
  return 0;
}

// For an index that may not be negative: the index, or 0 after noting a fault.
XPU_FN i64 checked_nonnegative_index(global<FaultRecord> record, u32 code, i64 index, i64 size) {
  if (index >= 0 && index < size) return index;
  fault(record, code, index, size);
  return 0;
}

}  // namespace xpu

#endif

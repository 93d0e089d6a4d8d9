// Device-side checks: the first fault of a stream is written to a record in pinned host memory,
// which the host reads at its next wait and turns into an exception.
#ifndef XPU_DEVICE_FAULT_H
#define XPU_DEVICE_FAULT_H
#include <xpu/atomic.h>

namespace xpu {

// What the codes mean and what a and b hold for each; the host has the same list.
enum FaultCode : u32 {
  kFaultNone = 0,
  kFaultIndexOutOfRange = 1,   // a: the index, b: the size of the dimension
  kFaultAssertFailed = 2,      // a: id of the message, b: global id of the item
  kFaultInvalidValue = 3,      // a: the value (float bits or integer), b: position
  kFaultIntegerDivideByZero = 4,  // a: the dividend, b: position
};

struct FaultRecord {
  u32 code;
  u32 unused;
  i64 a;
  i64 b;
};

// The first to change the code owns the record; a and b are complete when the kernel is.
XPU_FN void fault(global<FaultRecord> record, u32 code, i64 a, i64 b) {
  global<u32> word = &record->code;
  if (atomic_cas(word, (u32)kFaultNone, code) == kFaultNone) {
    record->a = a;
    record->b = b;
  }
}

// For an index that may be negative as Python's may: the index to use, or 0 after noting a fault.
XPU_FN i64 checked_index(global<FaultRecord> record, i64 index, i64 size) {
  i64 wrapped = index < 0 ? index + size : index;
  if (wrapped >= 0 && wrapped < size) return wrapped;
  fault(record, kFaultIndexOutOfRange, index, size);
  return 0;
}

}  // namespace xpu

#endif

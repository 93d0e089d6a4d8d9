// What a graph holds while, and after, a stream is recorded.
#pragma once

#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "xpu/launch.h"

namespace xpu {

/// One piece of work kept to be submitted again.
struct RecordedWork {
  WorkKind kind;
  std::string name;
  std::size_t bytes;
  Submit::Owned submit;
};

class Recording {
 public:
  explicit Recording(bool native) : native_(native) {}
  /// Keeps the work. False when the submission must still be made, because SYCL is recording the queue
  /// itself.
  bool note(const WorkInfo& info, Submit submit);
  bool native() const { return native_; }
  std::size_t size() const { return size_; }
  std::vector<RecordedWork>& work() { return work_; }

 private:
  bool native_;
  std::mutex mutex_;
  std::size_t size_ = 0;
  std::vector<RecordedWork> work_;
};

}  // namespace xpu

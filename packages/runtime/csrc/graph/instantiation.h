// Keeps submissions and the instantiation of native graphs apart: SYCL sets arguments on kernel objects that
// all of a device's streams share, under a lock of its own for submissions, and under none when it
// instantiates.
#pragma once

namespace xpu::graph {

/// While a thread submits work. Any number of threads at a time; must not be nested.
class SubmissionLock {
 public:
  SubmissionLock();
  ~SubmissionLock();
  SubmissionLock(const SubmissionLock&) = delete;
  SubmissionLock& operator=(const SubmissionLock&) = delete;
};

/// While a thread instantiates a graph: blocks until no thread submits, and then alone. Comes before later
/// submissions, so that busy streams cannot keep it waiting.
class InstantiationLock {
 public:
  InstantiationLock();
  ~InstantiationLock();
  InstantiationLock(const InstantiationLock&) = delete;
  InstantiationLock& operator=(const InstantiationLock&) = delete;
};

}  // namespace xpu::graph

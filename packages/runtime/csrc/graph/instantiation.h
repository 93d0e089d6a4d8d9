// Locks that keep submissions and the instantiation of native graphs apart. Both set arguments on the same
// kernel objects; SYCL locks these when it submits, but not when it instantiates a graph.
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

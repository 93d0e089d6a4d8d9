// Locks that exclude submissions during the instantiation of native graphs. Both set arguments on the same
// kernel objects; SYCL locks these when it submits, but not when it instantiates a graph.
#pragma once

namespace xpu::graph {

/// Held while a thread submits work, by any number of threads at a time. Must not be nested.
class SubmissionLock {
 public:
  SubmissionLock();
  ~SubmissionLock();
  SubmissionLock(const SubmissionLock&) = delete;
  SubmissionLock& operator=(const SubmissionLock&) = delete;
};

/// Held while a thread instantiates a graph, by one thread alone: blocks until no thread submits. It takes
/// precedence over later submissions, so that busy streams cannot starve it.
class InstantiationLock {
 public:
  InstantiationLock();
  ~InstantiationLock();
  InstantiationLock(const InstantiationLock&) = delete;
  InstantiationLock& operator=(const InstantiationLock&) = delete;
};

}  // namespace xpu::graph

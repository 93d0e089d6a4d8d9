#include "graph/instantiation.h"

#include <pthread.h>

namespace xpu::graph {
namespace {

// std::shared_mutex lets readers overtake a waiting writer.
pthread_rwlock_t submissions = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

}  // namespace

SubmissionLock::SubmissionLock() {
  pthread_rwlock_rdlock(&submissions);
}
SubmissionLock::~SubmissionLock() {
  pthread_rwlock_unlock(&submissions);
}

InstantiationLock::InstantiationLock() {
  pthread_rwlock_wrlock(&submissions);
}
InstantiationLock::~InstantiationLock() {
  pthread_rwlock_unlock(&submissions);
}

}  // namespace xpu::graph

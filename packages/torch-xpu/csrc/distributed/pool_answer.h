// What a job on the pool of threads returns, waited for no longer than a limit.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>
#include <utility>

#include "distributed/lane.h"

namespace torch_xpu::distributed {

/// Returns what `job` returns; nothing if it throws or takes longer, after which it goes on. std::future
/// would want symbols of a newer libstdc++, which PyTorch's libraries may bring or not.
template <typename Job, typename Answer = std::invoke_result_t<Job>>
std::optional<Answer> pool_answer(std::chrono::milliseconds limit, Job job) {
  struct State {
    std::mutex mutex;
    std::condition_variable ended;
    bool has_ended = false;
    std::optional<Answer> answer;
  };
  auto state = std::make_shared<State>();
  run_on_pool([state, job = std::move(job)] {
    std::optional<Answer> answer;
    try {
      answer = job();
    } catch (...) {
      // The caller's own error matters more.
    }
    std::lock_guard lock(state->mutex);
    state->answer = std::move(answer);
    state->has_ended = true;
    state->ended.notify_all();
  });
  std::unique_lock lock(state->mutex);
  state->ended.wait_for(lock, limit, [&] { return state->has_ended; });
  return state->answer;
}

}  // namespace torch_xpu::distributed

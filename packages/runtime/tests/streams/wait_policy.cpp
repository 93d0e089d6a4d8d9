// Waits for a simulated device, on a simulated host.
#include "wait_policy.h"

namespace {

// In ns. A poll takes 1 us; a pause takes 5 us more than it should.
struct SimulatedHost {
  std::int64_t time = 0, polls = 0, spun = 0;

  xpu::WaitTime now() const { return xpu::WaitTime(time); }
  void yield() { spun = time; }
  void pause(xpu::WaitTime pause) { time += pause.count() + 5000; }
};

}  // namespace

extern "C" {
xpu::WaitPolicy* make_policy() {
  return new xpu::WaitPolicy;
}
void destroy_policy(xpu::WaitPolicy* policy) {
  delete policy;
}
/// Waits for work of `duration` ns. `result` gets the time of the wait, the number of polls, the time until
/// the last poll that no pause followed, and whether the work was seen to be done. `timeout` is in ns.
void wait_for(xpu::WaitPolicy* policy, std::int64_t duration, std::int64_t timeout, std::int64_t* result) {
  SimulatedHost host;
  auto is_done = [&] {
    host.time += 1000;
    ++host.polls;
    return host.time >= duration;
  };
  result[3] = xpu::poll_until(*policy, is_done, xpu::WaitTime(timeout), host);
  result[0] = host.time, result[1] = host.polls, result[2] = host.spun;
}
}

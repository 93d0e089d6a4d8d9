// Which threads queue work, for the end of the process, which some of them must not outlive.
#pragma once

namespace xpu::using_threads {

/// The calling thread queues something.
void note();
/// While the calling thread waits for a device or a compiler, however long.
class Wait {
 public:
  Wait();
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
};

}  // namespace xpu::using_threads

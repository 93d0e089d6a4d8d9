// Which threads queue work, for the end of the process, which some of them must not outlive.
#pragma once

namespace xpu::using_threads {

/// The calling thread uses a device.
void note();
/// What a thread calls at the end of a wait, from now on.
void set_park(void (*park)() noexcept);
/// While the calling thread waits for a device or a compiler, however long.
class Wait {
 public:
  Wait();
  ~Wait();
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;
};

}  // namespace xpu::using_threads

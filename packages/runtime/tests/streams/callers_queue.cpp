// What an extension does that was given a stream's sycl::queue. Each function changes an array of one u32.
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <sycl/sycl.hpp>
#include <thread>

extern "C" {
void host_task(sycl::queue* queue, std::uint32_t* x, std::uint32_t k, int milliseconds) {
  queue->submit([=](sycl::handler& handler) {
    handler.host_task([=] {
      auto value = *x;
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      *x = 3 * value + k;
    });
  });
}
void failing_task(sycl::queue* queue) {
  queue->submit(
      [](sycl::handler& handler) { handler.host_task([] { throw std::runtime_error("on purpose"); }); });
}
/// True if the queue has an external event, which it returns each time it is asked. Otherwise it returns
/// none, or a new one each time.
int has_external_event(sycl::queue* queue) {
  auto event = queue->ext_oneapi_get_last_event();
  return event && event == queue->ext_oneapi_get_last_event();
}
/// Copies x to `spare`, zeroes x and copies it back.
void copies(sycl::queue* queue, std::uint32_t* x, std::uint32_t* spare) {
  queue->memcpy(spare, x, sizeof *x);
  queue->memset(x, 0, sizeof *x);
  queue->memcpy(x, spare, sizeof *x);
}
sycl::queue* make_queue(sycl::queue* like) {
  return new sycl::queue(like->get_context(), like->get_device(), sycl::property::queue::in_order());
}
}

// Entries of PJRT_Event, the C handle of a CompletionEvent.
#include "pjrt/event.h"

#include "pjrt/entry.h"

namespace xla_xpu {
namespace {

void destroy(PJRT_Event_Destroy_Args& args) {
  delete args.event;
}

void is_ready(PJRT_Event_IsReady_Args& args) {
  args.is_ready = args.event->completion->is_complete();
}

void await(PJRT_Event_Await_Args& args) {
  args.event->completion->wait();
}

void error(PJRT_Event_Error_Args& args) {
  if (!args.event->completion->is_complete())
    fail_with_code(PJRT_Error_Code_FAILED_PRECONDITION,
                   "PJRT_Event_Error: the event is not ready yet; await it first");
  args.event->completion->wait();
}

void on_ready(PJRT_Event_OnReady_Args& args) {
  args.event->completion->then(
      [callback = args.callback, user = args.user_arg](const std::exception_ptr& failure) {
        callback(failure ? error_of(failure) : nullptr, user);
      });
}

}  // namespace

void install_events(PJRT_Api& api) {
  api.PJRT_Event_Destroy = entry<destroy>;
  api.PJRT_Event_IsReady = entry<is_ready>;
  api.PJRT_Event_Await = entry<await>;
  api.PJRT_Event_Error = entry<error>;
  api.PJRT_Event_OnReady = entry<on_ready>;
}

}  // namespace xla_xpu

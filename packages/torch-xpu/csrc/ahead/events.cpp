// The C functions of events.
#include "xpu/event.h"

#include <torch/csrc/inductor/aoti_torch/utils.h>

#include <memory>

#include "ahead/streams.h"
#include "bridge/runtime.h"
#include "torch_xpu/aoti/runtime.h"

struct XpuEventOpaque {
  xpu::Event event;
};

AOTITorchError aoti_torch_xpu_record_event(void* stream,
                                           XpuEventHandle* ret){AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({
  torch_xpu::runtime();
  auto recorded = std::make_unique<XpuEventOpaque>();
  recorded->event.record(torch_xpu::stream_at(stream));
  *ret = recorded.release();
})}

AOTITorchError aoti_torch_xpu_query_event(XpuEventHandle event, std::int32_t* ret){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ *ret = event->event.query(); })}

AOTITorchError aoti_torch_xpu_wait_event(XpuEventHandle event){
    AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ event->event.synchronize(); })}

AOTITorchError aoti_torch_xpu_delete_event(XpuEventHandle event) {
  AOTI_TORCH_CONVERT_EXCEPTION_TO_ERROR_CODE({ delete event; })
}

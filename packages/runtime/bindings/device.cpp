#include "xpu/device.h"

#include <pybind11/stl.h>

#include "bindings.h"

namespace xpu::bindings {

void bind_device(py::module_& m) {
#define FIELD(name) def_readonly(#name, &DeviceInfo::name)
  py::class_<DeviceInfo>(m, "DeviceInfo", "What a device is and can do, as its driver says.")
      .FIELD(name)
      .FIELD(vendor)
      .FIELD(backend)
      .FIELD(platform)
      .FIELD(driver_version)
      .FIELD(version)
      .FIELD(type)
      .FIELD(uuid)
      .FIELD(vendor_id)
      .FIELD(device_id)
      .FIELD(architecture)
      .FIELD(total_memory)
      .FIELD(max_allocation)
      .FIELD(local_memory)
      .FIELD(cache_size)
      .FIELD(cache_line)
      .FIELD(max_compute_units)
      .FIELD(max_clock_mhz)
      .FIELD(max_sub_groups)
      .FIELD(memory_base_align_bits)
      .FIELD(eu_count)
      .FIELD(eu_count_per_subslice)
      .FIELD(eu_simd_width)
      .FIELD(slices)
      .FIELD(subslices_per_slice)
      .FIELD(hw_threads_per_eu)
      .FIELD(memory_clock_mhz)
      .FIELD(memory_bus_bits)
      .FIELD(max_work_group_size)
      .FIELD(max_argument_bytes)
      .FIELD(sub_group_sizes)
      .FIELD(sub_group_size)
      .FIELD(fp16)
      .FIELD(fp64)
      .FIELD(atomic64)
      .FIELD(bf16_conversions)
      .FIELD(matrix)
      .FIELD(usm_device)
      .FIELD(usm_host)
      .FIELD(usm_shared)
      .FIELD(usm_system)
      .FIELD(graph)
      .FIELD(free_memory)
      .FIELD(is_gpu)
      .FIELD(unified_memory)
      .def_property_readonly("max_work_item_sizes", [](const DeviceInfo& d) {
        return py::make_tuple(d.max_work_item_sizes[0], d.max_work_item_sizes[1], d.max_work_item_sizes[2]);
      });
#undef FIELD
  m.def("device_count", &device_count, "How many devices this process may use.", Unlocked());
  m.def("device_info", &device_info, py::arg("device"), py::return_value_policy::reference, Unlocked());
  m.def(
      "memory_info",
      [](int device) {
        auto i = memory_info(device);
        return std::make_pair(i.free, i.total);
      },
      py::arg("device"), "Bytes free and in all.", Unlocked());
  m.def("can_access_peer", &can_access_peer, py::arg("device"), py::arg("peer"), Unlocked());
  m.def("current_device", &current_device, "The calling thread's device.");
  m.def("set_device", &set_device, py::arg("device"), Unlocked());
  m.def("exchange_device", &exchange_device, py::arg("device"), Unlocked());
  m.def("synchronize", &synchronize, py::arg("device"), "Waits for every stream of the device.", Unlocked());
  m.def(
      "device_of_pointer", [](std::uintptr_t p) { return device_of_pointer(reinterpret_cast<void*>(p)); },
      py::arg("pointer"), "The device whose memory it is, or -1.", Unlocked());
}

}  // namespace xpu::bindings

#include "xpu/memory.h"

#include <pybind11/stl.h>

#include <map>

#include "bindings.h"
#include "memory_stack.h"
#include "xpu/host_memory.h"

namespace xpu::bindings {
namespace {

using Address = std::uintptr_t;
void* pointer(Address address) {
  return reinterpret_cast<void*>(address);
}

using Flat = std::map<std::string, std::int64_t>;

void flatten(Flat& into, const std::string& name, const memory::Stat& stat) {
  into[name + ".current"] = stat.current;
  into[name + ".peak"] = stat.peak;
  into[name + ".allocated"] = stat.allocated;
  into[name + ".freed"] = stat.freed;
}

void flatten(Flat& into, const std::string& name, const memory::Stat (&stats)[3]) {
  flatten(into, name + ".all", stats[memory::all]);
  flatten(into, name + ".small_pool", stats[memory::small_pool]);
  flatten(into, name + ".large_pool", stats[memory::large_pool]);
}

Flat flat(const memory::Stats& s) {
  Flat flat;
#define STAT(name) flatten(flat, #name, s.name)
  STAT(allocation), STAT(segment), STAT(active), STAT(inactive_split), STAT(allocated_bytes),
      STAT(reserved_bytes);
  STAT(active_bytes), STAT(inactive_split_bytes), STAT(requested_bytes);
#undef STAT
  flat["num_alloc_retries"] = s.num_alloc_retries;
  flat["num_ooms"] = s.num_ooms;
  flat["num_device_alloc"] = s.num_device_alloc;
  flat["num_device_free"] = s.num_device_free;
  for (auto& owner : s.owners) flatten(flat, "owner." + owner.name, owner.allocated_bytes);
  return flat;
}

Flat flat(const host_memory::Stats& s) {
  Flat flat;
  flatten(flat, "allocation", s.allocations);
  flatten(flat, "allocated_bytes", s.allocated_bytes);
  flatten(flat, "reserved_bytes", s.reserved_bytes);
  flatten(flat, "active_bytes", s.active_bytes);
  flat["num_host_alloc"] = s.num_host_alloc;
  flat["num_host_free"] = s.num_host_free;
  return flat;
}

py::dict describe(const memory::BlockInfo& block) {
  py::dict d;
  d["address"] = reinterpret_cast<Address>(block.base);
  d["size"] = block.size;
  d["requested"] = block.requested;
  d["device"] = block.device;
  d["stream"] = block.stream;
  d["owner"] = memory::owner_name(block.owner);
  return d;
}

py::dict describe(const memory::SnapshotSegment& segment) {
  py::list blocks;
  for (auto& block : segment.blocks) {
    py::dict b;
    b["address"] = block.address;
    b["size"] = block.size;
    b["requested_size"] = block.requested;
    b["state"] = block.state;
    b["owner"] = block.owner;
    blocks.append(b);
  }
  py::dict s;
  s["device"] = segment.device;
  s["address"] = segment.address;
  s["total_size"] = segment.total_size;
  s["allocated_size"] = segment.allocated_size;
  s["active_size"] = segment.active_size;
  s["requested_size"] = segment.requested_size;
  s["stream"] = segment.stream;
  s["segment_type"] = segment.type;
  s["segment_pool_id"] = py::make_tuple(0, segment.pool);
  s["blocks"] = blocks;
  return s;
}

template <class F>
auto unlocked(F&& work) {
  py::gil_scoped_release release;
  return work();
}

void bind_pools(py::module_& m) {
  m.def("memory_create_pool", &memory::create_pool, py::arg("splits") = true);
  m.def("memory_open_pool", py::overload_cast<int, memory::PoolId>(&memory::open_pool), py::arg("device"),
        py::arg("pool"), Unlocked());
  m.def("memory_close_pool", py::overload_cast<int, memory::PoolId>(&memory::close_pool), py::arg("device"),
        py::arg("pool"), Unlocked());
  m.def("memory_retain_pool", &memory::retain_pool, py::arg("device"), py::arg("pool"), Unlocked());
  m.def("memory_release_pool", &memory::release_pool, py::arg("device"), py::arg("pool"),
        py::arg("give_back") = false, Unlocked());
}

void bind_host_memory(py::module_& m) {
  m.def(
      "host_allocate",
      [](std::size_t bytes) { return reinterpret_cast<Address>(host_memory::allocate(bytes)); },
      py::arg("bytes"), "Pinned host memory.", Unlocked());
  m.def(
      "host_deallocate", [](Address p) { host_memory::deallocate(pointer(p)); }, py::arg("pointer"),
      Unlocked());
  m.def(
      "host_record_stream", [](Address p, Stream s) { host_memory::record_stream(pointer(p), s); },
      py::arg("pointer"), py::arg("stream"), Unlocked());
  m.def(
      "is_pinned", [](Address p) { return host_memory::is_pinned(pointer(p)); }, py::arg("pointer"),
      Unlocked());
  m.def("host_empty_cache", &host_memory::empty_cache, Unlocked());
  m.def("host_memory_stats", [] { return flat(host_memory::stats()); });
  m.def("host_reset_peak", &host_memory::reset_peak_stats, Unlocked());
}

}  // namespace

void bind_memory(py::module_& m) {
  m.def(
      "allocate",
      [](std::size_t bytes, Stream stream, memory::Owner owner) {
        return reinterpret_cast<Address>(memory::allocate(bytes, stream, owner));
      },
      py::arg("bytes"), py::arg("stream"), py::arg("owner") = 0, Unlocked());
  m.def(
      "deallocate", [](Address p) { memory::deallocate(pointer(p)); }, py::arg("pointer"), Unlocked());
  m.def(
      "record_stream", [](Address p, Stream stream) { memory::record_stream(pointer(p), stream); },
      py::arg("pointer"), py::arg("stream"), Unlocked());
  m.def(
      "memory_find",
      [](Address p) -> py::object {
        auto block = unlocked([&] { return memory::find(pointer(p)); });
        return block.base ? py::object(describe(block)) : py::none();
      },
      py::arg("pointer"));
  m.def("memory_owner", &memory::owner, py::arg("name"), "The number of an owner.");
  m.def(
      "memory_stats", [](int device) { return flat(unlocked([&] { return memory::stats(device); })); },
      py::arg("device"));
  m.def("memory_reset_peak", &memory::reset_peak_stats, py::arg("device"), Unlocked());
  m.def("memory_reset_accumulated", &memory::reset_accumulated_stats, py::arg("device"), Unlocked());
  m.def("empty_cache", &memory::empty_cache, py::arg("device"), Unlocked());
  m.def("memory_set_limit", &memory::set_limit, py::arg("device"), py::arg("bytes"), Unlocked());
  m.def("memory_limit", &memory::limit, py::arg("device"), Unlocked());
  m.def("memory_snapshot", [] {
    py::list segments;
    for (auto& segment : unlocked([] { return memory::snapshot(); })) segments.append(describe(segment));
    return segments;
  });
  m.def("memory_set_log", &memory::set_log, py::arg("path"), Unlocked());
  m.def("memory_fail_allocation", &memory::fail_allocation, py::arg("k"), Unlocked());
  bind_pools(m);
  bind_host_memory(m);
  print_python_stack_on_fault();
}

}  // namespace xpu::bindings

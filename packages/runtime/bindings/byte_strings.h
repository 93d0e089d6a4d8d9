// Python's bytes and the runtime's.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <string_view>
#include <vector>

namespace xpu::bindings {

namespace py = pybind11;

inline py::bytes to_bytes(const std::vector<std::uint8_t>& data) {
  return {reinterpret_cast<const char*>(data.data()), data.size()};
}

inline std::vector<std::uint8_t> to_vector(const py::bytes& data) {
  std::string_view text = data;
  return {text.begin(), text.end()};
}

}  // namespace xpu::bindings

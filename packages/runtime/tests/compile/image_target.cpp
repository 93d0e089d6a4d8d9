// name_loadable_target() over the bytes of a caller.
#include "compile/image_target.cpp"

extern "C" void name_target(char* data, std::size_t size) {
  xpu::Bytes bytes(data, data + size);
  xpu::name_loadable_target(bytes);
  std::copy(bytes.begin(), bytes.end(), data);
}

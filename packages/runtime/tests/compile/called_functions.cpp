// called_functions() as words of one text.
#include "compile/called_functions.cpp"

extern "C" const char* list_called(const char* flat) {
  static std::string list;
  list.clear();
  for (auto& name : xpu::called_functions(flat)) list += name + " ";
  return list.c_str();
}

// Marks what the libraries of torch-xpu export to each other, to its Python modules and to C++ programs.
#pragma once

#define TORCH_XPU_PUBLIC __attribute__((visibility("default")))

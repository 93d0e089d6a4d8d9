// What graphs of config.cpp_wrapper, which Python calls, include first.
#pragma once

#include <torch/csrc/inductor/cpp_wrapper/common.h>

#include "xpu_program.h"

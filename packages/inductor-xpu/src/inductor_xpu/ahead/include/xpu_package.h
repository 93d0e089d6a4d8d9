// What programs in packages include first.
#pragma once

#include <torch/csrc/inductor/aoti_include/common.h>

#include "xpu_program.h"

// Matrix work: oneDNN primitives on our streams and memory, with a plain SYCL kernel behind each that always
// works.
//
// Every problem has an ordered list of candidates; the first that accepts runs, and explain() says who was
// refused and why. Scratch memory comes from the pool; what was chosen is cached by the whole problem.
#pragma once

#include "xpu/dnn/attention.h"
#include "xpu/dnn/attributes.h"
#include "xpu/dnn/convolution.h"
#include "xpu/dnn/matmul.h"
#include "xpu/dnn/normalization.h"
#include "xpu/dnn/plans.h"
#include "xpu/dnn/pooling.h"
#include "xpu/dnn/reorder.h"
#include "xpu/dnn/rnn.h"

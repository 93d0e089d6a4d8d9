// Matrix work: oneDNN primitives on the runtime's streams and memory, each with a plain SYCL kernel as
// fallback.
//
// Every problem has an ordered list of candidates. The first that accepts is used and cached for the problem;
// explain() says which candidates rejected it and why. Scratch memory comes from the pool.
#pragma once

#include "xpu/dnn/attention.h"
#include "xpu/dnn/attributes.h"
#include "xpu/dnn/convolution.h"
#include "xpu/dnn/matmul.h"
#include "xpu/dnn/normalization.h"
#include "xpu/dnn/packed_weights.h"
#include "xpu/dnn/plans.h"
#include "xpu/dnn/pooling.h"
#include "xpu/dnn/reorder.h"
#include "xpu/dnn/rnn.h"

"""Matrix work: oneDNN where it is best, plain SYCL kernels where it cannot.

>>> c = xpu_runtime.dnn.matmul(a, b, bias=bias, post_ops=[PostOp("relu")])
>>> xpu_runtime.dnn.explain()
['onednn brg_matmul:avx512_core: used']
"""

from ._attention import attention, attention_backward
from ._common import (
    CacheStats,
    PackedArray,
    PostOp,
    Quantization,
    cache_stats,
    clear_cache,
    explain,
    onednn_matmul_unsupported_reason,
    only_candidate,
)
from ._convolution import convolution, convolution_backward_data, convolution_backward_weights
from ._matmul import matmul
from ._normalization import batch_norm, layer_norm, reorder, softmax
from ._pooling import pool, pool_backward, pool_workspace
from ._rnn import rnn
from ._rnn_training import RnnForward, RnnGradients, rnn_backward, rnn_training

__all__ = [
    "CacheStats",
    "PackedArray",
    "PostOp",
    "Quantization",
    "RnnForward",
    "RnnGradients",
    "attention",
    "attention_backward",
    "batch_norm",
    "cache_stats",
    "clear_cache",
    "convolution",
    "convolution_backward_data",
    "convolution_backward_weights",
    "explain",
    "layer_norm",
    "matmul",
    "onednn_matmul_unsupported_reason",
    "only_candidate",
    "pool",
    "pool_backward",
    "pool_workspace",
    "reorder",
    "rnn",
    "rnn_backward",
    "rnn_training",
    "softmax",
]

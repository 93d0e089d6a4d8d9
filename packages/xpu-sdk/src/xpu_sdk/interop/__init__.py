"""PyTorch and JAX in one program: each can call and differentiate functions of the other.

Tensors and arrays share memory, and no call waits; only tensors that are not contiguous are copied. Arguments
and results are trees: arrays and tensors in tuples, lists and dicts. Derivatives can be differentiated again.
"""

from .functions_of_jax import torch_function
from .functions_of_torch import jax_function
from .trees import to_jax, to_torch

__all__ = ["jax_function", "to_jax", "to_torch", "torch_function"]

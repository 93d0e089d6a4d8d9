"""Int4 checkpoints of other systems: their tensors become torchao's, without a change of value.

`load_checkpoint` fills a model from a file; the other functions convert the tensors of one layer.
"""

from .awq import from_awq
from .compressed_tensors import from_compressed_tensors
from .gptq import from_gptq
from .input_order import OrderedLinear, input_order
from .loading import load_checkpoint
from .tile_packed import from_tile_packed

__all__ = [
    "OrderedLinear",
    "from_awq",
    "from_compressed_tensors",
    "from_gptq",
    "from_tile_packed",
    "input_order",
    "load_checkpoint",
]

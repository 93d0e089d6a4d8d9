"""PyTorch's dtypes in the runtime's table of element types."""

import pytest
import torch
from xpu_runtime.codegen.elements import DTYPES

# Tensors of packed numbers and of scales are bytes for the runtime, but in matrix products.
KNOWN = [e for e in DTYPES if e.pytorch and not (e.packed or e.scale)]


def test_dtypes_with_a_name_in_pytorch_have_a_scalar_type():
    assert [element for element in DTYPES if element.scalar_type] == KNOWN


@pytest.mark.parametrize("element", KNOWN, ids=lambda element: element.name)
def test_scalar_types_have_the_names_of_dtypes(element):
    dtype = getattr(torch, element.pytorch)
    assert torch.empty(0, dtype=dtype).type() == f"torch.{element.scalar_type}Tensor"
    assert (dtype.itemsize, dtype.is_floating_point, dtype.is_complex) == (
        element.size,
        element.kind == "float",
        element.kind == "complex",
    )

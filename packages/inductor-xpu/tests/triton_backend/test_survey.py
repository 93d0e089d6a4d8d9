"""Each kind of Triton kernel that Inductor writes gives what eager mode gives."""

import pytest
import torch
from survey_cases import CASES
from torch._inductor.utils import run_and_get_code
from torch.utils._pytree import tree_leaves

import inductor_xpu.settings

pytestmark = [
    pytest.mark.values,
    # What Inductor imports and does warns about itself.
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::UserWarning"),
    pytest.mark.usefixtures("forget_compiled_code"),
]


def on_xpu(tensors):
    return [tensor.to("xpu") for tensor in tensors]


def wide(tensor):
    """Return a tensor of a type that can be compared."""
    return tensor.float() if tensor.dtype.is_floating_point and tensor.itemsize == 1 else tensor


@pytest.mark.parametrize("name", CASES)
def test_as_eager(name):
    case = CASES[name]
    given = case.inputs()
    torch.manual_seed(3)
    expected = tree_leaves(case.function(*on_xpu(given)))
    with inductor_xpu.settings.patch(reader="triton"), torch._inductor.config.patch(case.settings):
        torch.manual_seed(3)
        call = torch.compile(case.function, dynamic=case.dynamic)
        results, codes = run_and_get_code(call, *on_xpu(given))
        got = tree_leaves(results)
    assert case.code in "".join(codes)
    assert case.code or "async_compile.triton(" not in "".join(codes)
    near = {"rtol": case.tolerance, "atol": case.tolerance, "equal_nan": True}
    for number, (mine, its) in enumerate(zip(got, expected, strict=True)):
        assert mine.dtype == its.dtype, number
        torch.testing.assert_close(
            wide(mine), wide(its), **near, msg=lambda text, n=number: f"result {n}: {text}"
        )

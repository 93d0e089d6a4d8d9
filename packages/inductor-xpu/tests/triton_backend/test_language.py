"""Each operation of the language, by type, gives what Triton's interpreter gives."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from xpu_testing import values_checked

sys.path.insert(0, str(Path(__file__).parent))

from language import CASES, programs, tiles
from language.interpret import load_kernel

TOLERANCE = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1.6e-2}


@pytest.fixture(scope="module")
def interpreted(request, tmp_path_factory):
    """Results of the interpreter for the cases of this run."""
    folder = tmp_path_factory.mktemp("interpreted")
    items = (item for item in request.session.items if item.module is request.module)
    names = {item.callspec.params["name"] for item in items}
    names = sorted(name for name in names if CASES[name].expected is None)
    program = Path(__file__).parent / "language" / "interpret.py"
    variables = {**os.environ, "TRITON_INTERPRET": "1", "TORCH_DEVICE_BACKEND_AUTOLOAD": "0"}
    subprocess.run([sys.executable, program, folder, *names], check=True, env=variables)
    return torch.load(folder / "results.pt")


ON_MATRIX_UNITS = [
    *(
        f"dot-{dtype}-{size}"
        for dtype in ("f16", "bf16", "i8")
        for size in ("32x64x32", "64x16x128")
    ),
    *("dot-half", "dot-3d-f16"),
]
IDS = [(case.name, case.dtype) for case in CASES.values()]
TILES = [(case.name, case.dtype) for module in (tiles, programs) for case in module.cases()]


def check(name, interpreted, folder):
    case = CASES[name]
    expected = case.compute() if case.expected else interpreted[name]
    assert not isinstance(expected, str), f"the interpreter fails: {expected}"
    got = case.run(load_kernel(folder, name, case.module()), "xpu")
    for mine, its in zip(got, expected, strict=True):
        if mine.dtype.is_floating_point:
            wide = torch.float64 if mine.dtype == torch.float64 else torch.float32
            limit = TOLERANCE.get(mine.dtype, 0) if case.tolerance is None else case.tolerance
            near = {"rtol": limit, "atol": limit, "equal_nan": True}
            torch.testing.assert_close(mine.to(wide), its.to(wide), **near)
        else:
            assert torch.equal(mine, its) or not values_checked()


@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
@pytest.mark.parametrize(("name", "dtype"), IDS, ids=[name for name, _ in IDS])
def test_language(name, dtype, interpreted, tmp_path):
    check(name, interpreted, tmp_path)


@pytest.mark.values
@pytest.mark.filterwarnings("ignore:tl.make_block_ptr is deprecated")
@pytest.mark.parametrize(("name", "dtype"), TILES, ids=[name for name, _ in TILES])
def test_language_over_sub_groups(name, dtype, interpreted, tmp_path, several_sub_groups):
    check(name, interpreted, tmp_path)


@pytest.mark.values
@pytest.mark.usefixtures("matrix_units")
@pytest.mark.parametrize("name", ON_MATRIX_UNITS)
def test_products_on_matrix_units(name, interpreted, tmp_path):
    check(name, interpreted, tmp_path)

"""Operators that C++ calls by C functions: torch-xpu declares each."""

from torch._inductor import config
from torch_xpu.torch_version import COMPILED_FOLDER
from torchgen.aoti.fallback_ops import inductor_fallback_ops

from inductor_xpu.ahead import operators

HEADER = COMPILED_FOLDER / "include" / "torch_xpu" / "aoti" / "c_shim_xpu.h"


def test_operators_with_devices_have_functions():
    declared = HEADER.read_text()
    for name in operators.WITH_DEVICES:
        assert f"aoti_torch_xpu_{name.split('.')[1]}(" in declared
        assert name not in inductor_fallback_ops
    with operators.more_functions():
        assert set(operators.WITH_DEVICES) <= inductor_fallback_ops.keys()
    assert not set(operators.WITH_DEVICES) & inductor_fallback_ops.keys()


def test_our_operators_have_functions():
    declared = HEADER.read_text()
    for operator in operators.with_functions(config.aot_inductor.custom_ops_to_c_shims):
        assert f"{operators.function_name(operator._schema.name)}(" in declared

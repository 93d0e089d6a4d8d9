"""The steps of PT2E that tests share."""

import re
import types
import warnings

import torch
import torch._inductor.config
from reference import sqnr

with warnings.catch_warnings():
    # These modules import TorchScript, whose import warns that it is deprecated.
    warnings.simplefilter("ignore", DeprecationWarning)
    from torch._inductor.utils import run_and_get_code
    from torchao.quantization.pt2e import (
        lowering,
        move_exported_model_to_eval,
        move_exported_model_to_train,
        quantize_pt2e,
    )
    from torchao.quantization.pt2e.quantizer import x86_inductor_quantizer, xpu_inductor_quantizer

# torchao's functions, which stand in several modules.
pt2e = types.SimpleNamespace(
    **{
        name: value
        for module in (quantize_pt2e, lowering, x86_inductor_quantizer, xpu_inductor_quantizer)
        for name, value in vars(module).items()
        if not name.startswith("_")
    },
)
pt2e.move_exported_model_to_eval = move_exported_model_to_eval
pt2e.move_exported_model_to_train = move_exported_model_to_train

CALL = re.compile(r"torch\.ops\.onednn\.(q\w+)\.(\w+)\(")
FROZEN = {"freezing": True}


def x86(**kind):
    return pt2e.X86InductorQuantizer().set_global(
        pt2e.get_default_x86_inductor_quantization_config(**kind)
    )


def xpu():
    return pt2e.XPUInductorQuantizer().set_global(
        pt2e.get_default_xpu_inductor_quantization_config()
    )


def quantize(case, quantizer, device):
    """Export, calibrate and convert a model; return it and an input that it was not calibrated with."""
    model, (x, *calibration) = case.model(device).eval(), case.inputs(device)
    with torch.no_grad():
        prepared = pt2e.prepare_pt2e(
            torch.export.export(model, (x,), strict=True).module(), quantizer
        )
        for batch in calibration:
            prepared(batch)
        converted = pt2e.convert_pt2e(prepared)
    pt2e.move_exported_model_to_eval(converted)
    return converted, x


def compiled(converted, *inputs):
    """Return the result of the frozen graph, the calls of quantized operators and the code."""
    with torch.no_grad(), torch._inductor.config.patch(FROZEN):
        result, (code,) = run_and_get_code(torch.compile(converted), *inputs)
    return result, CALL.findall(code), code


def expected(case):
    model, (x, *_) = case.model().eval(), case.inputs()
    with torch.no_grad():
        return model(x)


def lowered_by_torchao(converted, x):
    """Return the graph of quantized operators that torchao makes without Inductor."""
    return pt2e.lower_pt2e_quantized_to_x86(converted, (x,))


def noise_of_cpu(case, quantizer):
    """Return the signal-to-noise ratio of stock PyTorch: torchao's passes, and operators of the CPU."""
    converted, x = quantize(case, quantizer, "cpu")
    with torch.no_grad():
        lowered = lowered_by_torchao(converted, x)
        return sqnr(expected(case), lowered(x))

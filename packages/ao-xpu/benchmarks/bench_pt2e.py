"""Models that PT2E quantized to int8, compiled on xpu, beside stock Inductor's C++ of the same on the CPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from xpu_bench import Case, Mean, Pair

# The C++ back end's memory stays, so that the peer does not pay for page faults.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(4 << 30))
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(4 << 30))

PEER = "torch CPU, compiled"
DYNAMIC = ("MLP", "transformer")
Make = Callable[[], tuple[Any, tuple[int, ...]]]


def _mlp() -> tuple[Any, tuple[int, ...]]:
    from torch.nn import Linear, ReLU, Sequential

    layers = [Linear(512, 2048), ReLU(), Linear(2048, 2048), ReLU(), Linear(2048, 512)]
    return Sequential(*layers), (64, 512)


def _transformer() -> tuple[Any, tuple[int, ...]]:
    from pt2e_models import Block
    from torch.nn import Sequential

    return Sequential(*(Block(256, 4) for _ in range(4))), (4, 128, 256)


def _resnet() -> tuple[Any, tuple[int, ...]]:
    from pt2e_models import resnet

    return resnet(32), (8, 3, 96, 96)


def _mobilenet() -> tuple[Any, tuple[int, ...]]:
    from pt2e_models import mobilenet

    return mobilenet(16), (16, 3, 96, 96)


def _vgg() -> tuple[Any, tuple[int, ...]]:
    from pt2e_models import vgg

    return vgg(32), (4, 3, 96, 96)


MODELS: dict[str, Make] = {
    "MLP": _mlp,
    "transformer": _transformer,
    "ResNet": _resnet,
    "MobileNet": _mobilenet,
    "VGG": _vgg,
}


def _compiled(net: Any, x: Any, is_dynamic: bool) -> Callable[[], Any]:
    """Return the call of a model that was quantized and compiled on the device of ``x``."""
    import torch
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
    from torchao.quantization.pt2e.quantizer.x86_inductor_quantizer import (
        X86InductorQuantizer,
        get_default_x86_inductor_quantization_config,
    )

    # The quantizer asks for it on CPUs without VNNI, where products of larger numbers saturate.
    reduces = torch.backends.cpu.get_cpu_capability() == "AVX2"
    settings = get_default_x86_inductor_quantization_config(
        is_dynamic=is_dynamic, reduce_range=reduces
    )
    with torch.no_grad():
        exported = torch.export.export(net, (x,), strict=True).module()
        prepared = prepare_pt2e(exported, X86InductorQuantizer().set_global(settings))
        prepared(x)
        model = torch.compile(convert_pt2e(prepared))
        model(x)

    def run() -> None:
        with torch.no_grad():
            model(x)

    return run


def _setup(make: Make, is_dynamic: bool) -> Callable[[], Pair]:
    def setup() -> Pair:
        import copy

        import torch
        from torch._inductor import config

        # A call under other settings than those of the compilation compiles anew.
        config.freezing = True
        torch.set_num_threads(len(os.sched_getaffinity(0)))
        torch.manual_seed(0)
        torch._dynamo.reset()
        net, shape = make()
        x = torch.randn(shape)
        return Pair(
            ours=_compiled(copy.deepcopy(net).eval().to("xpu"), x.to("xpu"), is_dynamic),
            peer=_compiled(net.eval(), x, is_dynamic),
            sync=torch.xpu.synchronize,
            close=partial(setattr, config, "freezing", False),
        )

    return setup


def cases() -> Iterator[Case | Mean]:
    """Yield each model, those of linear layers also with scales of activations that each call computes."""
    for name, make in MODELS.items():
        yield Case(f"int8 by PT2E: {name}", _setup(make, False), PEER, ">= 1.0")
    for name in DYNAMIC:
        yield Case(f"int8 by PT2E: {name}, dynamic", _setup(MODELS[name], True), PEER, ">= 1.0")
    yield Mean("int8 by PT2E, geometric mean", "int8 by PT2E: *", ">= 1.0")

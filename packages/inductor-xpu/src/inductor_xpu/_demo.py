"""The adapter's act in the demonstration: a network eager and compiled, on xpu and on the stock CPU."""

from __future__ import annotations

import sysconfig
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROWS, FEATURES = 32768, 64


def run(stage: Any) -> None:
    """Time a network eager and compiled, then run one compiled function with several shapes."""
    import torch

    compare(stage, torch)
    change_shapes(stage, torch)


def step_of(torch: Any, device: str, compiled: bool) -> Callable[[], float]:
    """Return a step of a gated network, with the same weights on every device."""
    functional = torch.nn.functional
    torch.manual_seed(0)
    x = torch.randn(ROWS, FEATURES).to(device)
    up = torch.randn(FEATURES, 2 * FEATURES).div(FEATURES**0.5).to(device)
    down = torch.randn(FEATURES, FEATURES).div(FEATURES**0.5).to(device)

    def network(x: Any) -> Any:
        for _ in range(2):
            value, gate = (functional.layer_norm(x, (FEATURES,)) @ up).chunk(2, -1)
            x = x + (functional.silu(gate) * torch.tanh(value)) @ down
        return functional.softmax(x, -1).square().sum()

    call = torch.compile(network) if compiled else network
    return lambda: float(call(x).item())


def compare(stage: Any, torch: Any) -> None:
    """Time the network on both devices: eager, then compiled."""
    stage.say("torch.compile(f): Inductor fuses f's loops, and each becomes one SYCL kernel")
    name = f"gated net, {ROWS} rows"
    results = [
        *stage.compare_steps(
            f"PyTorch eager, {name}", step_of(torch, "cpu", False), step_of(torch, "xpu", False)
        )
    ]
    compiled = f"PyTorch with torch.compile, {name}"
    if can_compile_for_cpu():
        steps = step_of(torch, "cpu", True), step_of(torch, "xpu", True)
        results += stage.compare_steps(compiled, *steps)
    else:
        stage.say(
            "Stock CPU is left out: its Inductor needs a C++ compiler and Python's headers, xpu neither."
        )
        results.append(stage.time_xpu_steps(compiled, step_of(torch, "xpu", True)))
    expected = results[0]
    close = all(abs(result - expected) <= 1e-4 * abs(expected) for result in results)
    stage.result("eager and compiled, both devices", f"{len(results)} times {expected:.5f}", close)


def can_compile_for_cpu() -> bool:
    """Return True if the machine has what Inductor needs to compile for the CPU."""
    from torch._inductor import cpp_builder, exc

    try:
        cpp_builder.get_cpp_compiler()
    except exc.InvalidCxxCompiler:
        return False
    return (Path(sysconfig.get_path("include")) / "Python.h").exists()


def change_shapes(stage: Any, torch: Any) -> None:
    """Call a function with several shapes: it is compiled once, and so is its kernel."""
    from torch._dynamo.testing import CompileCounterWithBackend

    counter = CompileCounterWithBackend("inductor")

    def normalize(x: Any) -> Any:
        return x * torch.rsqrt(x.square().mean(-1, keepdim=True) + 1e-5)

    function = torch.compile(normalize, backend=counter, dynamic=True)
    inputs = [torch.randn(rows, 300, device="xpu") for rows in (3, 64, 1000)]
    right = all(torch.allclose(function(x), normalize(x), atol=1e-5) for x in inputs)
    graphs = counter.frame_count
    stage.result("3 shapes, dynamic=True", f"compiled {graphs} time", right and graphs == 1)

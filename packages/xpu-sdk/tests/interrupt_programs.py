"""Programs that are interrupted: each has a ``step()`` and a ``check()`` of what the steps left behind."""

from __future__ import annotations

import textwrap

# Without oneDNN a product takes a hundred times as long.
SIDE = """
    import os
    side = 400 if os.environ.get("XPU_GENERIC_BACKEND") == "1" else 2000
"""
TORCH = """
    import torch
    def whole(*tensors):
        values = {value for tensor in tensors for value in tensor.unique().tolist()}
        assert len(values) <= 1, values
"""
JAX = """
    import jax, jax.numpy as jnp, numpy as np
    def whole(array):
        if not array.is_deleted():
            assert len(np.unique(np.asarray(array))) == 1
"""

# What a step changes has equal elements before and after each operation.
PROGRAMS = {
    ("torch", "in place"): """
        x = torch.zeros(1 << 20, device="xpu")
        def step():
            x.add_(1)
        def check():
            whole(x)
    """,
    ("torch", "lists"): """
        tensors = [torch.zeros(1 << 16, device="xpu") for _ in range(40)]
        def step():
            torch._foreach_add_(tensors, 1)
        def check():
            whole(*tensors)
    """,
    ("torch", "optimizer"): """
        parameters = [torch.zeros(1 << 14, device="xpu", requires_grad=True) for _ in range(20)]
        for parameter in parameters:
            parameter.grad = torch.ones_like(parameter)
        optimizer = torch.optim.SGD(parameters, lr=1.0, foreach=True)
        def step():
            optimizer.step()
        def check():
            whole(*(parameter.detach() for parameter in parameters))
    """,
    ("torch", "products"): """
        a = torch.randn(side // 3, side // 3, device="xpu")
        def step():
            a @ a
        def check():
            torch.testing.assert_close((a @ a).cpu(), a.cpu() @ a.cpu(), atol=1e-2, rtol=1e-2)
    """,
    ("torch", "long products"): """
        a = torch.eye(side, device="xpu")
        def step():
            (a @ a @ a)[0, 0].item()
        def check():
            assert (a @ a).sum().item() == side
    """,
    ("torch", "synchronize"): """
        a = torch.eye(side, device="xpu")
        def step():
            for _ in range(30):
                a @ a
            torch.xpu.synchronize()
        def check():
            assert (a @ a).sum().item() == side
    """,
    ("torch", "events"): """
        a, event = torch.eye(side, device="xpu"), torch.xpu.Event()
        def step():
            for _ in range(20):
                a @ a
            event.record()
            event.synchronize()
        def check():
            event.synchronize()
            assert event.query()
    """,
    ("torch", "reads"): """
        x = torch.ones(1 << 22, device="xpu")
        def step():
            (x * 2).cpu()
        def check():
            whole(x)
    """,
    ("torch", "writes"): """
        x, host = torch.zeros(1 << 20, device="xpu"), torch.ones(1 << 20)
        def step():
            x.copy_(host)
        def check():
            whole(x)
    """,
    ("torch", "training"): """
        model = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(6))).to("xpu")
        data = torch.randn(64, 256, device="xpu")
        def step():
            model.zero_grad()
            model(data).square().mean().backward()
        def check():
            step()
            assert all(parameter.grad is not None for parameter in model.parameters())
    """,
    ("torch", "graphs"): """
        x = torch.zeros(1 << 16, device="xpu")
        x.add_(1)
        graph = torch.xpu.XPUGraph()
        with torch.xpu.graph(graph):
            for _ in range(50):
                x.add_(1)
        def step():
            graph.replay()
        def check():
            whole(x)
    """,
    ("torch", "streams"): """
        x, streams = torch.zeros(1 << 18, device="xpu"), [torch.xpu.Stream() for _ in range(3)]
        def step():
            for stream in streams:
                stream.wait_stream(torch.xpu.current_stream())
                with torch.xpu.stream(stream):
                    x.add_(1)
                torch.xpu.current_stream().wait_stream(stream)
        def check():
            torch.xpu.synchronize()
            whole(x)
    """,
    ("torch", "sorts"): """
        x = torch.arange(1 << 20, device="xpu").flip(0)
        def step():
            x.sort()
        def check():
            assert torch.equal(x.sort().values.cpu(), torch.arange(1 << 20))
    """,
    ("torch", "builds"): """
        import time, xpu_runtime as xr
        def step():
            body = "".join(f"y[{k}] = __spirv_ocl_tan(y[{k}] * {time.time()}f);" for k in range(150))
            text = "#include <xpu/core.h>\\nXPU_KERNEL(1) tans(xpu::global<float> y) { " + body + " }"
            xr.compile(text).kernel("tans")
        def check():
            pass
    """,
    ("jax", "calls"): """
        f, x = jax.jit(lambda x: x + 1), jnp.zeros(1 << 16)
        def step():
            global x
            x = f(x)
        def check():
            whole(x)
    """,
    ("jax", "donated"): """
        f, x = jax.jit(lambda x: x + 1, donate_argnums=0), jnp.zeros(1 << 18)
        x = f(x)
        def step():
            global x
            x = f(x)
        def check():
            global x
            whole(x)
            x = f(jnp.zeros(1 << 18))
    """,
    ("jax", "waits"): """
        f, x = jax.jit(lambda x: x @ x @ x @ x), jnp.eye(side)
        def step():
            f(x).block_until_ready()
        def check():
            assert float(f(x).sum()) == side
    """,
    ("jax", "reads"): """
        f, x = jax.jit(lambda x: x @ x), jnp.eye(side)
        def step():
            np.asarray(f(x))
        def check():
            assert float(f(x).sum()) == side
    """,
    ("jax", "compilations"): """
        import time
        def step():
            now = time.time()
            jax.jit(lambda x: sum(jnp.sin(x * (now + k)) for k in range(30)))(jnp.ones(1 << 10))
        def check():
            whole(jax.jit(lambda x: x + 1)(jnp.ones(100)))
    """,
    ("jax", "loops"): """
        f = jax.jit(lambda x: jax.lax.fori_loop(0, 200, lambda i, x: x + 1, x))
        x = jnp.zeros(1 << 14)
        def step():
            global x
            x = f(x)
        def check():
            whole(x)
    """,
}

# Steps until the interrupt, then what the steps left behind. Prints the seconds from signal to exception.
INTERRUPTED = """
import os, random, signal, sys, threading, time
def interrupt():
    sent.append(time.monotonic())
    os.kill(os.getpid(), signal.SIGINT)
# JAX registers a Python function that runs at each garbage collection. Python drops an interrupt raised
# in it, with any device, so another one is sent.
def send_again(dropped):
    if dropped.exc_type is KeyboardInterrupt and dropped.object.__name__ == "_xla_gc_callback":
        threading.Timer(0.05, interrupt).start()
    else:
        sys.__unraisablehook__(dropped)
sys.unraisablehook = send_again
step()
random.seed({seed})
for _ in range({times}):
    sent = []
    timer = threading.Timer(random.uniform(0.01, 1.2), interrupt)
    timer.start()
    try:
        while True:
            step()
    except KeyboardInterrupt:
        print(time.monotonic() - sent[-1], flush=True)
    check()
"""


def program(framework: str, work: str, times: int, seed: int) -> str:
    """Return the text of a program that is interrupted so many times."""
    head = {"torch": TORCH, "jax": JAX}[framework]
    body = (
        textwrap.dedent(SIDE) + textwrap.dedent(head) + textwrap.dedent(PROGRAMS[framework, work])
    )
    return body + INTERRUPTED.format(times=times, seed=seed)

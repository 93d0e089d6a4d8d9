"""Programs that enqueue work and do not wait for it: by framework and kind of work, each a ``step()``."""

from __future__ import annotations

import textwrap

TORCH = "import torch\n"
JAX = "import jax, jax.numpy as jnp\nimport numpy as np\n"

PROGRAMS = {
    ("torch", "products"): """
        x = torch.randn(300, 300, device="xpu")
        def step():
            x @ x
    """,
    ("torch", "convolutions"): """
        x, w = torch.randn(1, 32, 32, 32, device="xpu"), torch.randn(32, 32, 3, 3, device="xpu")
        def step():
            torch.nn.functional.conv2d(x, w)
    """,
    ("torch", "kernels"): """
        x = torch.ones(1 << 18, device="xpu")
        def step():
            (x * 2).exp().sum()
    """,
    ("torch", "graphs"): """
        x = torch.randn(300, 300, device="xpu")
        x @ x
        graph = torch.xpu.XPUGraph()
        with torch.xpu.graph(graph):
            y = (x @ x).tanh()
        def step(buffers=(x, y)):  # keeps what the graph reads
            graph.replay()
    """,
    ("torch", "copies"): """
        host = torch.ones(1 << 18).pin_memory()
        def step():
            host.to("xpu", non_blocking=True).to("cpu", non_blocking=True)
    """,
    ("torch", "callbacks"): """
        x = torch.randn(300, 300, device="xpu", requires_grad=True)
        x.register_hook(lambda gradient: gradient * 2)
        def step():
            (x @ x).sum().backward()
    """,
    ("jax", "products"): """
        f, a = jax.jit(lambda a: a @ a), jnp.ones((300, 300))
        def step():
            f(a)
    """,
    ("jax", "convolutions"): """
        f = jax.jit(lambda a, w: jax.lax.conv(a, w, (1, 1), "SAME"))
        a, w = jnp.ones((1, 32, 32, 32)), jnp.ones((32, 32, 3, 3))
        def step():
            f(a, w)
    """,
    ("jax", "kernels"): """
        f, a = jax.jit(lambda a: jnp.exp(a * 2).sum()), jnp.ones(1 << 18)
        def step():
            f(a)
    """,
    ("jax", "graphs"): """
        f = jax.jit(lambda a: jax.lax.fori_loop(0, 20, lambda i, b: jnp.tanh(b @ a), a))
        a = jnp.ones((200, 200))
        def step():
            f(a)
    """,
    ("jax", "copies"): """
        host = np.ones(1 << 18, np.float32)
        def step():
            jax.device_put(host).copy_to_host_async()
    """,
    ("jax", "callbacks"): """
        called = []
        f = jax.jit(lambda a: jax.debug.callback(called.append, (a @ a).sum()))
        a = jnp.ones((200, 200))
        def step():
            f(a)
    """,
}

ENDINGS = {
    "end": ("", 0),
    "status": ("import sys; sys.exit(4)", 4),
    "exception": ("raise RuntimeError('on purpose')", 1),
    "interrupt": (
        "import os, signal, time; os.kill(os.getpid(), signal.SIGINT); time.sleep(9)",
        -2,
    ),
    "exit of C": ("import ctypes; ctypes.CDLL(None).exit(5)", 5),
    "thread alive": (
        """
        import threading
        def forever():
            while True:
                step()
        threading.Thread(target=forever, daemon=True).start()
        for _ in range(20):
            step()
        print(time.monotonic(), flush=True)
        """,
        0,
    ),
}


# Enqueues products for about so many seconds, however long the device takes for one.
LOADS = {
    "torch": """
        load = torch.randn(2500, 2500, device="xpu")
        def multiply():
            return load @ load
        def wait():
            torch.xpu.synchronize()
    """,
    "jax": """
        load, product = jnp.ones((2500, 2500)), jax.jit(lambda a: a @ a)
        def multiply():
            return product(load)
        def wait():
            multiply().block_until_ready()
    """,
}
QUEUE = """
import time
multiply(), wait()
begin = time.monotonic()
multiply(), wait()
for _ in range(int({seconds} / (time.monotonic() - begin))):
    multiply()
"""


def program(frameworks: str, work: str, ending: str, seconds: float = 0) -> tuple[str, int]:
    """The text, and the status it must end with. Frameworks: "torch", "jax" or "both".

    About so many seconds of products are pending when it ends. The last that it prints is when that was.
    """
    names = ("torch", "jax") if frameworks == "both" else (frameworks,)
    text = "".join({"torch": TORCH, "jax": JAX}[name] for name in names)
    for name in names:
        body = textwrap.indent(textwrap.dedent(PROGRAMS[name, work]), "    ")
        text += f"def make_{name}():{body}\n    return step\n{name}_step = make_{name}()\n"
    calls = "\n".join(f"    {name}_step()" for name in names)
    text += f"def step():\n{calls}\nfor _ in range(30):\n    step()\n"
    if seconds:
        text += textwrap.dedent(LOADS[names[0]]) + QUEUE.format(seconds=seconds)
    text += "import time; print(time.monotonic(), flush=True)\n"
    end, status = ENDINGS[ending]
    return text + textwrap.dedent(end), status

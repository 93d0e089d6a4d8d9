"""See where time goes: PyTorch's profiler, JAX's, and a trace of a whole program."""

import glob
import gzip
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import jax
import jax.numpy as jnp
import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

PROGRAM = """
import sys
import torch
x = torch.randn(256, 256, device="xpu")
print("sum of", sys.argv[1], float((x @ x).softmax(0).sum()))
"""


def profile_training(folder):
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.GELU(), torch.nn.Linear(128, 8))
    model.to("xpu")
    optimizer = torch.optim.AdamW(model.parameters())
    x, y = torch.randn(32, 64, device="xpu"), torch.randint(0, 8, (32,), device="xpu")
    tables, traces = [], []

    def ready(profiler):
        tables.append(profiler.key_averages())
        traces.append(folder / f"step-{profiler.step_num}.json")
        profiler.export_chrome_trace(str(traces[-1]))

    with profile(
        activities=[ProfilerActivity.CPU, ProfilerActivity.XPU],
        schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=ready,
        record_shapes=True,
        profile_memory=True,
        with_stack=True,
    ) as profiler:
        for _ in range(8):
            with record_function("one step"):
                loss = torch.nn.functional.cross_entropy(model(x), y)
                loss.backward()
                optimizer.step()
                optimizer.zero_grad()
            profiler.step()

    assert len(traces) == 2
    for table, path in zip(tables, traces, strict=True):
        rows = {row.key: row for row in table}
        assert rows["one step"].count >= 2
        assert rows["aten::addmm"].count == 4
        assert rows["aten::addmm"].device_time_total > 0
        assert "xpu" in table.table(sort_by="self_device_time_total", row_limit=10).lower()
        events = json.loads(path.read_text())["traceEvents"]
        kernels = [e for e in events if e.get("cat") == "kernel"]
        assert len(kernels) > 20
        assert all(kernel["dur"] >= 0 for kernel in kernels)
        # An arrow leads from the operator to each kernel.
        begun = {e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == "s"}
        ended = {e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == "f"}
        assert ended
        assert ended <= begun
        assert any(e.get("name") == "one step" for e in events)
    print(tables[0].table(sort_by="self_device_time_total", row_limit=8))


def profile_jax(folder):
    @jax.jit
    def step(x):
        with jax.named_scope("normalize"):
            x = x / jnp.linalg.norm(x)
        return jnp.tanh(x @ x)

    x = jnp.ones((128, 128))
    step(x).block_until_ready()
    with jax.profiler.trace(str(folder), create_perfetto_trace=True):
        with jax.profiler.TraceAnnotation("three steps"):
            for _ in range(3):
                x = step(x)
            x.block_until_ready()
    (path,) = glob.glob(f"{folder}/**/perfetto_trace.json.gz", recursive=True)
    events = json.loads(gzip.decompress(Path(path).read_bytes()))["traceEvents"]
    names = {e["args"]["name"] for e in events if e.get("name") == "process_name"}
    print(names)
    assert any("xpu" in name.lower() for name in names)
    assert any(e.get("name") == "three steps" for e in events)


def trace_program(folder):
    program, output = folder / "program.py", folder / "out.json"
    program.write_text(PROGRAM)
    command = [sys.executable, "-m", "xpu_sdk", "trace", "-o", output, program, "squares"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "sum of squares" in done.stdout
    events = json.loads(output.read_text())["traceEvents"]
    assert any("softmax" in e.get("name", "") for e in events), {e.get("name") for e in events}


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile_training(folder)
        profile_jax(folder / "jax")
        trace_program(folder)


if __name__ == "__main__":
    main()

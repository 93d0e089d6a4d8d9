"""Allocate until the limit of memory, then go on."""

import torch

_, total = torch.xpu.mem_get_info()
torch.xpu.set_per_process_memory_fraction(64 * 2**20 / total)
assert abs(torch.xpu.get_per_process_memory_fraction() * total - 64 * 2**20) < 2
blocks = []
try:
    for _ in range(1000):
        blocks.append(torch.empty(2**20, dtype=torch.uint8, device="xpu"))
except torch.OutOfMemoryError as error:
    assert "torch" in str(error), error
    # Libraries that retry with a smaller batch recognize the error by this text, type and single argument.
    assert str(error).startswith("XPU out of memory. Tried to allocate 1.00 MiB."), error
    assert isinstance(error, RuntimeError) and len(error.args) == 1
    assert len(blocks) > 20
else:
    raise SystemExit("no error")
blocks.clear()
torch.ones(2**20, device="xpu")
torch.xpu.set_per_process_memory_fraction(1.0)
torch.empty(128 * 2**20, dtype=torch.uint8, device="xpu")

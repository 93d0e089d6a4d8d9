"""PyTorch's wheel for CUDA on a machine without an NVIDIA driver; `nox -s cuda-wheel` runs these there.

On the wheel for the CPU the same programs pass, as nothing has to be done.
"""

import pytest
import torch
from xpu_testing import run_child

TRAINING = """
import io, torch
assert torch.accelerator.current_accelerator().type == "xpu"
assert not torch.cuda.is_available()
net = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.GELU(), torch.nn.Linear(32, 4)).to("xpu")
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
x, y = torch.randn(64, 16, device="xpu"), torch.randint(0, 4, (64,), device="xpu")

def step(net):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return loss.detach()

losses = [step(net) for _ in range(5)]
"""


def test_training_and_saving():
    run_child(
        TRAINING
        + """
file = io.BytesIO()
torch.save(net.state_dict(), file)
file.seek(0)
state = torch.load(file, map_location="cpu")
assert state["0.weight"].device.type == "cpu"
net.load_state_dict(state)
print([loss.item() for loss in losses])
"""
    ).check()


def test_compiling_with_aot_eager():
    run_child(
        TRAINING
        + """
compiled = torch.compile(net, backend="aot_eager")
losses += [step(compiled) for _ in range(3)]
from torch._subclasses import FakeTensorMode
with FakeTensorMode():
    assert (torch.empty(3, 4, device="xpu") @ torch.empty(4, 5, device="xpu")).shape == (3, 5)
print([loss.item() for loss in losses])
"""
    ).check()


def test_other_programs_pay_nothing():
    child = run_child(
        """
import sys
assert "torch" not in sys.modules and "ctypes" not in sys.modules
"""
    )
    child.check()


def test_importing_says_nothing():
    child = run_child("import torch\ntorch.ones(1, device='xpu')")
    child.check()
    assert child.err == ""


@pytest.mark.skipif(torch.version.cuda is None, reason="asks the wheel for CUDA to be left alone")
def test_cuda_stays_when_asked_for():
    run_child(
        """
import torch
assert torch.accelerator.current_accelerator() in (None, torch.device("cuda"))
assert not torch.xpu._is_compiled()
assert torch.xpu.is_available()
x = torch.arange(6.0).reshape(2, 3).to("xpu")
assert (x @ x.t()).cpu().tolist() == [[5, 14], [14, 50]]
assert torch.xpu.memory_allocated() > 0
torch.manual_seed(3)
with torch.xpu.stream(torch.xpu.Stream()):
    torch.rand(3, device="xpu")
torch.xpu.synchronize()
""",
        env={"XPU_KEEP_CUDA": "1"},
    ).check()


def test_threads_beside_cuda():
    """While one thread asks torch.xpu, others hear the same as ever."""
    run_child(
        """
import sys, threading, torch
from torch_xpu import _cuda_wheel

_cuda_wheel._coexist_with_cuda()
expected = torch.xpu.device_count()
assert expected > 0
sys.setswitchinterval(1e-6)
wrong = []

def ask():
    for _ in range(20000):
        if torch.xpu.device_count() != expected:
            wrong.append("no devices")
        if torch.xpu._is_compiled() or torch._C._has_xpu:
            wrong.append("compiled")

threads = [threading.Thread(target=ask) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not wrong, set(wrong)
assert torch.ones(3, device="xpu").sum().item() == 3
"""
    ).check()

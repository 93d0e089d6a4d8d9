"""What `import torch` costs with the adapter installed, and what it may not do."""

import pytest
from xpu_testing import run_child

VENDOR = ("libsycl", "libOpenCL", "libdnnl", "libintelocl", "libze_loader", "libxpu_runtime")
MAPPED = f"""
def mapped():
    with open("/proc/self/maps") as maps:
        text = maps.read()
    return [name for name in {VENDOR!r} if name in text]
"""


def test_nothing_of_the_device_is_loaded_before_its_use():
    child = run_child(
        MAPPED
        + """
import torch
torch.manual_seed(3)
x = torch.ones(3, requires_grad=True)
x.sum().backward()
assert torch.device("xpu:0").type == "xpu"
assert not x.is_pinned()
assert mapped() == [], mapped()
torch.ones(1, device="xpu")
assert "libxpu_runtime" in mapped()
"""
    )
    child.check()


@pytest.mark.parametrize("first", ["torch.accelerator.is_available()", "x.sum().backward()"])
def test_loaded_too_late(first):
    child = run_child(
        f"""
import torch
x = torch.ones(2, requires_grad=True)
{first}
import torch_xpu._bridge
""",
        env={"TORCH_DEVICE_BACKEND_AUTOLOAD": "0"},
    )
    assert child.exit_code != 0
    assert "torch-xpu was loaded too late" in child.err
    assert "TORCH_DEVICE_BACKEND_AUTOLOAD" in child.err


def test_the_bridge_links_pytorch_only():
    child = run_child(
        MAPPED
        + """
import torch, torch_xpu._bridge as bridge
assert not bridge.is_loaded() and mapped() == []
"""
    )
    child.check()


def test_forked_child_says_what_to_do():
    child = run_child(
        """
import os, torch
torch.ones(1, device="xpu")
if os.fork() == 0:
    try:
        torch.xpu.synchronize()
    except RuntimeError as error:
        os._exit(0 if "spawn" in str(error) else 3)
    os._exit(4)
assert os.waitstatus_to_exitcode(os.wait()[1]) == 0
"""
    )
    child.check()


def test_a_backward_pass_may_be_the_last_statement():
    for _ in range(3):
        run_child(
            """
import torch
net = torch.nn.Linear(100, 100).to("xpu")
net(torch.ones(3, 100, device="xpu")).sum().backward()
"""
        ).check()


def test_two_packages_change_one_module():
    run_child(
        """
import torch
from torch_xpu import import_hooks

seen = []
import_hooks.change({"colorsys": lambda module: seen.append(("first", module.__name__))})
import_hooks.change({"colorsys": lambda module: seen.append(("second", module.__name__))})
import colorsys
assert seen == [("first", "colorsys"), ("second", "colorsys")], seen
"""
    ).check()

"""Memory pools, and device memory from functions of the user's."""

import pytest
import torch
from xpu_testing import run_child

# An allocator over the runtime's own pool that keeps an account.
ACCOUNT = """
import ctypes, torch, xpu_runtime
from xpu_runtime._native import C
live, made = {}, []
@ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def allocate(size, device, queue):
    address = C.allocate(size, xpu_runtime.current_stream(device), 0)
    live[address] = (size, device, queue)
    made.append(size)
    return address
@ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)
def free(address, size, device, queue):
    assert live.pop(address) == (size, device, queue)
    C.deallocate(address)
def address_of(function):
    return ctypes.cast(function, ctypes.c_void_p).value
account = torch.xpu.memory._XPUAllocator(
    torch._C._xpu_customAllocator(address_of(allocate), address_of(free)))
"""


def test_every_tensor_from_another_allocator():
    child = run_child(
        ACCOUNT
        + """
torch.xpu.memory.change_current_allocator(account)
assert torch.xpu.memory._get_current_allocator().allocator() is account.allocator()
net = torch.nn.Linear(100, 100).to("xpu")
assert 40000 in [size for size, _, _ in live.values()]
net(torch.ones(3, 100, device="xpu")).sum().backward()
torch.xpu.synchronize()
assert net.weight.grad.data_ptr() in live
net = None
assert not live and made
"""
    )
    child.check()


def test_too_late_to_change():
    child = run_child(
        ACCOUNT
        + """
x = torch.ones(3, device="xpu")
try:
    torch.xpu.memory.change_current_allocator(account)
except RuntimeError as error:
    assert "before the first tensor" in str(error), error
else:
    raise SystemExit("no error")
"""
    )
    child.check()


def test_no_memory_from_the_functions():
    child = run_child(
        """
import ctypes, torch
nothing = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)(
    lambda *args: None)
free = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_void_p)(
    lambda *args: None)
torch.xpu.memory.change_current_allocator(torch.xpu.memory._XPUAllocator(torch._C._xpu_customAllocator(
    *(ctypes.cast(f, ctypes.c_void_p).value for f in (nothing, free)))))
try:
    torch.empty(12, device="xpu")
except torch.OutOfMemoryError as error:
    assert "48 bytes" in str(error), error
else:
    raise SystemExit("no error")
"""
    )
    child.check()


def test_a_pool_with_an_allocator():
    child = run_child(
        ACCOUNT
        + """
pool = torch.xpu.MemPool(account.allocator())
before = torch.ones(5, device="xpu")
with torch.xpu.use_mem_pool(pool):
    inside = torch.ones(7, device="xpu")
    assert pool.use_count() == 2
after = torch.ones(9, device="xpu")
assert list(live) == [inside.data_ptr()]
del inside
assert not live
"""
    )
    child.check()


def test_a_library_without_the_function():
    with pytest.raises(AttributeError, match="no_such_function"):
        torch.xpu.memory.XPUPluggableAllocator("libc.so.6", "no_such_function", "free")


def test_a_pool_for_when_memory_is_out():
    child = run_child(
        """
import torch
def block(size):
    return torch.empty(size << 20, dtype=torch.uint8, device="xpu")
_, total = torch.xpu.mem_get_info()
torch.xpu.set_per_process_memory_fraction(128 * 2**20 / total)
pool = torch.xpu.MemPool(use_on_oom=True)
with torch.xpu.use_mem_pool(pool):
    inside = block(64)
address = inside.data_ptr()
del inside
first = block(60)
second = block(60)
assert second.data_ptr() == address
del second, pool
"""
    )
    child.check()

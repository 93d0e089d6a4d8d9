"""``torch.distributed`` on xpu: the backend "xccl", and "gloo" for xpu tensors.

Both move tensors through pinned host memory to a transport of their own. PyTorch's build for the CPU has no
XCCL, so its names are set when the first process group is made, as a build with XCCL would have them.
"""

from __future__ import annotations

import atexit
import os
from datetime import timedelta
from types import ModuleType
from typing import Any

import torch

from . import _bridge, _transports, import_hooks

#: How long collectives that are pending when the process ends may take.
EXIT_TIMEOUT = timedelta(seconds=1)


def _transport(store: Any, rank: int, size: int, of_group: Any, lazy: bool) -> Any:
    """Return a transport that only one process group uses, of which these are the options."""
    import torch.distributed as dist

    options = dist.ProcessGroupGloo._Options()
    options._devices = [dist.ProcessGroupGloo.create_default_device(lazy_init=lazy)]
    options._timeout = of_group._timeout
    # For PyTorch's flight record, in which the group of CPU tensors has the name without the suffix.
    options.group_name = f"{of_group.group_name}/xpu"
    options.global_ranks_in_group = of_group.global_ranks_in_group
    store = dist.PrefixStore("xpu/", store)
    gloo = dist.ProcessGroupGloo(store, rank, size, options)
    return _transports.wrap(gloo, store, rank, size, of_group._timeout)


def _make_class() -> type:
    from ._distributed import StagedProcessGroup

    class ProcessGroupXCCL(StagedProcessGroup):
        """A process group of xpu tensors, over a transport of its own."""

        def __init__(
            self,
            store: Any,
            rank: int,
            size: int,
            options: Any,
            *,
            name: str = "xccl",
            lazy: bool = False,
        ) -> None:
            transport = _transport(store, rank, size, options, lazy)
            super().__init__(store, rank, size, options, transport, name)

    ProcessGroupXCCL.__module__ = "torch.distributed.distributed_c10d"
    return ProcessGroupXCCL


def _install_xccl(c10d: ModuleType) -> None:
    if hasattr(c10d, "ProcessGroupXCCL"):
        return
    _bridge.load()
    c10d.ProcessGroupXCCL = _make_class()  # type: ignore[attr-defined]
    for module in (torch.distributed, torch._C._distributed_c10d):
        module.ProcessGroupXCCL = c10d.ProcessGroupXCCL  # type: ignore[attr-defined]


def _of_this_start(c10d: ModuleType, store: Any) -> Any:
    """Return the store without the keys of earlier starts.

    torchrun keeps the store when it starts ranks again, and gloo would connect to ranks that have ended.
    Agents of several nodes may count starts differently, so that only starts on one node are told apart.
    """
    count = os.environ.get("TORCHELASTIC_RESTART_COUNT", "0")
    if count == "0" or os.environ.get("GROUP_WORLD_SIZE") != "1":
        return store
    return c10d.PrefixStore(f"start {count}/", store)


def _end_groups() -> None:
    from . import _distributed

    _distributed.end_groups_within(EXIT_TIMEOUT)


def _staged_gloo(c10d: ModuleType, group: Any, gloo: Any, checked: bool) -> Any:
    """Return the group's backend for xpu tensors, where the user asked for "gloo"."""
    options = c10d.ProcessGroupXCCL.Options()
    options._timeout = gloo.options._timeout
    options.group_name = gloo.options.group_name
    options.global_ranks_in_group = gloo.options.global_ranks_in_group
    store = c10d.PrefixStore("xpu/", group.get_group_store())
    # Connected at the first collective: programs that use "gloo" for CPU tensors only wait for nothing.
    rank, size = group.rank(), group.size()
    staged = c10d.ProcessGroupXCCL(store, rank, size, options, name="gloo", lazy=True)
    if not checked:
        return staged
    return c10d._create_process_group_wrapper(
        wrapped_pg=staged,
        store_prefix=f"xpu/{options.group_name}",
        store=store,
        rank=rank,
        world_size=size,
        timeout=options._timeout,
    )


def _change(c10d: ModuleType) -> None:
    make_group = c10d._new_process_group_helper
    register = c10d.ProcessGroup._register_backend

    def new_process_group_helper(
        size: int, rank: int, ranks: Any, backend: Any, store: Any, *args: Any, **kwargs: Any
    ) -> Any:
        if torch.xpu.is_available():
            _install_xccl(c10d)
        store = _of_this_start(c10d, store)
        made = make_group(size, rank, ranks, backend, store, *args, **kwargs)
        group = made[0]
        if hasattr(c10d, "ProcessGroupXCCL"):
            # Before PyTorch's own exit functions, which destroy groups, and before torch_xpu's, which refuses
            # the devices to other threads.
            atexit.unregister(_end_groups)
            atexit.register(_end_groups)
        if isinstance(group, c10d.ProcessGroup) and group._device_types == [torch.device("xpu")]:
            # PyTorch names gloo, which such a group does not have, unless the user names a backend.
            group._set_default_backend(c10d.ProcessGroup.BackendType.XCCL)
        return made

    def register_backend(
        group: Any, device: torch.device, backend_type: Any, backend: Any = None
    ) -> None:
        # With TORCH_DISTRIBUTED_DEBUG=DETAIL there is a checker around it.
        gloo = getattr(backend, "wrapped_pg", backend)
        if device.type == "xpu" and isinstance(gloo, c10d.ProcessGroupGloo):
            if not hasattr(c10d, "ProcessGroupXCCL"):
                return  # there is no device
            # A group has one backend of each type, and gloo's is the CPU's.
            backend_type = c10d.ProcessGroup.BackendType.XCCL
            backend = _staged_gloo(c10d, group, gloo, checked=gloo is not backend)
        register(group, device, backend_type, backend)

    c10d._new_process_group_helper = new_process_group_helper  # type: ignore[attr-defined]
    c10d.ProcessGroup._register_backend = register_backend
    c10d.Backend.backend_capability["gloo"].append("xpu")
    c10d._XCCL_AVAILABLE = True  # type: ignore[attr-defined]


def install() -> None:
    """Change ``torch.distributed``, once it is imported."""
    if torch.distributed.is_available():
        import_hooks.change({"torch.distributed.distributed_c10d": _change})

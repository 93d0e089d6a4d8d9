"""The scheduling of xpu: Inductor's for SIMD devices, with kernels of our own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.codegen.common import BackendFeature
from torch._inductor.codegen.simd import SIMDScheduling
from torch._inductor.utils import get_fused_kernel_name, get_kernel_metadata
from torch._inductor.virtualized import V
from torch.utils._ordered_set import OrderedSet
from xpu_runtime.codegen.comments import without_comments

from .builds import start_build
from .reader.kernel import LoopKernel

# The maximum length of a kernel's name, without its number.
MAX_NAME = 120


class Scheduling(SIMDScheduling):
    """Fuses as for other SIMD devices; sorts and scans stay calls of ATen."""

    kernel_type = LoopKernel

    def __init__(self, scheduler: Any) -> None:
        super().__init__(scheduler)
        # Kernels build while Inductor writes others; they stay referred to until the code is loaded.
        self.builds: list[Future[Any]] = []

    @classmethod
    def get_backend_features(cls, device: torch.device) -> OrderedSet[BackendFeature]:
        """Return what kernels of xpu can do besides loops."""
        return OrderedSet(
            [BackendFeature.INPLACE_BUFFERS, BackendFeature.MASKED_SCATTER_WITH_INDEX]
        )

    def define_kernel(self, src_code: str, node_schedule: Sequence[Any], kernel: LoopKernel) -> str:
        """Write the definition of a kernel into the wrapper, once for equal kernels; return its name."""
        wrapper = V.graph.wrapper_code
        # Kernels of one source may divide loops of other sizes, and describe other faults.
        definition = f"{without_comments(src_code)}{kernel.loading}{kernel.faults.codes}"
        if definition in wrapper.src_to_kernel:
            return wrapper.src_to_kernel[definition]
        described = config.triton.descriptive_names
        fused = f"_{get_fused_kernel_name(node_schedule, described)}" if described else ""
        name = f"sycl{fused}"[:MAX_NAME] + f"_{wrapper.next_kernel_suffix()}"
        wrapper.src_to_kernel[definition] = name
        origins, details = get_kernel_metadata(node_schedule, wrapper)
        device = V.graph.get_current_device_or_throw()
        text = "\n" + src_code.replace(LoopKernel.PLACE_OF_NAME, name)
        if V.graph.cpp_wrapper:
            from .ahead import kernel_code

            wrapper.define_kernel(name, kernel_code.definition(name, text, kernel), gpu=False)
            wrapper.kernel_sources[name] = device.index, text
            self.builds.append(start_build(name, device.index, text))
            return name
        wrapper.add_import_once("from inductor_xpu.loader import *")
        self.builds.append(start_build(name, device.index, text))
        body = f"load_kernel({name!r}, {device.index}, '''{text}''', {kernel.loading})"
        wrapper.define_kernel(name, body, f"{origins}\n{details}", gpu=False)
        if kernel.faults.codes:
            said = tuple(tuple(fault) for fault in kernel.faults.codes)
            wrapper.define_kernel(
                f"{name}_faults", f"load_faults({device.index}, {said!r})", gpu=False
            )
        return name

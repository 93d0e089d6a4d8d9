"""Scheduling by means of Triton: of everything, or of Triton's templates beside loops of our own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch._inductor.codegen.common import BackendFeature
from torch._inductor.codegen.triton import TritonScheduling
from torch.utils._ordered_set import OrderedSet

from .scheduling import Scheduling

# Scans of parts wait for other programs, which never end on some devices; sorts are long to build. Both stay
# operators of eager mode, as with loops of our own.
_LEFT_OUT = (BackendFeature.SCAN, BackendFeature.SORT)


class TritonLoops(TritonScheduling):
    """Inductor's scheduling for Triton, without the kernels that xpu does not run."""

    backend_features = OrderedSet(
        feature for feature in TritonScheduling.backend_features if feature not in _LEFT_OUT
    )

    @classmethod
    def get_backend_features(cls, device: torch.device) -> OrderedSet[BackendFeature]:
        """Return what kernels can do; reductions never wait for other programs, whatever the settings say."""
        return cls.backend_features


class LoopsAndTemplates(Scheduling):
    """Loops of our own; templates of Triton, with the loops that are fused into them, by Triton."""

    def __init__(self, scheduler: Any) -> None:
        super().__init__(scheduler)
        self._templates = TritonLoops(scheduler)

    @classmethod
    def get_backend_features(cls, device: torch.device) -> OrderedSet[BackendFeature]:
        """Return what kernels can do besides loops: templates too."""
        return super().get_backend_features(device) | OrderedSet([BackendFeature.TRITON_TEMPLATES])

    def codegen_template(
        self,
        template_node: Any,
        epilogue_nodes: Sequence[Any],
        prologue_nodes: Sequence[Any],
        **named: Any,
    ) -> str | None:
        """Write a template with what is fused into it."""
        return self._templates.codegen_template(  # type: ignore[no-any-return]
            template_node, epilogue_nodes, prologue_nodes, **named
        )

"""Kernels in what ``torch.compiler.save_cache_artifacts`` returns, beside the graphs that call them."""

from __future__ import annotations

import tempfile
from hashlib import sha256
from pathlib import Path

from torch.compiler._cache import CacheArtifact, CacheArtifactFactory, CacheArtifactManager
from xpu_runtime import ready_kernels

from ..builds import loaded_sources


@CacheArtifactFactory.register
class KernelArtifact(CacheArtifact):
    """A file of kernels; see xpu_runtime.ready_kernels."""

    @staticmethod
    def type() -> str:
        """Return the name of this kind of artifact."""
        return "xpu_kernels"

    def populate_cache(self) -> None:
        """Let builds of this process take the kernels."""
        with tempfile.NamedTemporaryFile(suffix=".kernels") as file:
            file.write(self.content)
            file.flush()
            ready_kernels.add(file.name)  # which holds the file open


def record_kernels() -> None:
    """Record the kernels that this process has loaded, if there are graphs to save."""
    sources = loaded_sources()
    if not sources or not CacheArtifactManager.need_serialize():
        return
    device = next(iter(sources.values()))
    with tempfile.NamedTemporaryFile(suffix=".kernels") as file:
        ready_kernels.package(file.name, list(sources), device)
        content = Path(file.name).read_bytes()
    CacheArtifactManager.record_artifact(
        KernelArtifact.type(), sha256(content).hexdigest(), content
    )

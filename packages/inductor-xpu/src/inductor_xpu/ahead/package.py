"""What a package of AOTInductor holds beside its program: the kernels, and what the program is for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.codecache import get_path, sha256_hash
from torch._inductor.cpu_vec_isa import pick_vec_isa
from torch_xpu import _bridge
from xpu_runtime import ready_kernels

# The first line of the description; the reader in torch-xpu knows the number.
FORM = 1
# Files of a package that a program does not read.
_SOURCES = {".cpp", ".h"}


def compile_package(
    stock: Callable[..., Any], graph: Any, *args: Any, additional_files: list[str], **named: Any
) -> Any:
    """Compile the program of a graph, and return its files or the path of its library."""
    wrappers = [part.wrapper_code for part in (graph, graph.const_module) if part is not None]
    # Without kernels for CPUs, the program runs on any of them.
    instructions = _cpu_instructions() if args[1] else []
    of_any_cpu = {} if args[1] else {"cpp.march": "", "cpp.simdlen": 1}
    kernels = _write_kernels([x for wrapper in wrappers for x in wrapper.kernel_sources.values()])
    with config.patch(of_any_cpu):
        result = stock(graph, *args, additional_files=[*additional_files, str(kernels)], **named)
    if isinstance(result, str):
        folder = Path(result).parent
        beside = folder / kernels.name
        beside.write_bytes(kernels.read_bytes())
        _describe(Path(result), [Path(result), beside], instructions)
        return result
    files = [Path(file) for file in result if isinstance(file, str)]
    library = next((file for file in files if file.suffix == ".so"), None)
    if library is not None:
        described = [file for file in files if file.suffix not in _SOURCES]
        result.append(str(_describe(library, described, instructions)))
    return result


def _cpu_instructions() -> list[str]:
    """Return what kernels for this machine's CPU need, by the names that torch-xpu's reader knows."""
    chosen = str(pick_vec_isa()).lower()
    return [name for name in ("avx2", "avx512") if name in chosen]


def _write_kernels(kernels: Sequence[tuple[int, str]]) -> Path:
    """Write the built kernels of a graph's devices, which are alike, to a file of Inductor's cache."""
    _, _, path = get_path(sha256_hash(repr(kernels).encode()), "kernels")
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    device = kernels[0][0] if kernels else 0
    ready_kernels.package(path, [source for _, source in kernels], device)
    return Path(path)


def _describe(library: Path, files: Iterable[Path], instructions: Iterable[str]) -> Path:
    """Write what a library is for, and the digests of the files that it reads; return the path."""
    lines = [f"form {FORM}", f"torch {torch.__version__}", f"abi {_bridge.aoti_abi}"]
    lines += [f"cpu {name}" for name in instructions]
    lines += [f"file {file.name} {sha256(file.read_bytes()).hexdigest()}" for file in files]
    path = library.with_name(f"{library.stem}.xpu_package.txt")
    path.write_text("\n".join(lines) + "\n")
    return path

"""Tuning on xpu: of products, where Triton's templates compete with eager mode's operator, and of loops."""

from __future__ import annotations

import copy
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from torch._inductor.runtime.hints import HeuristicType

# Candidates of one product. Each is compiled, built and measured, for about a second on one core.
MAX_TEMPLATES = 6
# Rows and columns of a tile that registers hold, by preference.
_TILES = ((64, 64), (32, 64), (64, 32), (32, 32), (64, 128), (128, 64), (16, 64), (16, 32))


def fewer_templates(choices: list[Any]) -> list[Any]:
    """Return the choices with the templates whose tiles suit xpu; others stay."""
    from torch._inductor.select_algorithm import TritonTemplateCaller

    templates = [choice for choice in choices if isinstance(choice, TritonTemplateCaller)]
    if not any(choice.layout.device.type == "xpu" for choice in templates):
        return choices
    preferred = set(map(id, sorted(templates, key=_preference)[:MAX_TEMPLATES]))
    return [choice for choice in choices if choice not in templates or id(choice) in preferred]


def _preference(choice: Any) -> int:
    tiles = choice.log_info.get("tile_shape", "")
    sizes = tuple(int(n) for n in str(tiles).strip("()").split(",") if n.strip().isdigit())
    tile = (sizes[0], sizes[-1]) if len(sizes) >= 2 else ()
    return _TILES.index(tile) if tile in _TILES else len(_TILES)


# Elements of a tile below which a program of the CPU device costs more than its work.
MIN_ELEMENTS = 128


# Elements of a row from which on several rows, with what is made of them, do not fit the first cache.
MAX_SHARED_ROW = 256


def suitable_configs(
    configs: Sequence[Any],
    device: Any,
    kind: Any,
    sizes: Mapping[str, int] | None,
    least: Mapping[str, int] | None = None,
) -> list[Any]:
    """Return the configurations of a kernel of loops that differ on a device, which Inductor describes.

    The CPU device ignores the number of warps, and small tiles are slow there. In kernels of the kind
    POINTWISE the configuration has all sizes of the tile; ``sizes`` are the lengths of the loops;
    ``least`` has the smallest sizes of a tile that the kernel's tensor descriptors allow.
    """
    if device.type != "xpu" or device.cc.get("type") != "cpu":
        return list(configs)
    if kind is HeuristicType.PERSISTENT_REDUCTION and _row(sizes or {}) >= MAX_SHARED_ROW:
        configs = copy.deepcopy(list(configs))
        for config in configs:
            if "XBLOCK" in config.kwargs:  # otherwise a program has one row in any case
                config.kwargs["XBLOCK"] = (least or {}).get("XBLOCK", 1)
    tiles: dict[Any, Any] = {}
    for config in configs:
        tiles.setdefault(tuple(sorted(config.kwargs.items())), config)
    found = list(tiles.values())
    if kind is not HeuristicType.POINTWISE:
        return found
    return [config for config in found if _elements(config) >= MIN_ELEMENTS] or found


def _row(sizes: Mapping[str, int]) -> int:
    return math.prod(size for name, size in sizes.items() if name.startswith("r"))


def _elements(config: Any) -> int:
    return math.prod(size for name, size in config.kwargs.items() if name.endswith("BLOCK"))


def reported(log_results: Callable[..., None]) -> Callable[..., None]:
    """Return a function that writes one line of what was chosen for a product on xpu, not a table of all."""

    def log(
        name: str,
        input_nodes: Sequence[Any],
        timings: Mapping[Any, float],
        *args: Any,
        **named: Any,
    ) -> None:
        from torch._inductor import config, select_algorithm

        if not any(node.get_device().type == "xpu" for node in input_nodes):
            log_results(name, input_nodes, timings, *args, **named)
            return
        with _no_table(select_algorithm):
            log_results(name, input_nodes, timings, *args, **named)
        if timings and (config.max_autotune or config.max_autotune_gemm):
            sys.stderr.write(describe(name, input_nodes, timings) + "\n")

    return log


def describe(name: str, input_nodes: Sequence[Any], timings: Mapping[Any, float]) -> str:
    """Return the line: the product, what was chosen, and the best of the others."""
    from torch._inductor.select_algorithm import TritonTemplateCaller
    from torch._inductor.virtualized import V

    hints = V.graph.sizevars.optimization_hints
    sizes = ", ".join("x".join(map(str, hints(node.get_size()))) for node in input_nodes)
    best: dict[str, tuple[float, str]] = {}
    for choice, ms in sorted(timings.items(), key=lambda item: item[1]):
        is_template = isinstance(choice, TritonTemplateCaller)
        detail = f" ({choice.description})" if is_template else ""
        best.setdefault("Triton" if is_template else "oneDNN", (ms, detail))
    (chosen, (ms, detail)), *others = best.items()
    rest = "".join(f"; {other} {its:.3f} ms" for other, (its, _) in others)
    return f"xpu: {name}({sizes}): {chosen} {ms:.3f} ms{detail}{rest}"


class _no_table:  # noqa: N801 - used as a function
    """A `with` block in which Inductor prints no results of tuning."""

    def __init__(self, module: Any) -> None:
        self.module = module

    def __enter__(self) -> None:
        self.before = self.module.PRINT_AUTOTUNE
        self.module.PRINT_AUTOTUNE = False

    def __exit__(self, *_: object) -> None:
        self.module.PRINT_AUTOTUNE = self.before

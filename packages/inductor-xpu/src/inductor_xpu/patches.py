"""What is changed in PyTorch: one table of targets, reasons and replacements.

A replacement is made when the module that has the target is imported, so `import torch` imports nothing of
Inductor. Each is a function of the stock object and behaves like it for every other device.
"""

from __future__ import annotations

import functools
import inspect
from types import ModuleType
from typing import Any

from . import exact_arithmetic
from .ahead.patches import AHEAD_PATCHES
from .patch import Patch
from .quantized_patches import QUANTIZED_PATCHES
from .triton_patches import TRITON_PATCHES


def _empty_strided(stock: Any) -> Any:
    def empty_strided(size: Any, stride: Any, dtype: Any) -> Any:
        from . import loader  # replaces this function by the one of C++

        return loader.empty_strided(size, stride, dtype)

    return empty_strided


def _create_backend(stock: Any) -> Any:
    from torch._inductor.codegen.common import get_scheduling_for_device
    from torch._inductor.virtualized import V

    @functools.wraps(stock)
    def create_backend(self: Any, device: Any) -> Any:
        if device.type != "xpu":
            return stock(self, device)
        V.graph.add_device_info(device)
        return get_scheduling_for_device("xpu")(self)

    return create_backend


def _devices_of_graphs(stock: Any) -> Any:
    @functools.wraps(stock)
    def check_multiple_devices_or_any_cpu_nodes(device_node_mapping: Any) -> str | None:
        types = [device.type for device in device_node_mapping if device.type != "meta"]
        return None if types == ["xpu"] else stock(device_node_mapping)

    return check_multiple_devices_or_any_cpu_nodes


def _mixed_orders(stock: Any) -> Any:
    @functools.wraps(stock)
    def can_fuse(node1: Any, node2: Any) -> bool:
        return node1.get_device().type != "xpu" and stock(node1, node2)

    return staticmethod(can_fuse)


def _two_step_variance(stock: Any) -> Any:
    @functools.wraps(stock)
    def use_two_step_variance(x: Any, axis: Any, keepdim: bool, input_dtype: Any) -> bool:
        if x.get_device().type != "xpu":
            return stock(x, axis, keepdim, input_dtype)
        from .splits import is_split

        return not is_split(x, axis, keepdim)

    return use_two_step_variance


def _reduced_elements(stock: Any) -> Any:
    @functools.wraps(stock)
    def _make_reduction_inner(x: Any, **named: Any) -> dict[str, Any]:
        made: dict[str, Any] = stock(x, **named)
        if made["device"].type != "xpu" or named.get("reduction_type") not in ("argmax", "argmin"):
            return made
        from .extremes import with_positions

        return with_positions(x, made)

    return _make_reduction_inner


def _splits(stock: Any) -> Any:
    signature = inspect.signature(stock)

    @functools.wraps(stock)
    def num_splits(device: Any, *args: Any, **named: Any) -> Any:
        chosen = stock(device, *args, **named)
        if device.type != "xpu":
            return chosen
        from .splits import choose_split

        return choose_split(chosen, **signature.bind(device, *args, **named).arguments)

    return staticmethod(num_splits)


def _prepare_softmax(stock: Any) -> Any:
    @functools.wraps(stock)
    def prepare_softmax_extra_check(match: Any) -> bool:
        return match.kwargs["x"].meta["val"].device.type != "xpu" and stock(match)

    return prepare_softmax_extra_check


def _replace_random(stock: Any) -> Any:
    from . import eager_random  # registers the operators that compiled code calls

    @functools.wraps(stock)
    def replace_random_passes(gm: Any) -> Any:
        count = 0
        if eager_random.is_on():
            from .reader import draws  # noqa: F401  registers their lowerings

            count = eager_random.replace_draws(gm.graph)
        return count + stock(gm)

    return replace_random_passes


def _select_decompositions(stock: Any) -> Any:
    @functools.wraps(stock)
    def select_decomp_table() -> Any:
        from .decompositions import decompositions

        return decompositions(stock())

    return select_decomp_table


def _initialized_loops(stock: Any) -> Any:
    @functools.wraps(stock)
    def initialize(self: Any) -> None:
        from . import user_lines

        stock(self)
        if self.device.type == "xpu" and user_lines.is_wanted():
            user_lines.attribute(self)

    return initialize


def _schedule(stock: Any) -> Any:
    @functools.wraps(stock)
    def _init(self: Any, nodes: Any) -> None:
        from . import eager_random

        eager_random.keep_order(nodes)
        stock(self, nodes)

    return _init


def _is_big_gpu(stock: Any) -> Any:
    @functools.wraps(stock)
    def is_big_gpu(index_or_device: Any = 0) -> bool:
        import torch

        from .triton_use import writes_templates

        if isinstance(index_or_device, torch.device) and index_or_device.type == "xpu":
            return writes_templates()
        return bool(stock(index_or_device))

    return is_big_gpu


def _is_convolution(stock: Any) -> Any:
    @functools.wraps(stock)
    def is_mkldnn_conv(node: Any) -> bool:
        import torch

        return stock(node) or node.target is torch.ops.torch_xpu.fused_convolution.default

    return is_mkldnn_conv


def _initialized(stock: Any) -> Any:
    @functools.wraps(stock)
    def init_backend_registration() -> None:
        from .registration import register

        register()
        stock()

    return init_backend_registration


def _compile_fx(stock: Any) -> Any:
    signature = inspect.signature(stock)

    @functools.wraps(stock)
    def compile_fx(model_: Any, example_inputs_: Any, *args: Any, **named: Any) -> Any:
        from torch_xpu.graph_devices import uses_xpu

        from . import settings, triton_use, user_lines, workers
        from .ahead.input_checks import user_names
        from .modes import require_loops, supported_settings
        from .prepare import prepare

        settings.user_lines = user_lines.is_wanted()
        bound = signature.bind(model_, example_inputs_, *args, **named)
        if not uses_xpu(model_, example_inputs_):
            return stock(*bound.args, **bound.kwargs)
        patches = bound.arguments.get("config_patches")
        require_loops(patches)
        prepare(model_)
        bound.arguments["config_patches"] = supported_settings(patches)
        compiles_triton = triton_use.writes_loops() or triton_use.writes_templates(patches)
        token = user_names.set(_placeholders(model_))
        try:
            with workers.prevented_for(example_inputs_, compiles_triton):
                return stock(*bound.args, **bound.kwargs)
        finally:
            user_names.reset(token)

    return compile_fx


def _placeholders(graph: Any) -> tuple[str, ...]:
    return tuple(str(node.target) for node in graph.graph.nodes if node.op == "placeholder")


def _flex_attention(stock: Any) -> Any:
    from .flex_attention.eager import compiled_on_xpu

    return compiled_on_xpu(stock)


PATCHES = (
    *AHEAD_PATCHES,
    *QUANTIZED_PATCHES,
    *TRITON_PATCHES,
    Patch(
        "torch._C._dynamo.guards",
        "_empty_strided_xpu",
        "the CPU wheel's says that it was compiled without support for xpu",
        _empty_strided,
    ),
    Patch(
        "torch._inductor.codegen.common",
        "init_backend_registration",
        "registers the back end of xpu before the stock one, which wants Triton",
        _initialized,
    ),
    Patch(
        "torch._inductor.compile_fx",
        "compile_fx",
        "fuses attention, tunes and captures graphs only with Triton or CUDA",
        _compile_fx,
    ),
    Patch(
        "torch._inductor.cudagraph_utils",
        "check_multiple_devices_or_any_cpu_nodes",
        "lets only graphs of one CUDA device be captured",
        _devices_of_graphs,
    ),
    Patch(
        "torch._inductor.graph",
        "is_mkldnn_conv",
        "does not count the convolutions that fusions/ has fused, so memory would not be channels-last",
        _is_convolution,
    ),
    Patch(
        "torch._inductor.scheduler",
        "Scheduler.create_backend",
        "demands Triton of every GPU",
        _create_backend,
    ),
    Patch(
        "torch._inductor.ir",
        "Loops.__post_init__",
        "loops do not remember which of the nodes that were fused into them made which operation",
        _initialized_loops,
    ),
    Patch(
        "torch._inductor.scheduler",
        "Scheduler._init",
        "calls operators that draw random numbers in any order, also where they are to be eager mode's",
        _schedule,
    ),
    Patch(
        "torch._inductor.scheduler",
        "MixOrderReduction.can_fuse",
        "makes one Triton kernel of reductions along rows and along columns",
        _mixed_orders,
    ),
    Patch(
        "torch._inductor.ir",
        "Reduction.num_splits",
        "splits reductions for CUDA's threads, not for the units of xpu, of which some report no slices",
        _splits,
    ),
    Patch(
        "torch._inductor.index_propagation",
        "SymPyOps.mod",
        "gives fmod of negative positions the sign of the divisor",
        exact_arithmetic.index_of(lambda x, y: x.is_nonnegative and y.is_positive),
    ),
    Patch(
        "torch._inductor.index_propagation",
        "SymPyOps.floordiv",
        "makes x // a // b into x // (a * b), which is wrong for a negative b",
        exact_arithmetic.index_of(lambda x, y: y.is_positive),
    ),
    Patch(
        "torch._inductor.lowering",
        "_make_reduction_inner",
        "leaves out positions of computed elements, whose loops may be in another order",
        _reduced_elements,
    ),
    Patch(
        "torch._inductor.lowering",
        "div_prim",
        "divides by multiplying with a reciprocal that f32 may not hold: 0 / 1e-40 became NaN",
        exact_arithmetic.division,
    ),
    Patch(
        "torch._inductor.lowering",
        "use_two_step_variance",
        "two passes of a kernel are faster than Welford's division for each element",
        _two_step_variance,
    ),
    Patch(
        "torch._inductor.fx_passes.post_grad",
        "prepare_softmax_extra_check",
        "the online form computes more exponentials than one that keeps them (see keep_values.py)",
        _prepare_softmax,
    ),
    Patch(
        "torch._inductor.fx_passes.replace_random",
        "replace_random_passes",
        "aligns random numbers with eager mode only on CUDA (config.align_random_eager)",
        _replace_random,
    ),
    Patch(
        "torch._inductor.decomposition",
        "select_decomp_table",
        "some decompositions are slow on xpu, and random ones do not draw the numbers of eager mode",
        _select_decompositions,
    ),
    Patch(
        "torch._inductor.fx_passes.mkldnn_fusion",
        "SUPPORTED_MKLDNN_DEVICES",
        "fusions/ fuses convolutions on xpu, frozen or not; the stock patterns fuse frozen ones alone",
        lambda stock: tuple(device for device in stock if device != "xpu"),
    ),
    Patch(
        "torch._inductor.utils",
        "is_big_gpu",
        "refuses templates on devices with few units, and warns; on xpu all devices may have them",
        _is_big_gpu,
    ),
    Patch(
        "torch.nn.attention.flex_attention",
        "flex_attention",
        "outside of torch.compile computes with all scores in memory",
        _flex_attention,
    ),
)


def modules() -> tuple[str, ...]:
    """Return the modules whose import makes replacements."""
    return tuple(dict.fromkeys(patch.module for patch in PATCHES))


def apply_to(module: ModuleType) -> None:
    """Make the replacements in a module that was just imported."""
    for patch in PATCHES:
        if patch.module == module.__name__:
            *path, name = patch.name.split(".")
            owner = functools.reduce(getattr, path, module)
            setattr(owner, name, patch.replace(getattr(owner, name)))

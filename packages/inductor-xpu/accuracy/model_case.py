"""A case: a model compiled for a device in one mode, with one dtype, for one or for varying sizes."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import judge
import torch
import torch_xpu
from models import Model, models
from torch._dynamo.utils import counters
from torch.utils._pytree import keystr, tree_leaves, tree_leaves_with_path, tree_map

MODES = ("inference", "training")
# Inference by a package of AOTInductor: on request, as each compiles a program in C++.
PACKAGED = "packaged"
DTYPES = ("float32", "bfloat16", "amp")
SIZES = ("static", "dynamic")
# No other size of a model equals them: Dynamo would take equal sizes for one. A graph for varying
# sizes runs with both, a graph for fixed sizes with the first.
BATCH_SIZES = (5, 7)

# Tensors by kind: outputs and, of training, gradients, buffers and updates of parameters.
Step = dict[str, dict[str, torch.Tensor]]


@dataclass(frozen=True)
class ModelCase:
    """What a case compares; its name is the four parts with slashes between."""

    family: str
    model: str
    mode: str
    dtype: str
    sizes: str

    @classmethod
    def parse(cls, name: str) -> ModelCase:
        """Return the case of a name."""
        return cls(*name.split("/"))

    def __str__(self) -> str:
        return "/".join((self.family, self.model, self.mode, self.dtype, self.sizes))


def cases(family: str, packaged: bool = False) -> Iterator[ModelCase]:
    """Yield the cases of a family."""
    for model in models(family):
        for mode in (PACKAGED,) if packaged else MODES:
            for dtype in DTYPES[:2] if packaged else DTYPES:
                for sizes in SIZES:
                    yield ModelCase(family, model, mode, dtype, sizes)


@dataclass(frozen=True)
class Result:
    """What a case gave: the differences, what Dynamo made of the model, and what ran on the host."""

    differences: list[str]
    graphs: int
    breaks: list[str]
    host: list[str]

    def __str__(self) -> str:
        if self.host:
            return f"on the host: {', '.join(self.host)}"
        count = len(self.differences)
        return f"{count} differ: {self.differences[0]}" if count else "pass"


def check(case: ModelCase, device: str = "xpu") -> Result:
    """Run a case. Raises what the model or the compiler raises, and RecompileError for a second graph."""
    return check_model(models(case.family)[case.model], case, device)


def check_model(model: Model, case: ModelCase, device: str) -> Result:
    """Run the case with a model that need not be in a table."""
    torch._dynamo.reset()
    counters.clear()
    torch.manual_seed(0)
    net = _without_dropout(model.make()).train(case.mode == "training")
    if case.dtype == "bfloat16":
        net = net.to(torch.bfloat16)
    dtype = next(net.parameters()).dtype
    batches = [_cast(model.inputs(n), dtype) for n in BATCH_SIZES]
    batches = batches if case.sizes == "dynamic" else batches[:1]

    exact_net = copy.deepcopy(net).double()
    exact = [_step(exact_net, exact_net, _cast(b, torch.float64), "cpu", case) for b in batches]
    eager_net = copy.deepcopy(net).to(device)
    eager = [_step(eager_net, eager_net, b, device, case) for b in batches]

    compiled_net = net.to(device)
    if case.mode == PACKAGED:
        call = _packaged(compiled_net, batches[0], device, case.sizes == "dynamic")
    else:
        call = torch.compile(compiled_net, dynamic=case.sizes == "dynamic")
    torch_xpu.reset_fallbacks()
    compiled = [_step(compiled_net, call, batches[0], device, case)]
    graphs, breaks = counters["stats"]["unique_graphs"], sorted(counters["graph_break"])
    with torch._dynamo.config.patch(error_on_recompile=True):
        compiled += [_step(compiled_net, call, batch, device, case) for batch in batches[1:]]
    if case.mode == "training" and case.sizes == "static":
        for step, updated in ((exact, exact_net), (eager, eager_net), (compiled, compiled_net)):
            step[0]["update of"] = _update(updated, is_compiled=updated is compiled_net)
    is_float32 = case.dtype == "float32"
    tol = judge.tolerance(case.mode == "training", is_float32)
    if model.tolerance and not is_float32:
        tol = model.tolerance
    found = []
    for ours, theirs, reference in zip(compiled, eager, exact, strict=True):
        for kind, expected in reference.items():
            _require_finite(kind, expected)
            different = judge.differences(ours[kind], theirs[kind], expected, tol)
            found += [f"{kind} {text}" for text in different]
    return Result(found, graphs, [_one_line(b) for b in breaks], sorted(torch_xpu.fallbacks()))


def _packaged(
    net: torch.nn.Module, batch: Mapping[str, Any], device: str, dynamic: bool
) -> Callable[..., Any]:
    """Return a network that was exported, compiled into a package and loaded."""
    inputs = tree_map(lambda tensor: tensor.to(device), dict(batch))

    def sizes(tensor: Any) -> dict[int, Any]:
        dims = [n for n, size in enumerate(tensor.shape) if size == BATCH_SIZES[0]]
        return dict.fromkeys(dims, torch.export.Dim.AUTO)

    shapes = tree_map(sizes, inputs) if dynamic else None
    with torch.no_grad(), tempfile.TemporaryDirectory() as folder:
        program = torch.export.export(net, (), inputs, dynamic_shapes=shapes, strict=False)
        file = torch._inductor.aoti_compile_and_package(program, package_path=f"{folder}/model.pt2")
        return torch._inductor.aoti_load_package(file)


def _step(
    net: torch.nn.Module,
    call: Callable[..., Any],
    batch: Mapping[str, Any],
    device: str,
    case: ModelCase,
) -> Step:
    """Call a network and, in training, compute the gradients of its parameters."""
    inputs = tree_map(lambda tensor: tensor.to(device), dict(batch))
    is_training = case.mode == "training"
    is_amp = case.dtype == "amp"
    with (
        torch.set_grad_enabled(is_training),
        torch.autocast(device, torch.bfloat16, enabled=is_amp),
    ):
        outputs = call(**inputs)
    step = {"output": _tensors(outputs)}
    if is_training:
        net.zero_grad()
        _loss(outputs).backward()
        step["gradient of"] = _tensors({name: p.grad for name, p in net.named_parameters()})
        step["buffer"] = _tensors(dict(net.named_buffers()))
    return step


def _update(net: torch.nn.Module, is_compiled: bool) -> dict[str, torch.Tensor]:
    """Return what a step of the optimizer adds to each parameter."""
    before = {name: p.detach().clone() for name, p in net.named_parameters()}
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9, weight_decay=0.01)
    update = torch.compile(optimizer.step) if is_compiled else optimizer.step
    update()
    return _tensors({name: p.detach() - before[name] for name, p in net.named_parameters()})


def _loss(outputs: Any) -> torch.Tensor:
    """Return the model's own loss, or the squared distance of all outputs from a ramp."""
    loss = getattr(outputs, "loss", None)
    if loss is not None:
        return loss
    losses = []
    for output in tree_leaves(outputs):
        if isinstance(output, torch.Tensor) and output.requires_grad:
            output = output if output.dtype == torch.float64 else output.float()
            target = torch.linspace(-1, 1, output.numel(), dtype=output.dtype)
            losses.append((output - target.to(output.device).view_as(output)).square().mean())
    return torch.stack(losses).sum()


def _tensors(tree: Any) -> dict[str, torch.Tensor]:
    """Return the tensors of a tree on the host; those of float64 are the reference."""
    leaves = ((keystr(path), leaf) for path, leaf in tree_leaves_with_path(tree))
    return {
        name.strip("[]'."): leaf.detach().cpu().clone()
        for name, leaf in leaves
        if isinstance(leaf, torch.Tensor)
    }


def _cast(inputs: Mapping[str, Any], dtype: torch.dtype) -> dict[str, Any]:
    """Return inputs with floats of a dtype."""
    return tree_map(lambda x: x.to(dtype) if x.is_floating_point() else x, dict(inputs))


def _without_dropout(net: torch.nn.Module) -> torch.nn.Module:
    """Return a network that drops nothing: compiled functions draw other numbers than eager ones."""
    for module in net.modules():
        if isinstance(module, torch.nn.modules.dropout._DropoutNd):
            module.p = 0.0
    return net


def _require_finite(kind: str, tensors: Mapping[str, torch.Tensor]) -> None:
    wrong = [name for name, tensor in tensors.items() if not tensor.isfinite().all()]
    if wrong:
        raise ValueError(f"the reference is not finite: {kind} {wrong[0]}")


def _one_line(text: str) -> str:
    return " ".join(text.split())[:160]

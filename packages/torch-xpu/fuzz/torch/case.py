"""One random call: made on the CPU and on xpu, its results and what it left in memory compared."""

from __future__ import annotations

import contextlib
import functools
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from compare import Finer, Promise, difference, wrong_beside, wrong_beside_finer
from generator import DIFFERENTIABLE, Generator, Storage, View
from operator_line import Operator
from rounding import RoundingErrors, add_noise
from torch.utils._pytree import tree_flatten, tree_leaves, tree_map
from values import elements
from xpu_testing.float_formats import FloatFormat, format_of
from xpu_testing.fuzzing import PASSED, REFUSED, Difference, announce, check
from xpu_testing.noise import Noise, trials

WIDE = {torch.complex64: torch.complex128} | dict.fromkeys(
    (torch.float16, torch.bfloat16, torch.float32), torch.float64
)
MAX_STEPS = {torch.float16: 4.0, torch.bfloat16: 4.0}
FLOATING = (*DIFFERENTIABLE, *WIDE)
RESULTS = ("results", "outs", "gradients")
# Decompositions of dense matrices that have no device algorithm: with fallback off they refuse.
ON_THE_HOST = re.compile(
    r"aten::(_linalg_svd\.U|_linalg_eigh\.eigenvalues|linalg_eig|_linalg_eigvals|linalg_qr\.out|geqrf"
    r"|ormqr|linalg_householder_product|linalg_lstsq\.out|linalg_ldl_factor_ex\.out"
    r"|linalg_ldl_solve\.out) has no xpu kernel"
)
# A dtype that the CPU has no kernel for; xpu may have one.
MISSING_ON_CPU = re.compile(
    "not implemented for|not supported on CPU|unsupported dtype|does not support"
)
DEVICE = "DEVICE"  # stands for the device among the arguments


@dataclass
class Observed:
    """What one device made of a case."""

    error: Exception | None = None
    results: list[Any] = field(default_factory=list)
    aliases: list[int | None] = field(default_factory=list)
    outs: list[torch.Tensor] = field(default_factory=list)
    gradients: list[Any] = field(default_factory=list)
    storages: list[torch.Tensor] = field(default_factory=list)
    layouts: dict[str, list[dict[str, Any]]] = field(default_factory=dict)


class Case:
    """An operator, a way to call it, and arguments."""

    def __init__(self, draw: random.Random, operator: Operator) -> None:
        self._operator = operator
        self.subject = operator.name
        self._generator = g = Generator(draw)
        self._arguments, self._named = operator.arguments(g)
        self._mode = self._choose_mode(draw)
        self._out_seed = draw.getrandbits(31)
        self._out_style = draw.choice(
            ["right"] * 4 + ["strided"] * 4 + ["empty", "shape", "dtype"] + ["alias", "overlap"]
        )
        if self._out_style in ("alias", "overlap") and not operator.overlaps:
            self._out_style = "right"
        if self._mode == "i" and operator.overlaps and draw.random() < 0.15:
            self._overlap()

    def _choose_mode(self, draw: random.Random) -> str:
        operator, first = self._operator, (self._arguments or [None])[0]
        weights = {"f": 5, "i": 2, "o": 2, "g": 4, "G": 1}
        possible = {
            "f": True,
            # What is written twice depends on the order, unless that is refused.
            "i": operator.inplace is not None
            and isinstance(first, View)
            and (not first.shares_memory or (operator.overlaps and first.expanded)),
            "o": operator.takes_out,
            "g": any(view.dtype in DIFFERENTIABLE for view in self._generator.views),
        }
        possible["G"] = possible["g"]
        modes = [mode for mode in weights if mode.lower() in operator.modes and possible[mode]] or [
            "f"
        ]
        return draw.choices(modes, [weights[mode] for mode in modes])[0]

    def _overlap(self) -> None:
        """Another argument becomes a view of the storage that is written."""
        g, own = self._generator, self._arguments[0]
        for i, other in enumerate(self._arguments[1:], 1):
            if isinstance(other, View) and other.dtype == own.dtype and own.dense:
                self._arguments[i] = g.overlapping(own)
                return

    def __str__(self) -> str:
        names = {id(view): f"t{i}" for i, view in enumerate(self._views())}

        def show(leaf: Any) -> Any:
            return _Text(names[id(leaf)]) if isinstance(leaf, View) else leaf

        arguments = [repr(tree_map(show, a, is_leaf=_is_view)) for a in self._arguments]
        arguments += [
            f"{k}={tree_map(show, v, is_leaf=_is_view)!r}" for k, v in self._named.items()
        ]
        name = self._operator.name + ("_" if self._mode == "i" else "")
        if self._mode == "o":
            arguments.append(f"out=<{self._out_style}>")
        text = f"{name}({', '.join(arguments)})"
        text += {"g": " and its gradients", "G": " and its second gradients"}.get(self._mode, "")
        for i, view in enumerate(self._views()):
            storage = self._generator.storages[view.storage]
            text += (
                f"\n  t{i} = {str(view.dtype)[6:]} {list(view.size)} strides {list(view.stride)}"
            )
            text += f" offset {view.offset} of storage {view.storage} of {storage.count} {storage.values!r}"
        return text

    def _views(self) -> list[View]:
        leaves = tree_leaves([self._arguments, self._named], is_leaf=_is_view)
        return list({id(leaf): leaf for leaf in leaves if isinstance(leaf, View)}.values())

    def run(self) -> str:
        announce("reference")
        expected = self._observe("cpu")
        announce("xpu")
        got = self._observe("xpu")
        announce("reference")
        if expected.error or got.error:
            return self._refusals(expected.error, got.error)
        self._layouts(expected, got)
        finer = functools.cache(self._finer)
        for i, (a, b) in enumerate(zip(expected.storages, got.storages, strict=True)):
            self._compare("storages", i, a, b, finer)
        places = [(name, i) for name in RESULTS for i in range(len(getattr(expected, name)))]

        def judge(results: list[Any]) -> None:
            for (name, i), result in zip(places, results, strict=True):
                self._compare(name, i, getattr(expected, name)[i], result, finer)

        check([getattr(got, name)[i] for name, i in places], judge)
        return PASSED

    # One device

    def _observe(
        self, device: str, wide: bool = False, noise: Noise | None = None, mode: str = ""
    ) -> Observed:
        """Return what a device makes of the case; ``wide`` in double precision, with noise or without."""
        seen = Observed()
        torch.set_default_dtype(torch.float64 if wide else torch.float32)
        try:
            self._call(device, wide, seen, noise, mode or self._mode)
            if device == "xpu":
                torch.xpu.synchronize()
            for name in (*RESULTS, "storages"):
                leaves = getattr(seen, name)
                seen.layouts[name] = [_layout(leaf) for leaf in leaves]
                setattr(seen, name, [_to_host(leaf) for leaf in leaves])
        except Exception as error:  # noqa: BLE001 - a refusal is a result
            seen.error = error
        return seen

    def _finer(self) -> list[Observed]:
        """Return the case in double precision, without and with noise; nothing if that is refused."""
        exact = self._observe("cpu", wide=True)
        if exact.error:
            return []
        found = [self._observe("cpu", wide=True, noise=each) for each in trials(self._out_seed)]
        for each in found:
            if each.error:
                raise each.error
        return [exact, *found]

    def _format(self) -> FloatFormat:
        """Return the format with the fewest digits that the case computes in."""
        dtypes = [view.dtype for view in self._views()] + [self._named.get("dtype")]
        formats = [format_of(dtype) for dtype in dtypes if dtype in FLOATING]
        return max(formats or [format_of(torch.float32)], key=lambda each: each.epsilon)

    def _call(
        self, device: str, wide: bool, seen: Observed, noise: Noise | None, mode: str
    ) -> None:
        about, gradients = self._format(), mode in ("g", "G")
        # Which of equal numbers is the largest does not depend on rounding.
        moves = noise and (self._operator.cancels or (gradients and not self._operator.exact))
        writes = mode in ("i", "o")

        def widened(storage: Storage) -> torch.Tensor:
            whole = elements(storage)
            if wide:
                whole = whole.to(WIDE.get(whole.dtype, whole.dtype))
            if moves and writes:
                add_noise(whole, noise, about)
            return whole

        seen.storages = [widened(storage).to(device) for storage in self._generator.storages]
        tensors: dict[int, torch.Tensor] = {}

        def build(leaf: Any) -> Any:
            if isinstance(leaf, View):
                if id(leaf) not in tensors:
                    whole = seen.storages[leaf.storage]
                    tensor = whole.as_strided(leaf.size, leaf.stride, leaf.offset)
                    if moves and not writes:  # the elements of an expanded one differ then, too
                        tensor = tensor.clone(memory_format=torch.contiguous_format)
                        add_noise(tensor, noise, about)
                    if gradients and leaf.dtype in DIFFERENTIABLE:
                        tensor = tensor.detach().requires_grad_()
                    tensors[id(leaf)] = tensor
                return tensors[id(leaf)]
            if isinstance(leaf, torch.dtype) and wide:
                return WIDE.get(leaf, leaf)
            return device if leaf is DEVICE else leaf

        def arguments() -> tuple[list[Any], dict[str, Any]]:
            return tree_map(build, (self._arguments, self._named), is_leaf=_is_view)

        function = self._operator.inplace if mode == "i" else self._operator.function
        positional, named = arguments()
        if mode == "o":
            seen.outs = self._outs(device, wide, seen.storages)
            named["out"] = seen.outs[0] if len(seen.outs) == 1 else tuple(seen.outs)
        errors = RoundingErrors(noise, about) if noise else contextlib.nullcontext()
        with errors:
            result = function(*positional, **named)
        seen.results = list(tree_flatten(result)[0])
        seen.aliases = [_alias(leaf, seen.storages) for leaf in seen.results]
        if gradients:
            with errors:
                self._differentiate(seen, [t for t in tensors.values() if t.requires_grad])

    def _outs(self, device: str, wide: bool, storages: list[torch.Tensor]) -> list[torch.Tensor]:
        """What ``out`` is given: made to fit, or not to fit, what the CPU returns without it."""
        found = self._observe("cpu", wide, mode="f")
        draw = Generator(random.Random(self._out_seed))
        outs = []
        for like in [leaf for leaf in found.results if isinstance(leaf, torch.Tensor)] or [
            torch.ones(2)
        ]:
            shape, dtype, style = list(like.shape), like.dtype, self._out_style
            if style in ("alias", "overlap"):
                same = [view for view in self._views() if storages[view.storage].dtype == dtype]
                if same:
                    view = draw.pick(*same)
                    whole = storages[view.storage]
                    if style == "alias" and list(view.size) == shape:
                        outs.append(whole.as_strided(view.size, view.stride, view.offset))
                        continue
                    room = whole.numel() - like.numel()
                    if room >= 0 and all(view.dense for view in same):
                        outs.append(whole[draw.randrange(room + 1) :][: like.numel()].view(shape))
                        continue
                style = "right"
            if style == "shape":
                shape = draw.pick([*shape, 2], shape[1:], [2, 3])
            if style == "empty":
                shape = [0]
            if style == "dtype":
                dtype = draw.pick(
                    torch.float32, torch.float64, torch.int64, torch.bool, torch.float16
                )
                dtype = WIDE.get(dtype, dtype) if wide else dtype
            apart = not self._operator.overlaps or draw.chance(0.9)
            view = draw.tensor(shape, dtype, "normal", contiguous=style != "strided", apart=apart)
            if view.shares_memory and not view.expanded:
                view = draw.tensor(shape, dtype, "normal", contiguous=True)
            whole = elements(draw.storages[-1]).to(device)
            storages.append(whole)
            outs.append(whole.as_strided(view.size, view.stride, view.offset))
        return outs

    def _differentiate(self, seen: Observed, leaves: list[torch.Tensor]) -> None:
        draw = random.Random(self._out_seed)

        def gradients(outputs: Sequence[Any], twice: bool) -> list[torch.Tensor]:
            wanted = [t for t in outputs if isinstance(t, torch.Tensor) and t.requires_grad]
            if not wanted:
                return []
            directions = []
            for output in wanted:
                # Numbers that every dtype holds, so that finer runs go the same way.
                values = Storage(output.dtype, output.numel(), draw.getrandbits(31), "quarters")
                direction = elements(values).to(output.device)
                directions.append(direction.view(output.shape))
            found = torch.autograd.grad(
                wanted, leaves, directions, allow_unused=True, create_graph=twice
            )
            return [gradient for gradient in found if gradient is not None]

        first = gradients(seen.results, self._mode == "G")
        seen.gradients = first + (gradients(first, False) if self._mode == "G" else [])

    # Two devices

    def _refusals(self, expected: Exception | None, got: Exception | None) -> str:
        if got is not None and ON_THE_HOST.search(str(got)):
            return REFUSED
        if expected is not None and got is not None:
            if _kind(expected) == _kind(got) or "out of range for a dimension" in str(got):
                return REFUSED
            raise Difference(f"raises {_short(got)}, expected {_short(expected)}")
        if got is not None:
            raise Difference(f"raises {_short(got)}, the CPU does not")
        assert expected is not None
        if MISSING_ON_CPU.search(str(expected)):
            return REFUSED
        raise Difference(f"does not raise, the CPU does: {_short(expected)}")

    def _layouts(self, expected: Observed, got: Observed) -> None:
        for name in ("results", "outs", "gradients"):
            a, b = expected.layouts[name], got.layouts[name]
            if len(a) != len(b):
                raise Difference(f"{len(b)} {name}, expected {len(a)}")
            # Where dtypes are mixed the CPU converts first, which makes other strides.
            dtypes = {view.dtype for view in self._views()}
            strided = name != "gradients" and (self._operator.strides or self._mode == "i")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                strided = strided and dtypes <= {x.get("dtype")} | (
                    {*dtypes} if x.get("dtype") == torch.bool and len(dtypes) == 1 else set()
                )
                for fact in x:
                    if x[fact] != y.get(fact) and (strided or fact != "strides"):
                        raise Difference(
                            f"{name}[{i}] has {fact} {y.get(fact)}, expected {x[fact]}"
                        )
        if expected.aliases != got.aliases:
            raise Difference(f"results are of storages {got.aliases}, expected {expected.aliases}")

    def _compare(
        self, name: str, i: int, a: Any, b: Any, finer: Callable[[], list[Observed]]
    ) -> None:
        """Raise Difference unless ``b`` is right, where the CPU's result is ``a``."""
        where = f"{name}[{i}]"
        if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
            if type(a) is not type(b) or not (a == b or (a != a and b != b)):
                raise Difference(f"{where} {b!r}, expected {a!r}")
            return
        if a.numel() == 0:
            return
        promise = self._promise(a.dtype)
        bad = wrong_beside(a, b, promise)
        if bad.any() and a.dtype in FLOATING and not promise.exact and finer():
            whole, *noisy = (getattr(each, name) for each in finer())
            if len(whole) > i and whole[i].shape == a.shape:
                beside = Finer(whole[i], [each[i] for each in noisy])
                bad &= wrong_beside_finer(a, b, promise, beside)
        if bad.any():
            raise difference(where, bad, a, b, self._operands(a.shape))

    def _promise(self, dtype: torch.dtype) -> Promise:
        op = self._operator
        gradients = self._mode in ("g", "G")
        steps = op.slack * (4 if gradients else 1)
        # Results of 16 bits are computed in float32 and rounded at their end.
        steps = min(steps, MAX_STEPS.get(dtype, steps))
        # A wider ``out`` has no more digits than what is put in.
        eps = 0.0
        if (self._mode == "o" and self._out_style == "dtype") or "dtype" in self._named:
            eps = self._format().epsilon
        if dtype in (torch.float64, torch.complex128) and op.doubles:
            eps = max(eps, op.doubles / steps)
        return Promise(steps, op.around, op.exact and not gradients, eps)

    def _operands(self, shape: torch.Size) -> list[torch.Tensor]:
        """Return the tensors among the arguments, at the places of a result's elements."""
        found = []
        for view in self._views():
            whole = elements(self._generator.storages[view.storage])
            tensor = whole.as_strided(view.size, view.stride, view.offset)
            try:
                found.append(tensor.broadcast_to(shape))
            except RuntimeError:
                return []  # not an operator of elements
        return found


class _Text(str):
    def __repr__(self) -> str:
        return str(self)


def _layout(leaf: Any) -> dict[str, Any]:
    if not isinstance(leaf, torch.Tensor):
        return {}
    # The stride of a dimension of one element, or of none at all, means nothing.
    pairs = zip(leaf.shape, leaf.stride(), strict=True)
    strides = [stride for size, stride in pairs if size > 1 and leaf.numel()]
    return {"dtype": leaf.dtype, "shape": tuple(leaf.shape), "strides": strides}


def _is_view(leaf: Any) -> bool:
    return isinstance(leaf, View)


def _alias(leaf: Any, storages: Sequence[torch.Tensor]) -> int | None:
    if not isinstance(leaf, torch.Tensor) or not leaf.numel():
        return None
    own = leaf.untyped_storage().data_ptr()
    return next((i for i, s in enumerate(storages) if s.untyped_storage().data_ptr() == own), None)


def _to_host(leaf: Any) -> Any:
    return leaf.detach().to("cpu") if isinstance(leaf, torch.Tensor) else leaf


def _kind(error: Exception) -> type:
    return RuntimeError if isinstance(error, RuntimeError) else type(error)


def _short(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"

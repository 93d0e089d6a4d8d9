"""Functions of JAX as functions of tensors, which PyTorch's transformations differentiate and map.

The gradient, the tangent and the mapped form of such a function are such functions again, made by JAX.
Transformations can therefore be nested.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import torch

from .dynamo import break_graph
from .trees import is_inexact, to_jax, to_torch


def torch_function(function: Callable) -> Callable:
    """Wrap a function of JAX as a function of tensors, through which PyTorch differentiates.

    JAX compiles it, and each derivative, once for all tensors of the same shapes. Derivatives of any order,
    ``torch.func`` and forward mode work. In a function that ``torch.compile`` compiles it breaks the graph.
    """
    flat: Callable[[Any], _Flat] = functools.cache(
        lambda inputs: _Flat(lambda *leaves: function(*jax.tree.unflatten(inputs, leaves)))
    )

    @functools.wraps(function)
    def call(*arguments: Any) -> Any:
        leaves, inputs = jax.tree.flatten(arguments)
        return flat(inputs)(*leaves)

    return break_graph(call)


class _Flat:
    """A function of JAX whose arguments are leaves; its results are a tree."""

    def __init__(self, function: Callable) -> None:
        self.function = function
        self.run = jax.jit(function)
        # One for each choice of arguments, so that JAX compiles each once.
        self.residuals = functools.cache(self._residuals)
        self.gradient = functools.cache(self._gradient)
        self.tangent = functools.cache(self._tangent)
        self.mapped = functools.cache(self._mapped)

    def __call__(self, *leaves: Any) -> Any:
        """Call it with tensors and other leaves; return the results as tensors."""
        wanted = tuple(n for n, leaf in enumerate(leaves) if _needs_gradient(leaf))
        differentiates = bool(wanted) and torch.is_grad_enabled()
        if not differentiates and not _is_transformed():
            return to_torch(self.run(*to_jax(leaves)))
        call = _Call(self, wanted if not _is_transformed() else ())
        results = _JaxFunction.apply(call, *leaves)  # type: ignore[no-untyped-call]
        return jax.tree.unflatten(call.outputs, results)

    def _residuals(self, wanted: tuple[int, ...]) -> Callable:
        """Return a function of the leaves, which returns the results and JAX's pullback to ``wanted``."""

        def run(*leaves: Any) -> tuple[Any, Callable]:
            function, chosen = self._of(wanted, leaves)
            return jax.vjp(function, *chosen)

        return jax.jit(run)

    def _gradient(self, wanted: tuple[int, ...], count: int) -> _Flat:
        """Return the gradients of ``wanted``, a function of ``count`` leaves and the results' gradients."""

        def run(*values: Any) -> list[Any]:
            function, chosen = self._of(wanted, values[:count])
            results, pull = jax.vjp(function, *chosen)
            return _pulled(pull, results, values[count:])

        return _Flat(run)

    def _tangent(self, wanted: tuple[int, ...], count: int) -> _Flat:
        """Return the results' tangents, a function of ``count`` leaves and the tangents of ``wanted``."""

        def run(*values: Any) -> list[Any]:
            function, chosen = self._of(wanted, values[:count])
            _, tangents = jax.jvp(function, tuple(chosen), tuple(values[count:]))
            return [t for t in jax.tree.leaves(tangents) if t.dtype != jax.dtypes.float0]

        return _Flat(run)

    def _mapped(self, dims: tuple[int | None, ...], size: int) -> _Flat:
        """Return the function for leaves with a further dimension, at ``dims``; the results have it first."""
        return _Flat(jax.vmap(self.function, in_axes=dims, axis_size=size))

    def _of(self, wanted: Sequence[int], leaves: Sequence[Any]) -> tuple[Callable, list[Any]]:
        """Return the function of the leaves ``wanted``, for the others' values, and these leaves."""

        def function(*chosen: Any) -> Any:
            given = dict(zip(wanted, chosen, strict=True))
            return self.function(*(given.get(n, leaf) for n, leaf in enumerate(leaves)))

        return function, [leaves[n] for n in wanted]


def _pulled(pull: Callable, results: Any, gradients: Sequence[Any]) -> list[Any]:
    """Return the gradients that a pullback gives for those of the inexact ``results``.

    PyTorch's gradient of a complex number is the conjugate of JAX's.
    """
    rest: Iterator[Any] = iter(gradients)

    def given(result: Any) -> Any:
        if jnp.issubdtype(result.dtype, jnp.inexact):
            return jnp.conj(next(rest))
        return np.zeros(result.shape, jax.dtypes.float0)

    return [jnp.conj(gradient) for gradient in pull(jax.tree.map(given, results))]


@functools.partial(jax.jit, static_argnums=(1, 2))
def _run_pullback(pull: Any, tree: Any, types: tuple[Any, ...], gradients: list[Any]) -> list[Any]:
    """Run ``_pulled`` for results of these types."""
    return _pulled(pull, jax.tree.unflatten(tree, types), gradients)


class _Call:
    """State of one call: its function, the leaves that need gradients, and the structure of its results."""

    def __init__(self, flat: _Flat, wanted: tuple[int, ...]) -> None:
        self.flat, self.wanted = flat, wanted
        self.pull: Any = None
        self.outputs: Any = None  # the results' tree
        self.types: tuple[Any, ...] = ()  # the results' shapes and types


class _JaxFunction(torch.autograd.Function):
    @staticmethod
    def forward(call: _Call, *leaves: Any) -> tuple[torch.Tensor, ...]:
        arrays = to_jax(leaves)
        if call.wanted:
            results, call.pull = call.flat.residuals(call.wanted)(*arrays)
        else:
            results = call.flat.run(*arrays)
        found, call.outputs = jax.tree.flatten(results)
        call.types = tuple(map(jax.typeof, found))
        return to_torch(tuple(found))

    @staticmethod
    def setup_context(context: Any, inputs: tuple[Any, ...], output: tuple[Any, ...]) -> None:
        context.call, *leaves = inputs
        # The leaves, with None in place of tensors, which PyTorch saves.
        context.others = [None if isinstance(leaf, torch.Tensor) else leaf for leaf in leaves]
        tensors = [leaf for leaf in leaves if isinstance(leaf, torch.Tensor)]
        context.places = [n for n, leaf in enumerate(leaves) if isinstance(leaf, torch.Tensor)]
        context.save_for_backward(*tensors)
        context.save_for_forward(*tensors)
        context.exact = [not is_inexact(result) for result in output]
        context.mark_non_differentiable(
            *(result for result, exact in zip(output, context.exact, strict=True) if exact)
        )

    @staticmethod
    def backward(context: Any, *gradients: torch.Tensor) -> tuple[Any, ...]:
        leaves = _leaves(context)  # raises if they were changed since
        given = [g for g, exact in zip(gradients, context.exact, strict=True) if not exact]
        call = context.call
        if call.pull is not None and not (torch.is_grad_enabled() or _is_transformed()):
            wanted = call.wanted
            pulled = _run_pullback(call.pull, call.outputs, call.types, to_jax(given))
            found = to_torch(pulled)
        else:
            # What is differentiated again must be a function of the inputs, not of the residuals.
            wanted = tuple(n for n, needed in enumerate(context.needs_input_grad[1:]) if needed)
            found = call.flat.gradient(wanted, len(leaves))(*leaves, *given)
        result = dict(zip(wanted, found, strict=True))
        return (None, *(result.get(n) for n in range(len(leaves))))

    @staticmethod
    def jvp(context: Any, _: None, *tangents: Any) -> tuple[Any, ...]:
        leaves = _leaves(context)
        wanted = tuple(
            n
            for n, (leaf, tangent) in enumerate(zip(leaves, tangents, strict=True))
            if tangent is not None and is_inexact(leaf)
        )
        given = [tangents[n] for n in wanted]
        found = iter(context.call.flat.tangent(wanted, len(leaves))(*leaves, *given))
        return tuple(None if exact else next(found) for exact in context.exact)

    @staticmethod
    def vmap(info: Any, dims: tuple[Any, ...], call: _Call, *leaves: Any) -> tuple[Any, Any]:
        results = call.flat.mapped(tuple(dims[1:]), info.batch_size)(*leaves)
        found, call.outputs = jax.tree.flatten(results)
        return tuple(found), (0,) * len(found)


def _leaves(context: Any) -> list[Any]:
    leaves = list(context.others)
    for place, tensor in zip(context.places, context.saved_tensors, strict=True):
        leaves[place] = tensor
    return leaves


def _needs_gradient(leaf: Any) -> bool:
    return isinstance(leaf, torch.Tensor) and leaf.requires_grad


def _is_transformed() -> bool:
    """Return True inside of a transformation of ``torch.func``, or of a level of forward mode."""
    return (
        torch._C._functorch.peek_interpreter_stack() is not None
        or torch.autograd.forward_ad._current_level >= 0
    )

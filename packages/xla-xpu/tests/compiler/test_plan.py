"""What the compiler decides about memory, on plans written by hand."""

import time

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu

from xla_xpu.compiler.memory import assign, merge_copies
from xla_xpu.compiler.plan import Buffer, Step, View, make_step, reshaped_strides
from xla_xpu.compiler.types import ELEMENTS, Type

F32 = ELEMENTS["f32"]


def view(kind="temporary", count=100):
    return View.whole(Buffer(kind, count * 4), Type(F32, (count,)))


def use(reads, writes, **more):
    step = make_step("work", {"in": reads}, {"out": writes})
    step.in_place = [v.buffer for v in more.get("in_place", [])]
    return step


def copy(out, source):
    return make_step("copy", {"in": source}, {"out": out})


@pytest.mark.parametrize(
    ("shape", "strides", "target", "expected"),
    [
        ((4, 6), (6, 1), (24,), (1,)),
        ((4, 6), (6, 1), (2, 2, 3, 2), (12, 6, 2, 1)),
        ((4, 6), (1, 4), (24,), None),
        ((4, 6), (1, 4), (2, 2, 6), (2, 1, 4)),
        ((4, 1, 6), (6, 99, 1), (8, 3), (3, 1)),
        ((5, 5), (0, 0), (25,), (0,)),
        ((3,), (-1,), (3, 1), (-1, 0)),
        ((0, 3), (3, 1), (0,), (1,)),
        ((1, 1), (7, 7), (), ()),
    ],
)
def test_reshapes_by_strides(shape, strides, target, expected):
    assert reshaped_strides(shape, strides, target) == expected


def test_what_lives_at_different_times_shares_memory():
    a, b, c = view(), view(), view()
    out = view("output")
    steps = [use([], [a]), use([a], [b]), use([b], [c]), use([c], [out])]
    total = assign([v.buffer for v in (a, b, c, out)], steps)
    assert a.buffer.place == c.buffer.place != b.buffer.place
    assert total < 3 * a.buffer.bytes


def test_a_loop_keeps_what_comes_from_outside():
    outside, inside, out = view(), view(), view("output")
    loop = Step("loop", {}, bodies=[[use([outside], [inside]), use([inside], [out])]])
    later = view()
    steps = [use([], [outside]), loop, use([], [later]), use([later], [out])]
    assign([v.buffer for v in (outside, inside, later, out)], steps)
    assert outside.buffer.place != inside.buffer.place


def test_a_result_is_made_where_it_belongs():
    temporary, out = view(), view("output")
    steps = [use([], [temporary]), copy(out, temporary)]
    merge_copies(steps)
    assert [step.name for step in steps] == ["work"]
    assert temporary.buffer.root is out.buffer


def test_a_long_chain_of_copies_takes_no_longer_for_each():
    value = view()
    steps = [use([], [value])]
    for number in range(3000):
        following = view("output" if number == 2999 else "temporary")
        steps += [copy(following, value), use([following], [following])]
        value = following
    started = time.perf_counter()
    merge_copies(steps)
    assert time.perf_counter() - started < 5
    assert [step.name for step in steps] == ["work"] * 3001
    assert {step.writes[0].root for step in steps} == {value.buffer}


def test_a_state_is_changed_in_place_only_where_nobody_wants_the_old_one():
    def body_of(*middle, in_place):
        state, new = view(), view()
        body = [use([state], [new], in_place=[state] if in_place else [])]
        body += [use([state], [view()]) for _ in middle]
        body.append(copy(state, new))
        steps = [use([], [state]), Step("loop", {}, bodies=[body]), use([state], [view("output")])]
        merge_copies(steps)
        return [step.name for step in body]

    assert body_of(in_place=True) == ["work"]
    assert body_of(in_place=False) == ["work", "copy"]
    assert body_of("read again", in_place=True) == ["work", "work", "copy"]


def test_what_is_updated_is_copied_only_while_it_is_wanted():
    def updates(read_later):
        first, second, out = view(), view(), view("output")
        update = use([second], [second])
        last = use([second, *([first] if read_later else [])], [out])
        steps = [use([], [first]), copy(second, first), update, last]
        merge_copies(steps)
        return [step.name for step in steps].count("copy")

    assert updates(read_later=False) == 0
    assert updates(read_later=True) == 1


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (2, 0, 1)])
def test_a_product_lies_as_it_is_read(order):
    """A transposed product is computed transposed, if that is a product too, as in gradients."""
    compare_with_cpu(lambda a, b: jnp.einsum("bij,bjk->bik", a, b).transpose(order) + 1, A, B)
    compare_with_cpu(lambda a, b: jnp.einsum("bij,bjk->bik", a, b).transpose(order), A, B)


A, B = (
    np.arange(n * 12, dtype=np.float32).reshape(2, *shape) / 99
    for n, shape in ((5, (5, 6)), (7, (6, 7)))
)


def test_gradients_of_products_are_not_copied():
    import xpu_runtime as xr

    gradient = jax.jit(jax.grad(lambda w, x: (x @ w).sum()))
    w, x = jax.device_put((np.ones((48, 32), np.float32), np.ones((8, 48), np.float32)))
    jax.block_until_ready(gradient(w, x))
    xr.trace.start()
    jax.block_until_ready(gradient(w, x))
    kinds = [record.kind.name for record in xr.trace.stop()]
    assert "copy" not in kinds

"""Every collective, by element type and reduction, waited for at once and later, against arithmetic."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor
from two_ranks import DEVICE, start

RANKS = 2
FLOATS = [torch.float32, torch.float64, torch.float16, torch.bfloat16]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64]
COMPLEX = [torch.complex64]
MINIFLOATS = [torch.float8_e4m3fn, torch.float8_e5m2]
MOVED = FLOATS + INTEGERS + COMPLEX + MINIFLOATS + [torch.bool, torch.uint16]
OPS = dist.ReduceOp
BITWISE = {OPS.BAND: torch.bitwise_and, OPS.BOR: torch.bitwise_or, OPS.BXOR: torch.bitwise_xor}
SHAPES = [(), (7,), (3, 5), (1000,)]

count = 0


def values(of: int, shape: tuple[int, ...], dtype: torch.dtype, seed: int = 0) -> Tensor:
    """Return what a rank contributes: small integers, so that sums of any type are exact."""
    generator = torch.Generator().manual_seed(100 * seed + of)
    made = torch.randint(0, 4, shape, generator=generator)
    return made.to(torch.float32).to(dtype) if dtype in MINIFLOATS else made.to(dtype)


def expect(got: Tensor, wanted: Tensor, what: str) -> None:
    global count
    count += 1
    got = got.cpu()
    same = got.dtype == wanted.dtype and got.shape == wanted.shape
    if same and got.dtype in MINIFLOATS:
        got, wanted = got.view(torch.uint8), wanted.view(torch.uint8)
    if not same or not torch.equal(got, wanted):
        raise AssertionError(f"{what}: got {got}, wanted {wanted}")


def raises(call: Callable[[], object], text: str) -> None:
    global count
    count += 1
    try:
        call()
    except Exception as error:  # noqa: BLE001 - the text tells whether it is the right one
        assert text in str(error), f"expected {text!r} in: {error}"
        return
    raise AssertionError(f"nothing was raised; expected {text!r}")


def reduced(op: object, parts: list[Tensor]) -> Tensor:
    """Return the reduction by PyTorch's arithmetic on the host, in a wide type."""
    dtype = parts[0].dtype
    if op in BITWISE:
        return BITWISE[op](*parts)
    wide = (
        torch.complex128
        if dtype.is_complex
        else torch.float64
        if dtype.is_floating_point
        else torch.int64
    )
    a, b = (part.to(wide) for part in parts)
    if dtype == torch.bool:
        return parts[0] | parts[1] if op in (OPS.SUM, OPS.MAX) else parts[0] & parts[1]
    if op == OPS.SUM:
        result = a + b
    elif op == OPS.AVG:
        result = (a + b) / RANKS if wide.is_floating_point or wide.is_complex else (a + b) // RANKS
    elif op == OPS.PRODUCT:
        result = a * b
    else:
        result = torch.minimum(a, b) if op == OPS.MIN else torch.maximum(a, b)
    return result.to(dtype)


def reductions() -> Iterator[tuple[torch.dtype, object]]:
    for dtype in FLOATS + INTEGERS + COMPLEX + [torch.bool, torch.uint16]:
        ops = [OPS.SUM, OPS.AVG]
        if not dtype.is_complex:
            ops += [OPS.PRODUCT, OPS.MIN, OPS.MAX]
        if not dtype.is_complex and not dtype.is_floating_point:
            ops += list(BITWISE)
        if dtype == torch.bool:
            ops.remove(OPS.AVG)
        for op in ops:
            if dtype == torch.uint16 and op in (OPS.PRODUCT, OPS.AVG):
                continue  # the host's own arithmetic lacks them
            yield dtype, op


def finished(work: object, is_async: bool) -> None:
    if is_async:
        assert work is not None
        work.wait()
    else:
        assert work is None


def check_reductions(rank: int) -> None:
    for dtype, op in reductions():
        for shape in SHAPES:
            for is_async in (False, True):
                what = f"{dtype} {op} {shape} async={is_async}"
                parts = [values(of, shape, dtype) for of in range(RANKS)]
                wanted = reduced(op, parts)
                x = parts[rank].to(DEVICE)
                finished(dist.all_reduce(x, op, async_op=is_async), is_async)
                expect(x, wanted, f"all_reduce {what}")
            x = parts[rank].to(DEVICE)
            dist.reduce(x, 1, op)
            expect(x, wanted if rank == 1 else parts[0], f"reduce {what}")
        whole = [values(of, (8, 3), dtype, seed=1) for of in range(RANKS)]
        wanted = reduced(op, whole).chunk(RANKS)[rank]
        for is_async in (False, True):
            out = torch.zeros(4, 3, dtype=dtype, device=DEVICE)
            finished(
                dist.reduce_scatter_tensor(out, whole[rank].to(DEVICE), op, async_op=is_async),
                is_async,
            )
            expect(out, wanted, f"reduce_scatter_tensor {dtype} {op}")
        out = torch.zeros(4, 3, dtype=dtype, device=DEVICE)
        dist.reduce_scatter(out, list(whole[rank].to(DEVICE).chunk(RANKS)), op)
        expect(out, wanted, f"reduce_scatter {dtype} {op}")


def check_premultiplied(rank: int) -> None:
    for dtype in FLOATS + COMPLEX:
        parts = [values(of, (6,), dtype) for of in range(RANKS)]
        for factor in (0.5, torch.tensor(0.5, device=DEVICE)):
            x = parts[rank].to(DEVICE)
            dist.all_reduce(x, torch.distributed._make_nccl_premul_sum(factor))
            expect(x, parts[0] * 0.5 + parts[1] * 0.5, f"premul {dtype}")


def check_strides(rank: int) -> None:
    parts = [values(of, (6, 4), torch.float32) for of in range(RANKS)]
    for view in (lambda t: t.t(), lambda t: t[::2], lambda t: t[:, 1:3]):
        x = parts[rank].to(DEVICE)
        dist.all_reduce(view(x))
        wanted = parts[rank].clone()
        view(wanted).copy_(view(parts[0]) + view(parts[1]))
        expect(x, wanted, "all_reduce of a view")
        dist.broadcast(view(x), 1)
        view(wanted).copy_(view(wanted))
        expect(x, wanted, "broadcast of a view")


def check_moves(rank: int, is_async: bool) -> None:
    for dtype in MOVED:
        for shape in SHAPES:
            what = f"{dtype} {shape}"
            parts = [values(of, shape, dtype) for of in range(RANKS)]
            mine = parts[rank].to(DEVICE)

            x = mine.clone()
            finished(dist.broadcast(x, 1, async_op=is_async), is_async)
            expect(x, parts[1], f"broadcast {what}")

            outs = [torch.zeros_like(mine) for _ in range(RANKS)]
            finished(dist.all_gather(outs, mine, async_op=is_async), is_async)
            for of in range(RANKS):
                expect(outs[of], parts[of], f"all_gather {what}")

            outs = [torch.zeros_like(mine) for _ in range(RANKS)] if rank == 1 else None
            finished(dist.gather(mine, outs, 1, async_op=is_async), is_async)
            for of in range(RANKS if rank == 1 else 0):
                expect(outs[of], parts[of], f"gather {what}")

            x = torch.zeros_like(mine)
            source = [part.to(DEVICE) for part in parts] if rank == 0 else None
            finished(dist.scatter(x, source, 0, async_op=is_async), is_async)
            expect(x, parts[rank], f"scatter {what}")

            x = torch.zeros_like(mine)
            if is_async:
                works = [dist.isend(mine, 1 - rank), dist.irecv(x, 1 - rank)]
                for work in works:
                    work.wait()
            elif rank == 0:
                dist.send(mine, 1)
                dist.recv(x, 1)
            else:
                dist.recv(x, 0)
                dist.send(mine, 0)
            expect(x, parts[1 - rank], f"send and recv {what}")

        parts = [values(of, (6, 2), dtype) for of in range(RANKS)]
        mine = parts[rank].to(DEVICE)
        out = torch.zeros(12, 2, dtype=dtype, device=DEVICE)
        finished(dist.all_gather_into_tensor(out, mine, async_op=is_async), is_async)
        expect(
            out,
            torch.cat([p.view(torch.uint8) for p in parts]).view(dtype),
            f"all_gather_into_tensor {dtype}",
        )

        out = torch.zeros_like(mine)
        finished(dist.all_to_all_single(out, mine, async_op=is_async), is_async)
        wanted = torch.cat([p.view(torch.uint8).chunk(RANKS)[rank] for p in parts]).view(dtype)
        expect(out, wanted, f"all_to_all_single {dtype}")

        # Rank 0 sends 1 and 5 rows, rank 1 sends 6 and none.
        splits = [[1, 5], [6, 0]]
        to = [splits[of][rank] for of in range(RANKS)]
        out = torch.zeros(sum(to), 2, dtype=dtype, device=DEVICE)
        finished(dist.all_to_all_single(out, mine, to, splits[rank], async_op=is_async), is_async)
        wanted = torch.cat(
            [p.view(torch.uint8).split(splits[of])[rank] for of, p in enumerate(parts)]
        ).view(dtype)
        expect(out, wanted, f"uneven all_to_all_single {dtype}")

        outs = [torch.zeros(size, 2, dtype=dtype, device=DEVICE) for size in to]
        ins = [part.contiguous() for part in mine.view(torch.uint8).split(splits[rank])]
        finished(
            dist.all_to_all(outs, [part.view(dtype) for part in ins], async_op=is_async), is_async
        )
        for of in range(RANKS):
            wanted = parts[of].view(torch.uint8).split(splits[of])[rank].view(dtype)
            expect(outs[of], wanted, f"all_to_all {dtype}")


def check_coalesced(rank: int) -> None:
    from torch.distributed.distributed_c10d import _coalescing_manager

    parts = [
        [values(of, (n,), torch.float32, seed=n) for n in (3, 8, 0, 500)] for of in range(RANKS)
    ]
    for is_async in (False, True):
        mine = [part.to(DEVICE) for part in parts[rank]]
        with _coalescing_manager(device=DEVICE, async_ops=is_async) as together:
            for x in mine:
                dist.all_reduce(x)
        if is_async:
            together.wait()
        for i, x in enumerate(mine):
            expect(x, parts[0][i] + parts[1][i], "coalesced all_reduce")

        mine = [part.to(DEVICE) for part in parts[rank]]
        outs = [torch.zeros(2 * x.numel(), device=DEVICE) for x in mine]
        with _coalescing_manager(device=DEVICE, async_ops=is_async) as together:
            for out, x in zip(outs, mine, strict=True):
                dist.all_gather_into_tensor(out, x)
        if is_async:
            together.wait()
        for i, out in enumerate(outs):
            expect(out, torch.cat([parts[0][i], parts[1][i]]), "coalesced all_gather_into_tensor")

        whole = [values(of, (8,), torch.float32, seed=3) for of in range(RANKS)]
        outs = [torch.zeros(4, device=DEVICE) for _ in range(2)]
        with _coalescing_manager(device=DEVICE, async_ops=is_async) as together:
            for out in outs:
                dist.reduce_scatter_tensor(out, whole[rank].to(DEVICE))
        if is_async:
            together.wait()
        for out in outs:
            expect(out, (whole[0] + whole[1]).chunk(RANKS)[rank], "coalesced reduce_scatter_tensor")

    out = [torch.zeros(5, device=DEVICE) for _ in range(2)]
    ops = [
        dist.P2POp(dist.isend, torch.full((5,), 10.0 * rank + i, device=DEVICE), 1 - rank)
        for i in range(2)
    ]
    ops += [dist.P2POp(dist.irecv, out[i], 1 - rank) for i in range(2)]
    for work in dist.batch_isend_irecv(ops):
        work.wait()
    for i in range(2):
        expect(out[i], torch.full((5,), 10.0 * (1 - rank) + i), "batch_isend_irecv")


def check_unequal_sizes(rank: int) -> None:
    for sizes in ((4, 9), (0, 3), (5, 0)):
        for dtype in (torch.float32, torch.bool, torch.float8_e5m2):
            parts = [values(of, (sizes[of], 2), dtype) for of in range(RANKS)]
            outs = [torch.zeros(size, 2, device=DEVICE).to(dtype) for size in sizes]
            dist.all_gather(outs, parts[rank].to(DEVICE))
            for of in range(RANKS):
                expect(outs[of], parts[of], f"all_gather of sizes {sizes}, {dtype}")
    raises(
        lambda: dist.all_gather(
            [torch.zeros(2, device=DEVICE)] * RANKS, torch.zeros(3, device=DEVICE)
        ),
        "got tensors of 2 and 3 elements",
    )


def check_transfers_to_itself(rank: int) -> None:
    """Check sends of a rank to itself, posted before and after their receives, beside those to the other."""
    out = torch.zeros(5, 3, device=DEVICE)
    sends = [
        dist.P2POp(dist.isend, torch.full((3,), 10.0 * rank + i, device=DEVICE), to, tag=tag)
        for i, (to, tag) in enumerate([(rank, 0), (rank, 0), (rank, 7), (1 - rank, 0)])
    ]
    receives = [
        dist.P2POp(dist.irecv, out[i], source, tag=tag)
        for i, (source, tag) in enumerate([(rank, 7), (rank, 0), (1 - rank, 0), (rank, 0)])
    ]
    for ops in (sends + receives, receives + sends):
        out.zero_()
        for work in dist.batch_isend_irecv(ops):
            work.wait()
        wanted = [10.0 * rank + 2, 10.0 * rank, 10.0 * (1 - rank) + 3, 10.0 * rank + 1, 0.0]
        expect(out, torch.tensor(wanted)[:, None].expand(5, 3), "a transfer to this rank")


def check_future_after_wait(rank: int) -> None:
    """Check that a future has its value when the stream waits, before the other rank has come."""
    if rank == 1:
        time.sleep(0.5)
    x = torch.full((4,), rank + 1.0, device=DEVICE)
    work = dist.all_reduce(x, async_op=True)
    future = work.get_future()
    work.wait()
    expect(future.value()[0] * 2, torch.full((4,), 6.0), "a future's value after wait()")


def check_rest(rank: int) -> None:
    # Objects, groups, barriers, futures, sources, empty tensors, refused types.
    objects: list[object] = [None] * RANKS
    dist.all_gather_object(objects, {"rank": rank})
    assert objects == [{"rank": 0}, {"rank": 1}]
    box = [f"from {rank}"]
    dist.broadcast_object_list(box, 1)
    assert box == ["from 1"]
    taken: list[object] = [None]
    dist.scatter_object_list(taken, ["a", "b"] if rank == 0 else None, 0)
    assert taken == ["ab"[rank]]
    dist.barrier()

    alone = [dist.new_group([of]) for of in range(RANKS)]
    both = dist.new_group([0, 1], timeout=timedelta(seconds=20))
    x = torch.ones(3, device=DEVICE)
    dist.all_reduce(x, group=alone[rank])
    expect(x, torch.ones(3), "all_reduce in a group of one")
    for group in (both, None, both):
        dist.all_reduce(x, group=group, async_op=True).wait()
    expect(x, torch.full((3,), 8.0), "all_reduce in two groups")
    dist.destroy_process_group(both)

    x = torch.full((4,), rank + 1.0, device=DEVICE)
    work = dist.all_reduce(x, async_op=True)
    future = work.get_future().then(lambda done: done.value()[0] * 2)
    expect(future.wait(), torch.full((4,), 6.0), "a future's callback")
    assert work.is_completed() and work.is_success()
    assert work.wait(timeout=timedelta(seconds=5))

    if rank == 0:
        dist.send(torch.arange(3.0, device=DEVICE), 1, tag=4)
    else:
        x = torch.zeros(3, device=DEVICE)
        source = dist.recv(x, tag=4)
        assert source == 0, source
        expect(x, torch.arange(3.0), "recv from any source")

    empty = torch.zeros(0, 3, device=DEVICE)
    dist.all_reduce(empty)
    dist.broadcast(empty, 0)
    dist.all_gather_into_tensor(torch.zeros(0, 3, device=DEVICE), empty)

    for dtype in MINIFLOATS:
        x = torch.zeros(4, device=DEVICE).to(dtype)
        name = "Float8_e4m3fn" if dtype == torch.float8_e4m3fn else "Float8_e5m2"
        raises(lambda: dist.all_reduce(x), f"all_reduce: tensors of {name}")  # noqa: B023
    raises(
        lambda: dist.all_reduce(torch.zeros(2, device=DEVICE), OPS.BAND),
        "bitwise operations need integers",
    )
    mixed = [torch.zeros(2, device=DEVICE), torch.zeros(2)]
    raises(
        lambda: dist.all_gather(mixed, torch.zeros(2, device=DEVICE)), "must be on one xpu device"
    )
    dist.barrier()


def check_pieces(rank: int) -> None:
    """Check tensors so large that the host sends them in pieces."""
    for dtype, op, count, step in [
        (torch.float32, OPS.AVG, (16 << 20) + 12345, 1),
        (torch.int16, OPS.SUM, (33 << 20) + 1, 1),
        (torch.complex64, OPS.SUM, (8 << 20) + 77, 1),
        (torch.bfloat16, OPS.MAX, 33 << 20, 2),
    ]:
        parts = [(torch.arange(step * count) % (11 + of)).to(dtype)[::step] for of in range(RANKS)]
        storage = torch.zeros(step * count, dtype=dtype, device=DEVICE)
        x = storage[::step].copy_(parts[rank])
        dist.all_reduce(x, op)
        expect(x, reduced(op, parts), f"all_reduce in pieces {dtype} {op} step {step}")
        assert step == 1 or not storage[1::step].any(), (
            "elements between those of the tensor changed"
        )


def main() -> None:
    rank = start(None if sys.argv[1] == "none" else sys.argv[1])
    check_reductions(rank)
    check_premultiplied(rank)
    check_strides(rank)
    for is_async in (False, True):
        check_moves(rank, is_async)
    check_coalesced(rank)
    if dist.get_debug_level() != dist.DebugLevel.DETAIL:  # its checker wants one size
        check_unequal_sizes(rank)
    check_transfers_to_itself(rank)
    check_future_after_wait(rank)
    check_rest(rank)
    check_pieces(rank)
    dist.destroy_process_group()
    print(f"{count} cases")


main()

"""More than 2**31 elements, where an index of 32 bits comes to an end."""

from __future__ import annotations

import gc

import pytest

torch = pytest.importorskip("torch")
jax = pytest.importorskip("jax")
jnp = jax.numpy

pytestmark = [pytest.mark.memory(16), pytest.mark.timeout(1800)]

N = 2**31 + 1024 * 11
TAIL = 2**31 + 5  # past what 32 bits with a sign can index


@pytest.fixture(autouse=True)
def room():
    """Free the memory of each test before the next."""
    yield
    gc.collect()
    torch.xpu.synchronize()
    torch.xpu.empty_cache()


@pytest.fixture
def marked():
    """Bytes: ones, but for three places."""
    x = torch.ones(N, dtype=torch.uint8, device="xpu")
    x[0], x[TAIL], x[-1] = 3, 7, 9
    return x


def test_torch_copies(marked):
    y = torch.empty_like(marked).copy_(marked)
    assert y[[0, 1, TAIL, TAIL + 1, -1]].tolist() == [3, 1, 7, 1, 9]
    del y
    host = marked.cpu()
    assert host[TAIL] == 7
    assert host[-1] == 9
    assert int(host.numpy().sum(dtype="int64")) == N + 2 + 6 + 8
    assert host.to("xpu")[TAIL].item() == 7


def test_torch_conversion(marked):
    halves = marked.to(torch.float16)
    assert halves[[0, TAIL, -1, -2]].tolist() == [3, 7, 9, 1]


def test_torch_transpose(marked):
    y = marked.view(1024, -1).t().contiguous()
    row, column = divmod(TAIL, N // 1024)
    assert y[column, row].item() == 7
    assert y[-1, -1].item() == 9
    assert y.flip(0)[0, -1].item() == 9


def test_torch_sums(marked):
    assert marked.sum(dtype=torch.int64).item() == N + 16
    assert marked.view(1024, -1).sum(0, dtype=torch.int64)[TAIL % (N // 1024)].item() == 1024 + 6
    assert marked.view(-1, 1024).sum(1, dtype=torch.int64)[TAIL // 1024].item() == 1024 + 6
    assert marked.max().item() == 9
    assert marked.argmax().item() == N - 1


def test_torch_cumsum(marked):
    y = marked.cumsum(0, dtype=torch.uint8)
    for place, before in ((TAIL - 1, 2), (TAIL, 2 + 6), (N - 1, 16)):
        assert y[place].item() == (place + 1 + before) % 256


def test_torch_index(marked):
    places = torch.tensor([0, TAIL, N - 1, 2**31 - 1, 2**31], device="xpu")
    assert marked[places].tolist() == [3, 7, 9, 1, 1]
    assert marked.gather(0, places).tolist() == [3, 7, 9, 1, 1]
    assert marked.index_select(0, places).tolist() == [3, 7, 9, 1, 1]
    marked[places] = torch.arange(5, dtype=torch.uint8, device="xpu")
    assert marked[places].tolist() == [0, 1, 2, 3, 4]
    assert torch.nonzero(marked == 2).flatten().tolist() == [N - 1]
    marked.index_add_(0, places, torch.full((5,), 10, dtype=torch.uint8, device="xpu"))
    assert marked[places].tolist() == [10, 11, 12, 13, 14]


def test_torch_compare(marked):
    y = marked.clone()
    assert torch.equal(marked, y)
    y[TAIL] = 8
    assert not torch.equal(marked, y)
    assert (marked != y).sum().item() == 1
    assert torch.where(marked > 1, marked, 0).sum(dtype=torch.int64).item() == 3 + 7 + 9


def test_torch_sort_of_slices(marked):
    tail = marked[TAIL - 1000 :]
    values, places = tail.sort(descending=True)
    assert values[:3].tolist() == [9, 7, 1]
    assert places[:2].tolist() == [tail.numel() - 1, 1000]
    rows = marked.view(-1, 1024)[TAIL // 1024 - 1 : TAIL // 1024 + 1].sort(1, descending=True)
    assert rows.values[1, :2].tolist() == [7, 1]
    assert rows.indices[1, 0].item() == TAIL % 1024


@pytest.fixture
def wide():
    """JAX with integers of 64 bits, and bytes as PyTorch's."""
    with jax.enable_x64(True):
        x = jnp.ones(N, jnp.uint8)
        yield x.at[jnp.array([0, TAIL, N - 1])].set(jnp.array([3, 7, 9], jnp.uint8))


def picked(x, places):
    return [int(x[place]) for place in places]


def test_jax_copies(wide):
    assert picked(jax.jit(jnp.copy)(wide), (0, 1, TAIL, TAIL + 1, N - 1)) == [3, 1, 7, 1, 9]
    y = jax.jit(lambda x: x.reshape(1024, -1).T)(wide)
    row, column = divmod(TAIL, N // 1024)
    assert int(y[column, row]) == 7
    assert int(jax.jit(lambda x: x[::-1])(wide)[0]) == 9


def test_jax_sums(wide):
    assert int(jax.jit(lambda x: x.astype(jnp.int64).sum())(wide)) == N + 16
    columns = jax.jit(lambda x: x.reshape(1024, -1).astype(jnp.int64).sum(0))(wide)
    assert int(columns[TAIL % (N // 1024)]) == 1024 + 6
    assert int(jax.jit(jnp.argmax)(wide)) == N - 1


def test_jax_cumsum(wide):
    y = jax.jit(lambda x: jnp.cumsum(x, dtype=jnp.uint8))(wide)
    assert picked(y, (TAIL - 1, TAIL, N - 1)) == [
        (TAIL + 2) % 256,
        (TAIL + 1 + 8) % 256,
        (N + 16) % 256,
    ]


def test_jax_index(wide):
    places = jnp.array([0, TAIL, N - 1, 2**31 - 1, 2**31])
    assert jax.jit(lambda x, i: x[i])(wide, places).tolist() == [3, 7, 9, 1, 1]
    added = jax.jit(lambda x, i: x.at[i].add(10), donate_argnums=0)(wide, places)
    assert added[places].tolist() == [13, 17, 19, 11, 11]


def test_jax_compare(wide):
    assert int(jax.jit(lambda x: (x != 1).sum())(wide)) == 3
    assert bool(jax.jit(lambda x: (x == x[::-1][::-1]).all())(wide))


def test_jax_sort_of_slices(wide):
    assert jax.jit(lambda x: jnp.sort(x[TAIL - 1000 :])[-3:])(wide).tolist() == [1, 7, 9]
    rows = jax.jit(lambda x: jnp.argsort(x.reshape(-1, 1024)[TAIL // 1024 - 1 :], axis=1))(wide)
    assert int(rows[1, -1]) == TAIL % 1024

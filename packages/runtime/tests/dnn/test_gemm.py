"""Products by oneDNN's older functions, which on CPUs are often quicker than its primitives."""

import numpy as np
import pytest
from dnn_reference import check, rounded
from xpu_testing import run_child

pytestmark = [
    pytest.mark.usefixtures("device"),
    pytest.mark.cpu_device,
    pytest.mark.onednn_matmul,
]

LAYOUTS = {"NN": (False, False), "NT": (False, True), "TN": (True, False), "TT": (True, True)}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8", "u8"])
@pytest.mark.parametrize(
    "shape", [(1, 9, 5), (130, 70, 65), (512, 520, 544), (3, 1, 40), (5, 700, 900)]
)
def test_the_older_function(xr, rng, layout, dtype, shape):
    """Products that oneDNN's older functions do faster than its primitives, rows apart from each other."""
    whole = dtype in ("i8", "u8")
    m, n, k = shape
    turned_a, turned_b = LAYOUTS[layout]

    def operand(rows, columns, kind, is_transposed):
        size = (columns, rows + 3) if is_transposed else (rows, columns + 3)
        if whole:
            values = rng.integers(*{"i8": (-128, 128), "u8": (0, 256)}[kind], size).astype(
                kind[0] + "1"
            )
        else:
            values = rounded(rng.standard_normal(size), kind)
        array = xr.from_numpy(values, kind)
        if is_transposed:
            array, values = array.transpose(), values.T
        return array.view((rows, columns), array.strides), values[:rows, :columns].astype(
            np.float64
        )

    a, exact_a = operand(m, k, dtype, turned_a)
    b, exact_b = operand(k, n, "i8" if dtype == "u8" else dtype, turned_b)
    check(xr.dnn.matmul(a, b).numpy(), exact_a @ exact_b, "f64" if whole else dtype)


def test_the_older_function_is_used_where_it_pays(xr):
    def how(shape_a, shape_b, **options):
        xr.dnn.matmul(xr.zeros(shape_a), xr.zeros(shape_b), **options)
        return xr.dnn.explain()[-1]

    assert how((64, 64), (64, 64)) == "onednn gemm: used"
    assert how((512, 512), (512, 512)) == "onednn gemm: used"
    assert how((2048, 2048), (2048, 16)) != "onednn gemm: used"
    assert how((64, 64), (64, 64), deterministic=True) != "onednn gemm: used"
    assert how((64, 64), (64, 64), post_ops=[xr.dnn.PostOp("relu")]) != "onednn gemm: used"


def test_no_memory_to_pack_in_is_an_error_of_the_next_wait():
    code = """
        import resource
        import numpy as np
        import xpu_runtime as xr

        a, c = xr.from_numpy(np.ones((2048, 2048), np.float32)), xr.zeros((2048, 2048))
        small = xr.from_numpy(np.ones((300, 300), np.float32))
        xr.dnn.matmul(small, small)  # threads keep the memory that they have once had
        xr.synchronize()
        mapped = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped, resource.RLIM_INFINITY))
        try:
            for _ in range(30):
                xr.dnn.matmul(a, a, c)
            xr.synchronize()
        except xr.OutOfMemory as e:
            print(e)
        resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        xr.dnn.matmul(a, a, c)
        xr.synchronize()
        print(c.numpy().min(), c.numpy().max())
        """
    # No thread has an arena of its own, whose reserved addresses would do.
    out = run_child(code, {"MALLOC_ARENA_MAX": "1"})
    assert out.check().out.splitlines() == [
        "onednn gemm: no memory to pack the matrices in",
        "2048.0 2048.0",
    ]

"""Which devices collectives are among that name axes of a mesh, as JAX's do from 0.12 on."""

import pytest
from jax._src.interpreters import mlir
from jaxlib.mlir import ir

from xla_xpu.compiler.spmd.meshes import Meshes

A2_B4 = '[#stablehlo.mesh_axis<name = "a", size = 2>, #stablehlo.mesh_axis<name = "b", size = 4>]'
# A way to write axes gone over; the groups, devices of each in the order of the axes.
GROUPS = {
    '"a"': [[0, 4], [1, 5], [2, 6], [3, 7]],
    '"b"': [[0, 1, 2, 3], [4, 5, 6, 7]],
    '"a", "b"': [[0, 1, 2, 3, 4, 5, 6, 7]],
    '"b", "a"': [[0, 4, 1, 5, 2, 6, 3, 7]],
    '"b":(1)2': [[0, 2], [1, 3], [4, 6], [5, 7]],
    '"b":(2)2': [[0, 1], [2, 3], [4, 5], [6, 7]],
    '"b":(2)2, "a"': [[0, 4, 1, 5], [2, 6, 3, 7]],
}


def axis(written: str) -> str:
    name, _, part = written.partition(":")
    part = part and f", sub_axis_info = {part}"
    return f"#stablehlo.axis_ref<name = {name}{part}>"


def groups(mesh: str, written: str) -> list[list[int]]:
    with mlir.make_ir_context():
        module = ir.Module.parse('sdy.mesh @m = <["a"=2, "b"=4]>')
        axes = ", ".join(map(axis, written.split(", ")))
        over = f"#stablehlo.replica_group_mesh_axes<mesh = {mesh}, axes = [{axes}]>"
        return sorted(Meshes(module, 8).groups(ir.Attribute.parse(over)))


@pytest.mark.parametrize("written", GROUPS)
@pytest.mark.parametrize("mesh", ["@m", f"#stablehlo.mesh<axes = {A2_B4}>"])
def test_groups(written, mesh):
    assert groups(mesh, written) == GROUPS[written]


def test_devices_in_another_order():
    ids = "dense<[7, 6, 5, 4, 3, 2, 1, 0]> : tensor<8xi64>"
    mesh = f"#stablehlo.mesh<axes = {A2_B4}, device_ids = {ids}>"
    assert groups(mesh, '"b"') == [[3, 2, 1, 0], [7, 6, 5, 4]]

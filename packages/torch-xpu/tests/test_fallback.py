"""Operators without a kernel: forbidden, or run on the host, counted and named."""

import pytest
import torch
from xpu_testing import assert_close, run_child

import torch_xpu

MATRIX = torch.tensor([[4.0, 1.0], [1.0, 3.0]])


def test_error_names_the_operator():
    with pytest.raises(NotImplementedError, match="aten::_linalg_eigh"):
        torch.linalg.eigvalsh(MATRIX.to("xpu"))


@pytest.mark.values
def test_counted_and_right():
    torch_xpu.reset_fallbacks()
    with torch_xpu.using_fallback("allow"):
        got = torch.linalg.eigvalsh(MATRIX.to("xpu"))
    assert got.device.type == "xpu"
    assert_close(got.cpu().numpy(), torch.linalg.eigvalsh(MATRIX).numpy())
    assert sum(torch_xpu.fallbacks().values()) >= 1
    assert any("eigh" in name for name in torch_xpu.fallbacks())


@pytest.mark.values
def test_warning_comes_once():
    with torch_xpu.using_fallback("warn"):
        torch_xpu.reset_fallbacks()
        with pytest.warns(UserWarning, match="has no xpu kernel and runs on the host"):
            torch.linalg.eigvalsh(MATRIX.to("xpu"))
        torch.linalg.eigvalsh(MATRIX.to("xpu"))


def test_unknown_mode():
    with pytest.raises(ValueError, match="expected error, warn or allow"):
        with torch_xpu.using_fallback("sometimes"):
            pass


@pytest.mark.cpu_device  # which counts as two
def test_operands_on_several_devices_are_refused():
    run_child(
        """
        import pytest, torch, torch_xpu

        q, tau = torch.eye(3, device="xpu"), torch.ones(3, device="xpu")
        with torch_xpu.using_fallback("allow"):
            torch.ormqr(q, tau, q)
            before = torch_xpu.fallbacks()
            for device in ("cpu", "xpu:1"):
                with pytest.raises(RuntimeError, match=f"same device.*xpu:0 and {device}.*input2"):
                    torch.ormqr(q, tau.to(device), q)
        assert torch_xpu.fallbacks() == before
        """,
        env={"XPU_CPU_DEVICES": "2"},
    ).check()


@pytest.mark.values
def test_operators_that_write_unseen():
    library = torch.library.Library("xpu_fallback_test", "DEF")

    def ones(tensors):
        for t in tensors:
            t.fill_(1)

    for schema in (
        "silent(Tensor[] tensors) -> ()",
        "honest(Tensor(a!)[] tensors) -> ()",
        "nested(Tensor x, Dict(str, Tensor) more) -> Tensor",
        "described(Tensor x, float? y, str z) -> Tensor[]",
    ):
        library.define(schema)
    library.impl("silent", ones, "CPU")
    library.impl("honest", ones, "CPU")
    library.impl("nested", lambda x, more: x, "CPU")
    library.impl("described", lambda x, y, z: [x + y, x], "CPU")
    ops = torch.ops.xpu_fallback_test
    x = torch.zeros(3, device="xpu")
    with torch_xpu.using_fallback("allow"):
        with pytest.raises(NotImplementedError, match=r"silent.*neither gives nor writes"):
            ops.silent([x])
        with pytest.raises(NotImplementedError, match=r"nested.*takes or gives"):
            ops.nested(x, {"more": x})
        ops.honest([x])
        assert x.tolist() == [1] * 3
        more, _ = ops.described(x, 2.0, "text")
        assert more.tolist() == [3] * 3

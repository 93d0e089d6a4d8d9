"""Operators without a kernel: forbidden, or run on the host, counted and named."""

import pytest
import torch
from xpu_testing import assert_close

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

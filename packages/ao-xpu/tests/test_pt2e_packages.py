"""Packages of AOTInductor hold models that PT2E quantized."""

import warnings

import pt2e_flow as flow
import pytest
import torch
from torch import nn


class Case:
    """Two linear layers with an activation between them."""

    def model(self, device="cpu"):
        """Return the model."""
        torch.manual_seed(0)
        layers = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 32))
        return layers.to(device)

    def inputs(self, device="cpu"):
        """Return an input and those for calibration."""
        torch.manual_seed(1)
        return [torch.randn(16, 64).to(device) for _ in range(4)]


@pytest.mark.values
@pytest.mark.onednn
@pytest.mark.parametrize(
    "quantizer", [flow.xpu(), flow.x86(reduce_range=True)], ids=["int8", "reduced uint8"]
)
def test_a_package_gives_what_the_compiled_model_gives(tmp_path, quantizer):
    converted, x = flow.quantize(Case(), quantizer, "xpu")
    x = 3 * x  # beyond the calibrated range
    expected, calls, _ = flow.compiled(converted, x)
    assert [name for name, _ in calls] == ["qlinear_pointwise"] * 2
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch.export
        package = torch._inductor.aoti_compile_and_package(
            torch.export.export(converted, (x,)),
            package_path=str(tmp_path / "model.pt2"),
            inductor_configs=flow.FROZEN,
        )
        got = torch._inductor.aoti_load_package(package)(x)
    torch.testing.assert_close(got, expected)

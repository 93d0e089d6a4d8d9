"""Automatic mixed precision: autocast, functions of the user's in it, scaled gradients."""

import pytest
import torch
from xpu_testing import assert_close


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_products_are_low_and_sums_high(dtype):
    a = torch.ones(8, 8, device="xpu")
    with torch.autocast("xpu", dtype=dtype):
        product = a @ a
        assert product.dtype == dtype
        assert torch.softmax(product, 1).dtype == torch.float32
        with torch.autocast("xpu", enabled=False):
            assert (a @ a).dtype == torch.float32
    assert_close(product.float().cpu().numpy(), torch.full((8, 8), 8.0).numpy())


@pytest.mark.values
@pytest.mark.parametrize("module", ["encoder", "attention"])
def test_fused_paths_of_transformers(module):
    """In inference PyTorch takes them under autocast, too; results have the types of the other path."""
    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(16, 2, 32, dropout=0, batch_first=True).eval()
    mask = torch.zeros(2, 5, dtype=torch.bool)
    mask[1, 3:] = True

    def run(layer, x, mask):
        if module == "encoder":
            return layer(x, src_key_padding_mask=mask)
        return layer.self_attn(x, x, x, key_padding_mask=mask)[0]

    x = torch.randn(2, 5, 16)
    with torch.no_grad():
        expected = run(layer, x, mask)
    layer, x, mask = layer.to("xpu"), x.to("xpu"), mask.to("xpu")
    with torch.autocast("xpu", dtype=torch.bfloat16):
        other = run(layer, x, mask)  # with gradients
        with torch.no_grad():
            fused = run(layer, x, mask)
    assert fused.dtype == other.dtype
    for got in (fused, other):
        torch.testing.assert_close(
            got.cpu().float()[~mask.cpu()], expected[~mask.cpu()], rtol=5e-2, atol=5e-2
        )


def test_the_default_is_half():
    a = torch.ones(4, 4, device="xpu")
    with torch.autocast("xpu"):
        assert (a @ a).dtype == torch.float16
    assert not torch.is_autocast_enabled("xpu")


def test_other_dtypes_switch_it_off():
    a = torch.ones(4, 4, device="xpu")
    with pytest.warns(UserWarning, match="In XPU autocast"):
        context = torch.autocast("xpu", dtype=torch.float64)
    with context:
        assert (a @ a).dtype == torch.float32


def test_gradients_have_the_parameters_dtype():
    net = torch.nn.Linear(8, 4).to("xpu")
    with torch.autocast("xpu", dtype=torch.bfloat16):
        loss = net(torch.ones(2, 8, device="xpu")).sum()
    loss.backward()
    assert net.weight.grad.dtype == torch.float32
    assert_close(net.weight.grad.cpu().numpy(), torch.full((4, 8), 2.0).numpy())


def test_functions_of_the_user():
    class Double(torch.autograd.Function):
        @staticmethod
        @torch.amp.custom_fwd(device_type="xpu", cast_inputs=torch.float32)
        def forward(ctx, x):
            assert not torch.is_autocast_enabled("xpu")
            return 2 * x

        @staticmethod
        @torch.amp.custom_bwd(device_type="xpu")
        def backward(ctx, grad):
            return 2 * grad

    x = torch.ones(3, device="xpu", dtype=torch.bfloat16, requires_grad=True)
    with torch.autocast("xpu", dtype=torch.bfloat16):
        y = Double.apply(x)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert_close(x.grad.float().cpu().numpy(), torch.full((3,), 2.0).numpy())


@pytest.mark.values
@pytest.mark.parametrize("fused", [False, True])
def test_scaled_steps_skip_infinities(fused):
    net = torch.nn.Linear(8, 4).to("xpu")
    optimizer = torch.optim.AdamW(net.parameters(), fused=fused)
    scaler = torch.amp.GradScaler("xpu", init_scale=1024.0, growth_interval=1)
    x, scales, weights = torch.ones(2, 8, device="xpu"), [], []
    for factor in (1.0, float("inf"), 1.0):
        optimizer.zero_grad()
        with torch.autocast("xpu"):
            loss = net(x).float().sum() * factor
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
        weights.append(net.weight.detach().cpu())
    assert scales == [2048, 1024, 2048]
    assert torch.equal(weights[0], weights[1])
    assert not torch.equal(weights[1], weights[2])
    again = torch.amp.GradScaler("xpu")
    again.load_state_dict(scaler.state_dict())
    assert again.get_scale() == 2048

"""Random numbers of compiled code in Inductor's own order (test_eager_random.py has those of eager mode)."""

import pytest
import torch
import torch.nn.functional as F

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def test_random_numbers():
    def function(x):
        return torch.rand_like(x), torch.randn_like(x), torch.randint(0, 9, (99,), device=x.device)

    x = torch.ones(20000, device="xpu")
    compiled = torch.compile(function)
    uniform, normal, whole = compiled(x)
    assert abs(uniform.mean().item() - 0.5) < 0.02
    assert 0 <= uniform.min().item() <= uniform.max().item() < 1
    assert abs(normal.mean().item()) < 0.04
    assert abs(normal.std().item() - 1) < 0.04
    assert 0 <= whole.min().item() <= whole.max().item() < 9
    assert not torch.equal(compiled(x)[0], uniform)


def test_dropout_repeats_with_its_seed():
    compiled = torch.compile(lambda x: F.dropout(x, 0.3))
    x = torch.ones(20000, device="xpu")
    first = compiled(x)
    assert abs((first == 0).float().mean().item() - 0.3) < 0.02
    torch.manual_seed(3)
    one = compiled(x)
    torch.manual_seed(3)
    assert torch.equal(compiled(x), one)
    assert not torch.equal(compiled(x), one)


def test_dropout_has_the_same_mask_in_the_backward_pass():
    x = torch.ones(1000, device="xpu", requires_grad=True)
    out = torch.compile(lambda x: F.dropout(x, 0.5) * 3)(x)
    out.sum().backward()
    torch.testing.assert_close(x.grad, out.detach())

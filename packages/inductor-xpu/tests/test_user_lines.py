"""TORCH_LOGS=output_code shows the user's lines beside the statements of kernels."""

import logging

import pytest
import torch
from torch._inductor.utils import run_and_get_code
from xpu_runtime.codegen.comments import without_comments

from inductor_xpu import loader

pytestmark = [
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


@pytest.fixture(autouse=True)
def _shown():
    torch._dynamo.reset()
    torch._logging.set_logs(output_code=True)
    logging.getLogger("torch._inductor.codecache.__output_code").propagate = False
    yield
    torch._logging.set_logs()
    torch._dynamo.reset()


def code_of(function, *inputs):
    torch._dynamo.reset()
    return run_and_get_code(torch.compile(function), *inputs)[1]


def commented(code, statement):
    """The comments of the lines that have the text."""
    lines = [line for line in code.splitlines() if statement in line]
    assert lines, statement
    return {line.partition("  //: ")[2] for line in lines}


def function(x, bias):
    y = (x + bias).sin()
    weights = torch.softmax(y, -1)
    return weights.cos()


def test_statements_have_the_lines_of_their_operators():
    (code,) = code_of(function, torch.randn(40, 200, device="xpu"), torch.randn(200, device="xpu"))
    first = function.__code__.co_firstlineno
    file = "test_user_lines.py"
    assert commented(code, "= sin(") == {f"{file}:{first + 1}: y = (x + bias).sin()"}
    softmax = f"{file}:{first + 2}: weights = torch.softmax(y, -1)"
    assert commented(code, "= exp(") == {softmax}
    assert commented(code, "float fold1_0;") == {softmax}
    assert commented(code, "= cos(") == {f"{file}:{first + 3}: return weights.cos()"}


def test_the_backward_pass_has_the_lines_of_the_forward_pass():
    def loss(x):
        y = x.sin()
        return y.exp().sum()

    def train(x):
        torch.compile(loss)(x).backward()

    x = torch.randn(100, device="xpu", requires_grad=True)
    torch._dynamo.reset()
    _, codes = run_and_get_code(train, x)
    (line,) = commented(codes[-1], "= cos(")
    assert line.endswith("y = x.sin()")


def test_modules_of_pytorch_have_the_line_of_their_call():
    norm = torch.nn.LayerNorm(64, device="xpu")

    def normalized(x):
        return norm(x) + 1

    with torch.no_grad():
        (code,) = code_of(normalized, torch.randn(8, 64, device="xpu"))
    (line,) = commented(code, "= x0[")
    assert line.endswith("return norm(x) + 1")


def test_what_is_built_has_no_comments(monkeypatch):
    built = []
    compile = loader.xr.compile
    monkeypatch.setattr(loader.xr, "compile", lambda s, **o: built.append(s) or compile(s, **o))
    # Sizes of no other test, whose build would be shared.
    inputs = torch.randn(43, 207, device="xpu"), torch.randn(207, device="xpu")
    (shown,) = code_of(function, *inputs)
    assert built
    assert not any("//:" in source for source in built)
    torch._logging.set_logs()
    (plain,) = code_of(function, *inputs)
    assert "//:" in shown
    assert "//:" not in plain

    def kernels(code):
        return code[code.index("load_kernel(") : code.index("async_compile.wait")]

    assert kernels(without_comments(shown)) == kernels(plain)


def test_equal_kernels_of_two_lines_are_one():
    def twice(x):
        y = x.sin() + 1
        z = y @ y
        return z, z.sin() + 1

    (code,) = code_of(twice, torch.randn(32, 32, device="xpu"))
    assert code.count("load_kernel(") == 1


def test_lines_with_quotes_and_backslashes():
    def quoted(x):
        return x.sin() + len("'''\\$0$") + len('"""')

    x = torch.randn(32, device="xpu")
    got, (code,) = run_and_get_code(torch.compile(quoted), x)
    torch.testing.assert_close(got, x.sin() + 10)
    assert "//:" in code

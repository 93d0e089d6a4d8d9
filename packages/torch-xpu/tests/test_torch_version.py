"""A PyTorch of another version than the adapter's: one warning, and PyTorch as without the adapter."""

import sys

from xpu_testing import run_child
from xpu_testing.other_version import pretend_version

ASIDE = """
    import warnings
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        import torch
    assert torch.__version__ == "2.14.1"
    about = [str(each.message) for each in seen if "xpu" in str(each.message)]
    print(about[0])
    assert len(about) == 1, about
    assert torch.nn.Linear(3, 2)(torch.ones(4, 3)).shape == (4, 2)
    assert not torch.xpu.is_available()
    import torch._inductor.compile_fx as compile_fx
    assert not hasattr(compile_fx.compile_fx, "__wrapped__")
    with open("/proc/self/maps") as maps:
        loaded = maps.read()
    assert "torch_xpu" not in loaded and "xpu_runtime" not in loaded
"""


def test_the_adapters_stand_aside_with_one_warning(tmp_path):
    done = run_child(ASIDE, env=pretend_version(tmp_path, "torch.version", "2.14.1")).check()
    assert done.out.startswith("torch-xpu ")
    assert "is for torch==2.13.0, and this is torch 2.14.1" in done.out
    assert f'{sys.executable} -m pip install "torch==2.13.0"' in done.out


def test_what_the_package_offers_says_why_it_cannot(tmp_path):
    code = """
    import torch_xpu
    try:
        torch_xpu.fallbacks()
    except ImportError as error:
        print(error)
    """
    done = run_child(code, env=pretend_version(tmp_path, "torch.version", "2.14.1")).check()
    assert "this is torch 2.14.1" in done.out


def test_cuda_is_not_replaced_in_a_wheel_of_another_version(tmp_path):
    library = tmp_path / "torch" / "lib" / "libtorch_cuda.so"
    library.parent.mkdir(parents=True)
    library.write_text("loading this is an error")
    code = f"""
    import warnings
    warnings.simplefilter("ignore")
    import torch, _torch_xpu_startup
    _torch_xpu_startup._prepare({str(tmp_path / "torch")!r})
    """
    folder = tmp_path / "site"
    folder.mkdir()
    run_child(code, env=pretend_version(folder, "torch.version", "2.14.1")).check()

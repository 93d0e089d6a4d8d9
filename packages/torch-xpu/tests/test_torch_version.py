"""A PyTorch of another version than the adapter's: one warning, and PyTorch as without the adapter."""

import sys
from pathlib import Path

import pytest
import torch
from xpu_testing import run_child
from xpu_testing.other_version import pretend_version

import torch_xpu

PACKAGE = Path(torch_xpu.__file__).parent
ASIDE = """
    import warnings
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        import torch
    assert torch.__version__ == "%s"
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


def stand_aside(folder, version):
    """Return what a process prints in which torch says that it is of this version."""
    return run_child(ASIDE % version, env=pretend_version(folder, "torch.version", version)).check()


def test_the_adapters_stand_aside_with_one_warning(tmp_path):
    done = stand_aside(tmp_path, "2.16.0")
    assert done.out.startswith("torch-xpu ")
    assert "is for torch>=2.13,<2.16, and this is torch 2.16.0" in done.out
    assert f'{sys.executable} -m pip install "torch>=2.13,<2.16"' in done.out


def test_development_versions_are_none_of_the_compiled(tmp_path):
    current = ".".join(torch.__version__.split(".")[:2])
    done = stand_aside(tmp_path, f"{current}.0.dev20270101+cpu")
    assert "this torch-xpu was compiled for releases of torch" in done.out
    assert f"and this is torch {current}.0.dev20270101+cpu" in done.out


def test_builds_with_an_xpu_of_their_own_are_left_alone(tmp_path):
    variables = pretend_version(
        tmp_path, "torch.version", f"{torch.__version__.partition('+')[0]}+xpu"
    )
    site = tmp_path / "sitecustomize.py"
    site.write_text(
        site.read_text().replace(
            "module.__version__ =", "module.xpu = '2026'; module.__version__ ="
        )
    )
    done = run_child(
        """
        import sys, warnings
        warnings.simplefilter("always")
        import torch
        print("torch_xpu._bridge" in sys.modules)
        """,
        env=variables,
    ).check()
    assert "has an xpu of its own: torch-xpu leaves it alone" in done.err
    assert done.out.strip() == "False"


def test_a_version_without_compiled_modules_is_named(tmp_path):
    missing = [
        minor for minor in ("2_13", "2_14", "2_15") if not (PACKAGE / f"torch_{minor}").exists()
    ]
    if not missing:
        pytest.skip("this torch-xpu is compiled for all versions that it is for")
    done = stand_aside(tmp_path, f"{missing[0].replace('_', '.')}.0")
    assert "this torch-xpu was compiled for releases of torch" in done.out


def test_what_the_package_offers_says_why_it_cannot(tmp_path):
    code = """
    import torch_xpu
    try:
        torch_xpu.fallbacks()
    except ImportError as error:
        print(error)
    """
    done = run_child(code, env=pretend_version(tmp_path, "torch.version", "2.16.0")).check()
    assert "this is torch 2.16.0" in done.out


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
    run_child(code, env=pretend_version(folder, "torch.version", "2.16.0")).check()

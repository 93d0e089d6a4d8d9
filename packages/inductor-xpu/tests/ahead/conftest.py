"""One package for all tests that only read it; the helpers beside the tests are importable."""

import sys
import warnings
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # of TorchScript, which Inductor imports
    import torch._inductor.compile_fx  # noqa: F401


@pytest.fixture(scope="session")
def packaged(tmp_path_factory):
    """Return the path of a package, and the model that it was made of."""
    import package_case

    path = tmp_path_factory.mktemp("package") / "model.pt2"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of torch.export
        model = package_case.write(path)
    return path, model

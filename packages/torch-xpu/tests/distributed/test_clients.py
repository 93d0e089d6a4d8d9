"""Training scripts of libraries on top of PyTorch, unchanged, by torchrun and by accelerate's launcher."""

import pytest
from torchrun import TORCHRUN, launch

pytestmark = pytest.mark.values

ACCELERATE = ["accelerate.commands.launch", "--num_processes", "2", "--num_machines", "1"]
ACCELERATE += ["--multi_gpu", "--mixed_precision", "no", "--dynamo_backend", "no"]


@pytest.mark.parametrize("launcher", [TORCHRUN, ACCELERATE], ids=["torchrun", "accelerate"])
def test_accelerate(launcher):
    pytest.importorskip("accelerate")
    assert launch(launcher, "accelerated.py").count("done") == 2


def test_trainer_of_transformers(tmp_path):
    pytest.importorskip("accelerate")  # which it needs
    pytest.importorskip("transformers")
    assert launch(TORCHRUN, "trainer.py", str(tmp_path)).count("done") == 2

"""How torch is loaded."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from everflow.platform import torch_loading

pytestmark = pytest.mark.skipif(
    not torch_loading._version().startswith(torch_loading.SEEN), reason="another torch is imported as a whole"
)
BEGIN = "import sys\nfrom everflow.platform.torch_loading import Later, load_torch\ntorch = load_torch()\n"


def told(program, **environment):
    """What a program prints in a process of its own."""
    made = {**os.environ, "EVERFLOW_WHOLE_TORCH": "0", **environment}
    done = subprocess.run([sys.executable, "-c", BEGIN + program], capture_output=True, text=True, env=made)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_what_kernels_do_not_need_is_run_when_it_is_asked_for():
    program = """
names = ("torch.ao", "torch.optim", "torch.distributions")
print(*(isinstance(sys.modules[name], Later) for name in names))
torch.optim.SGD([torch.zeros(2, requires_grad=True)], lr=0.1)
import torch.ao.quantization as quantization
from torch.distributions import Normal
print(*(isinstance(sys.modules[name], Later) for name in names))
print(quantization is torch.ao.quantization, sys.modules["torch.ao.quantization"] is quantization)
print(float(Normal(0.0, 1.0).log_prob(torch.tensor(0.0))) < 0, torch.optim.__spec__.loader is torch.optim.__loader__)
"""
    assert told(program) == ["True"] * 3 + ["False"] * 3 + ["True"] * 4


def test_those_who_look_through_all_modules_run_none():
    program = """
import inspect
inspect.getmodule(inspect.currentframe())
print([getattr(m, "__file__", None) and hasattr(m, "__warningregistry__") for m in list(sys.modules.values())] and "")
print(isinstance(sys.modules["torch.ao"], Later))
"""
    assert told(program) == ["True"]


def test_tracing_finds_its_rules():
    program = """
print(isinstance(sys.modules["torch._meta_registrations"], Later))
import torch._dynamo
print(isinstance(sys.modules["torch._meta_registrations"], Later))
"""
    assert told(program) == ["True", "False"]


def test_all_of_it_can_be_had_at_once():
    assert told("print(isinstance(sys.modules['torch.ao'], Later))", EVERFLOW_WHOLE_TORCH="1") == ["False"]


def test_a_program_that_has_torch_keeps_it_as_it_is():
    torch = pytest.importorskip("torch")
    finders = list(sys.meta_path)
    assert torch_loading.load_torch() is torch
    assert sys.meta_path == finders


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="other systems have other ways")
def test_code_that_was_let_go_of_comes_back():
    torch = pytest.importorskip("torch")
    directory = Path(torch.__file__).parent / "lib"
    assert torch_loading.forget_code(directory) > 1 << 20
    assert float(torch.ones(100, 100).matmul(torch.ones(100, 100)).sum()) == 1e6
    assert torch_loading.forget_code(directory / "nowhere") == 0

"""However a program starts: as a child of another, by plain python with the shim, in a notebook, as a tool."""

import json
import os
import subprocess
import sys
import sysconfig
import venv

import pytest

import everflow
from everflow.cli import kernel, main

ROOT = os.path.dirname(os.path.dirname(everflow.__file__))


def run(*command, cwd, **env):
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env={**os.environ, **env})
    return done.returncode, done.stdout, done.stderr


PARENT = """
import multiprocessing, subprocess, sys
import tensorflow as tf

def doubled(x):
    import numpy as np
    return int(tf.Session().run(tf.constant(x) * 2)), np.float.__name__

if __name__ == "__main__":
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(pool.map(doubled, [1, 2]))
    def child(code):
        print(subprocess.check_output([sys.executable, "-c", code], text=True).strip())
    child("import numpy as np; print(np.float); import tensorflow.python.framework.ops, tensorflow as tf; print(tf.__version__)")
    child("import sys, json; print([name in sys.modules for name in ('everflow', 'numpy')])")
    child("import everflow, sys, tensorflow; print(everflow is tensorflow)")
"""


def test_children_see_tensorflow(tmp_path):
    (tmp_path / "train.py").write_text(PARENT)
    code, out, errors = run(sys.executable, "-m", "everflow", "run", "train.py", cwd=tmp_path)
    assert code == 0, errors
    assert out.splitlines() == ["[(2, 'float'), (4, 'float')]", "<class 'float'>", "1.15.5", "[False, False]", "True"]


def test_children_of_a_program_of_0_x_take_it_the_same_way(tmp_path):
    (tmp_path / "train.py").write_text(
        "import subprocess, sys\nimport tensorflow as tf\ntf.mul\n"
        "print(subprocess.check_output([sys.executable, '-c', 'import tensorflow as tf; print(tf.__version__)']).decode())"
    )
    assert "0.12.1" in run(sys.executable, "-m", "everflow", "run", "train.py", cwd=tmp_path)[1]


def test_another_sitecustomize_still_runs(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys; sys.mine = 'here'")
    code = "import subprocess, sys; subprocess.check_call([sys.executable, '-c', 'import sys, tensorflow; print(sys.mine)'])"
    paths = os.pathsep.join([str(tmp_path), ROOT])
    assert run(sys.executable, "-m", "everflow", "run", "-c", code, cwd=tmp_path, PYTHONPATH=paths)[1] == "here\n"


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A virtual environment that sees everflow and what it needs."""
    folder = tmp_path_factory.mktemp("environment")
    venv.create(folder)
    python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    (packages,) = folder.glob("lib/python*/site-packages")
    (packages / "others.pth").write_text(f"{ROOT}\n{sysconfig.get_paths()['purelib']}\n")
    return str(python), packages


def test_the_shim_comes_and_goes(environment, tmp_path):
    python, packages = environment

    def call(*arguments):
        return run(python, *arguments, cwd=tmp_path, PYTHONPATH="")

    assert call("-m", "everflow", "shim")[0] == 0
    said = "import importlib.metadata as m, tensorflow as tf, numpy as np, tensorflow.python.ops.array_ops as a; print(m.version('tensorflow'), tf.__name__, np.float, a.concat)"
    code, out, errors = call("-c", said)
    assert code == 0 and out.startswith("1.15.5 everflow <class 'float'> <function concat"), errors
    assert call("-m", "tensorflow.python.tools.saved_model_cli", "-v")[1] == "0.1.0\n"
    assert call("-m", "everflow", "shim")[0] == 0  # again does no harm
    assert sorted(p.name for p in packages.glob("*ensorflow*")) == ["tensorflow", "tensorflow-1.15.5.dist-info"]
    assert call("-m", "everflow", "shim", "--remove")[0] == 0
    assert not list(packages.glob("*ensorflow*")) and not list(packages.glob(".everflow*"))
    assert call("-m", "everflow", "shim", "--remove")[0] == 1


def test_the_shim_leaves_a_real_tensorflow_alone(environment, tmp_path):
    python, packages = environment
    (packages / "tensorflow").mkdir()
    (packages / "tensorflow" / "__init__.py").write_text("# the real one")
    for arguments in ((), ("--remove",)):
        code, _, errors = run(python, "-m", "everflow", "shim", *arguments, cwd=tmp_path, PYTHONPATH="")
        assert code == 1 and len(errors.splitlines()) == 1
    assert (packages / "tensorflow" / "__init__.py").read_text() == "# the real one"
    (packages / "tensorflow" / "__init__.py").unlink()
    (packages / "tensorflow").rmdir()


def test_a_kernel_comes_and_goes(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kernel.importlib.util, "find_spec", lambda name: object())
    where = ["--prefix", str(tmp_path), "--name", "Mine"]
    assert main(["kernel", "install", *where, "--display-name", "Old programs"]) == 0
    spec = json.loads((tmp_path / "share/jupyter/kernels/mine/kernel.json").read_text())
    assert spec["argv"][1:6] == ["-m", "everflow", "run", "-m", "ipykernel_launcher"]
    assert spec["display_name"] == "Old programs" and "{connection_file}" in spec["argv"]
    assert main(["kernel", "remove", *where]) == 0 and not list((tmp_path / "share/jupyter/kernels").iterdir())
    assert main(["kernel", "remove", *where]) == 1
    assert main(["kernel", "install", "--prefix", str(tmp_path), "--name", "a/b"]) == 1
    other = tmp_path / "share/jupyter/kernels/python3"
    other.mkdir()
    (other / "kernel.json").write_text('{"argv": ["python"]}')
    assert main(["kernel", "install", "--prefix", str(tmp_path), "--name", "python3"]) == 1
    assert "not everflow's" in capsys.readouterr().err


def test_a_kernel_needs_ipykernel(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(kernel.importlib.util, "find_spec", lambda name: None)
    assert main(["kernel", "install", "--prefix", str(tmp_path)]) == 1
    assert capsys.readouterr().err == "everflow kernel: a kernel needs ipykernel: pip install ipykernel\n"


TOOLS = "freeze_graph inspect_checkpoint saved_model_cli optimize_for_inference strip_unused import_pb_to_tensorboard print_selective_registration_header"


def test_tools_run_by_their_paths(tmp_path):
    """One process for all: each is run as `python -m` runs it."""
    names = [f"tensorflow.python.tools.{name}" for name in TOOLS.split()]
    names += ["tensorflow.lite.python.tflite_convert", "tensorflow.tools.compatibility.tf_upgrade_v2_main"]
    code = f"""
import runpy, sys
for name in {names!r}:
    sys.argv = [name, "--help"]
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit as e:
        assert e.code == 0, name
"""
    code, out, errors = run(sys.executable, "-m", "everflow", "run", "-c", code, cwd=tmp_path)
    assert code == 0, errors
    assert out.count("usage: ") == len(names)
    done = run(
        sys.executable, "-m", "everflow", "run", "-m", "tensorflow.python.tools.inspect_checkpoint", cwd=tmp_path
    )
    assert done[0] == 1 and done[1].startswith("Usage: inspect_checkpoint --file_name=")

"""The example that `make run` runs, shortened."""

import pathlib
import re
import subprocess
import sys

import everflow

ROOT = pathlib.Path(everflow.__file__).parent.parent


def test_it_learns_and_saves(tmp_path):
    command = [
        sys.executable,
        "-m",
        "everflow",
        "run",
        "examples/digits_convnet.py",
        "--steps=100",
        f"--train_dir={tmp_path}/model",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    # What TensorFlow 1.15.5 shows for the same program and seed.
    assert "step  100  loss 0.2690  test accuracy 98.1%" in done.stdout
    assert float(re.search(r"not seen: ([\d.]+)%", done.stdout)[1]) > 97
    assert (tmp_path / "model" / "model.ckpt-100.index").exists()

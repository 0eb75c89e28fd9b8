"""Every program in examples/, shortened, through `everflow run`: it ends well and prints what it should."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

import everflow

ROOT = pathlib.Path(everflow.__file__).parent.parent

# Program, flags of its short form, the line with its result, what TensorFlow 1.15.5 prints there for the same data and
# seeds, and how far from it we may be: little where the same sums in another order make little difference, more where
# training magnifies it.
PROGRAMS = [
    ("mnist_softmax", "--steps=200", r"test accuracy ([\d.]+)", 0.9722, 0.003),
    ("lenet", "--steps=60 --model_dir={tmp}/model", r"averaged weights ([\d.]+)", 0.9083, 0.06),
    ("mnist_estimator", "--steps=100 --model_dir={tmp}/model", r"test accuracy ([\d.]+)", 0.9444, 0.03),
    ("autoencoder", "--training_epochs=6", r"error after training ([\d.]+)", 0.0180, 0.0002),
    ("vae", "--steps=150", r"test cost after training ([\d.]+)", 176.7, 0.5),
    ("gan", "--steps=400", r"after training ([\d.]+)", 0.134, 0.02),
    ("word2vec", "--num_steps=600", r"final average loss ([\d.]+)", 4.28, 0.02),
    ("ptb_word_lm", "--max_max_epoch=6", r"final train perplexity ([\d.]+)", 82.6, 0.5),
    ("char_rnn", "--steps=80 --length=60", r"final loss ([\d.]+)", 2.443, 0.01),
    ("seq2seq_attention", "--steps=200 --max_length=6", r"without a mistake ([\d.]+)", 0.998, 0.02),
    (
        "fine_tuning",
        "--pretrain_steps=80 --steps=200 --graph={tmp}/frozen.pb",
        r"test accuracy on 5-9 ([\d.]+)",
        0.8989,
        0.03,
    ),
    (
        "mobile_digits",
        "--steps=150 --export_dir={tmp}/models",
        r"integers: \d+ bytes, test accuracy ([\d.]+)",
        0.9733,
        0.02,
    ),
    ("dqn", "--episodes=500", r"greedy play catches ([\d.]+)", 0.94, 0.15),
    ("multi_tower", "--max_steps=200", r"with 2 towers ([\d.]+)", 0.9278, 0.02),
    ("parameter_server", "--train_steps=100", r"accuracy ([\d.]+)", 0.968, 0.01),
    ("style_transfer", "--iterations=80", r"style loss is ([\d.]+)", 0.0308, 0.002),
    ("tensorboard_tour", "--max_steps=100 --logdir={tmp}/logs", r"test accuracy ([\d.]+)", 0.9528, 0.01),
]


def run_example(name, flags):
    """What the program prints. It gets the bundled digits: the proxy leads nowhere, and the folder for MNIST is empty."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "https_proxy": "http://127.0.0.1:1"}
    command = [sys.executable, "-m", "everflow", "run", f"examples/{name}.py", *flags]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("name,flags,line,expected,within", PROGRAMS, ids=[row[0] for row in PROGRAMS])
def test_short_form(name, flags, line, expected, within, tmp_path):
    words = flags.format(tmp=tmp_path).split()
    if '"data_dir"' in (ROOT / "examples" / f"{name}.py").read_text():
        words.append(f"--data_dir={tmp_path}/mnist")
    printed = run_example(name, words)
    found = re.search(line, printed)
    assert found, printed
    assert float(found[1]) == pytest.approx(expected, abs=within), printed


def test_lenet_goes_on_from_its_checkpoint(tmp_path):
    flags = [f"--model_dir={tmp_path}/model", f"--data_dir={tmp_path}/mnist"]
    run_example("lenet", [*flags, "--steps=5"])
    printed = run_example("lenet", [*flags, "--steps=10"])
    assert "going on from model.ckpt-5" in printed
    assert (tmp_path / "model" / "model.ckpt-10.index").exists()


def test_every_program_is_here_and_states_what_to_expect():
    tested = {row[0] for row in PROGRAMS} | {"digits_convnet"}
    programs = {path.stem: path.read_text() for path in (ROOT / "examples").glob("*.py")}
    assert set(programs) == tested
    readme = (ROOT / "examples" / "README.md").read_text()
    for name, text in programs.items():
        assert f"]({name}.py)" in readme
        assert f"everflow run examples/{name}.py" in text.split('"""')[1]
        assert name == "digits_convnet" or "Expect:" in text.split('"""')[1]

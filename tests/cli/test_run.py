"""`everflow run`, as a user runs it."""

import signal
import subprocess
import sys
import time

import pytest


@pytest.fixture
def everflow(tmp_path):
    def run(*args, stdin=""):
        done = subprocess.run(
            [sys.executable, "-m", "everflow", *args], capture_output=True, text=True, cwd=tmp_path, input=stdin
        )
        return done.returncode, done.stdout, done.stderr

    run.dir = tmp_path
    return run


SCRIPT = """
import sys
import beside
import tensorflow as tf
print(sys.argv, __name__, __file__, tf.__version__)
if "--fail" in sys.argv:
    raise ValueError("on purpose")
if "--exit" in sys.argv:
    sys.exit(5)
"""


@pytest.fixture
def script(everflow):
    (everflow.dir / "in").mkdir()
    (everflow.dir / "in" / "beside.py").write_text("")
    (everflow.dir / "in" / "train.py").write_text(SCRIPT)
    return "in/train.py"


def test_script(everflow, script):
    status, shown, _ = everflow("run", script, "--x=1", "-v", "-m")
    assert (status, shown) == (0, f"['in/train.py', '--x=1', '-v', '-m'] __main__ {everflow.dir}/in/train.py 1.15.5\n")


def test_exit_codes_and_tracebacks(everflow, script):
    assert everflow("run", script, "--exit")[0] == 5
    status, _, errors = everflow("run", script, "--fail")
    assert status == 1
    assert errors.splitlines()[:2] == [
        "Traceback (most recent call last):",
        f'  File "{everflow.dir}/in/train.py", line 7, in <module>',
    ]
    assert errors.endswith("ValueError: on purpose\n")
    assert everflow("run", "no_such.py")[0] == 2


def test_module(everflow):
    (everflow.dir / "package").mkdir()
    (everflow.dir / "package" / "__init__.py").write_text("")
    (everflow.dir / "package" / "train.py").write_text("import sys; print(sys.argv[1:], __name__, __package__)")
    assert everflow("run", "-m", "package.train", "--x", "y")[:2] == (0, "['--x', 'y'] __main__ package\n")
    status, _, errors = everflow("run", "-m", "no_such")
    assert status == 1 and "No module named no_such" in errors


def test_code_and_stdin(everflow):
    assert everflow("run", "-c", "import sys; print(sys.argv)", "-x")[1] == "['-c', '-x']\n"
    assert everflow("run", "-", "a", stdin="import sys, tensorflow; print(sys.argv)")[1] == "['-', 'a']\n"


def test_verbose_says_what_serves(everflow):
    assert "tensorflow is Everflow" in everflow("run", "-v", "-c", "pass")[2]


def test_version_help_and_usage(everflow):
    assert everflow("--version")[1].startswith("everflow 0.1.0")
    assert "run" in everflow("--help")[1]
    assert everflow("run")[0] == 2
    assert everflow()[0] == 2


def test_ops_trace_back_to_the_program(everflow):
    (everflow.dir / "trace.py").write_text(
        "import tensorflow as tf\nx = tf.constant(1)\nprint(x.op.traceback[0][0], x.op.traceback[0][1])\n"
    )
    code, out, _ = everflow("run", "trace.py")
    assert code == 0 and out.split() == [str(everflow.dir / "trace.py"), "2"]


INTERRUPTED = """
import tensorflow as tf
element = tf.data.Dataset.range(1).repeat().filter(lambda x: False).make_one_shot_iterator().get_next()
with tf.Session() as session:
    print("running", flush=True)
    session.run(element)
"""


def test_an_interrupt_ends_the_program_as_it_ends_python(tmp_path):
    (tmp_path / "train.py").write_text(INTERRUPTED)
    process = subprocess.Popen(
        [sys.executable, "-m", "everflow", "run", str(tmp_path / "train.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "running\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
    finally:
        process.kill()
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")

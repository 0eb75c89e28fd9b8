"""The stubs: up to date, with every public name, without a false error in the examples, and with the true ones found."""

import ast
import importlib.util
import json
import pathlib
import re
import subprocess
import sys

import jedi
import pytest

from docsite import compatibility
from docsite.stubs import files
from everflow.cli.served_stubs import served_stubs

ROOT = pathlib.Path(__file__).parents[2]
PROGRAM = pathlib.Path(__file__).with_name("typed_program.py")
WRONG = {i for i, line in enumerate(PROGRAM.read_text().splitlines(), 1) if line.endswith("# wrong")}
EXAMPLES = sorted(map(str, (ROOT / "examples").glob("*.py")))


# Prints {path: text} of all stubs.
_MAKE = """
import json
from docsite.stubs import files
print(json.dumps({str(path): text for path, text in files.texts().items()}))
"""


def test_stubs_are_up_to_date():
    # In a process of its own: other tests make op types and Keras classes known that are no part of the package.
    done = subprocess.run([sys.executable, "-c", _MAKE], cwd=ROOT, capture_output=True, text=True, check=True)
    made = {pathlib.Path(path): text for path, text in json.loads(done.stdout.splitlines()[-1]).items()}
    assert set(files.stub_files()) == set(made), "make stubs"
    stale = [path.relative_to(ROOT).as_posix() for path, text in made.items() if path.read_text() != text]
    assert stale == [], "make stubs"


def names_of(path):
    """What a stub shows."""
    found = set()
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom):
            found |= {alias.asname or alias.name for alias in node.names}
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            found.add(ast.unparse(node.targets[0] if isinstance(node, ast.Assign) else node.target))
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
    return found


def test_every_public_name_is_in_a_stub():
    shown = {space: names_of(files.path_of(space)) for space in files.homes.namespaces()}
    missing = set(compatibility.missing_names())
    for name in compatibility.public_names():
        space, _, last = name.rpartition(".")
        if name not in missing and space in shown and not last.startswith("_") and last not in files.homes.ACCIDENTS:
            assert last in shown[space], name


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A folder with the stubs of tensorflow where editors look for them, and settings that find everflow's."""
    folder = tmp_path_factory.mktemp("project")
    for name, text in served_stubs().items():
        path = folder / "typings" / "tensorflow" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    settings = {
        "include": [*EXAMPLES, str(PROGRAM)],
        "extraPaths": [str(ROOT)],
        "stubPath": str(folder / "typings"),
        "typeCheckingMode": "basic",
        "reportPossiblyUnbound": False,  # of the programs, not of the stubs
        "reportPossiblyUnboundVariable": False,
        "reportMissingModuleSource": False,  # tensorflow is not installed
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings))
    # Errors inside of the package are its own affair.
    others = "".join(f"\n[mypy-{name}.*]\nignore_errors = true\n" for name in ("everflow", "tensorflow"))
    others += "".join(f"\n[mypy-{name}.*]\nfollow_imports = skip\n" for name in ("numpy", "google"))
    (folder / "mypy.ini").write_text(f"[mypy]\nignore_missing_imports = true\nmypy_path = typings:{ROOT}\n{others}")
    return folder


def checked(errors):
    """Errors as (file, line), without those that must be there."""
    lines = {line for file, line in errors if file == PROGRAM.name}
    assert lines == WRONG
    return [error for error in errors if error[0] != PROGRAM.name]


def test_pyright(project):
    done = subprocess.run(
        [sys.executable, "-m", "basedpyright", "-p", str(project), "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
    )
    found = json.loads(done.stdout)
    assert found["summary"]["filesAnalyzed"] == len(EXAMPLES) + 1
    errors = [d for d in found["generalDiagnostics"] if d["severity"] == "error"]
    assert checked({(pathlib.Path(d["file"]).name, d["range"]["start"]["line"] + 1) for d in errors}) == []


@pytest.mark.slow  # editors and Pyright above find the same
def test_mypy(project):
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--config-file", "mypy.ini", *EXAMPLES, str(PROGRAM)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=project)
    found = re.findall(r"^(.*?):(\d+): error:", done.stdout, re.M)
    assert found, done.stdout + done.stderr
    assert checked({(pathlib.Path(file).name, int(line)) for file, line in found}) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("tf.nn.rel", "relu"),
        ("tf.keras.layers.Den", "Dense"),
        ("tf.contrib.slim.conv2", "conv2d"),
        ("tf.zeros([3]).get_sh", "get_shape"),
        ("tf.train.AdamOptimizer(learning_r", "learning_rate="),
    ],
)
def test_jedi_completes(text, name):
    script = jedi.Script(f"import everflow as tf\n{text}", project=jedi.Project(ROOT))
    assert name in [found.name_with_symbols for found in script.complete()]


def test_the_stubs_of_tensorflow_are_those_of_everflow():
    stubs = served_stubs()
    assert stubs["nn/__init__.pyi"] == "from everflow.nn import *\n"
    assert stubs["compat/v1/keras/layers/__init__.pyi"] == "from everflow.keras.layers import *\n"
    assert "__getattr__" in stubs["python/ops/math_ops/__init__.pyi"]
    for text in stubs.values():
        for module in re.findall(r"from (everflow[\w.]*) import", text):
            assert importlib.util.find_spec(module) or module == "everflow.compat.v1", module

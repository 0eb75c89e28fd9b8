"""The house has floors: a module imports from its own floor and those below only, and torch is known on two of them."""

import ast
import pathlib

import everflow

ROOT = pathlib.Path(everflow.__file__).parent

# From the ground up. Every part of the package that is not named here is a tf.X namespace, on the floor of layers and train.
FLOORS = [
    {"protos", "version"},
    {"framework"},
    {"platform"},
    {"formats"},
    {"ops"},
    {"kernels"},
    {"runtime"},
    {"distributed"},
    {"eager"},
    {"layers", "losses", "metrics", "feature_column", "train", "data", "summary", "saved_model", "profiler", "debug", "datasets", "tools"},
    {"contrib", "estimator"},
    {"cli", "as_tensorflow", "compat", "gen_ops", "names", "__init__", "__main__"},
]
NAMESPACES = 9
KNOW_TORCH = {"kernels", "runtime"}
# Neighbours that must not know each other although one is above the other.
STRANGERS = {("kernels", "ops")}
EXCEPTIONS = {
    # The gradient of a function is drawn when a graph that asks for it first runs.
    ("kernels/functions.py", "ops"),
    # The Python functions that py_func calls are kept where they are drawn.
    ("kernels/script.py", "ops"),
    # tf.keras.estimator makes Estimators of models; nothing else of Keras knows them.
    ("keras/estimator.py", "estimator"),
}


def part_of(path):
    first = path.relative_to(ROOT).parts[0]
    return first.removesuffix(".py")


def floor_of(part):
    return next((i for i, parts in enumerate(FLOORS) if part in parts), NAMESPACES)


def imports(path):
    """(line, dotted name) of everything a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(), str(path))):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: a relative import"
            if node.module == "everflow":
                yield from ((node.lineno, f"everflow.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, node.module


def sources():
    return [path for path in sorted(ROOT.rglob("*.py")) if not path.name.endswith("_pb2.py")]


def test_imports_go_down():
    wrong = []
    for path in sources():
        here = part_of(path)
        for line, name in imports(path):
            package, _, rest = name.partition(".")
            if package != "everflow":
                continue
            there = rest.partition(".")[0] or "__init__"
            if (str(path.relative_to(ROOT)), there) in EXCEPTIONS:
                continue
            if floor_of(there) > floor_of(here) or (here, there) in STRANGERS:
                wrong.append(f"{path.relative_to(ROOT)}:{line} imports {name}")
    assert not wrong, "\n".join(wrong)


def test_torch_stays_below():
    wrong = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for path in sources()
        if part_of(path) not in KNOW_TORCH
        for line, name in imports(path)
        if name.partition(".")[0] == "torch"
    ]
    assert not wrong, "\n".join(wrong)

"""Serves `import tensorflow` and every path below it.

`tensorflow.X` is the module `everflow.X` itself. A path into TensorFlow's own tree (`tensorflow.python.ops.math_ops`)
is a module without code of its own: it looks a name up in the everflow modules that `path_table.py` lists for it, and
then in all modules of the packages that the folder stands for. `module_paths.txt` has the paths that TensorFlow 1.15
has, so that any of them can be imported, and no other.
"""

from __future__ import annotations

import builtins
import difflib
import fnmatch
import functools
import importlib
import importlib.abc
import importlib.machinery
import itertools
import pathlib
import pkgutil
import re
import sys
import types
from collections.abc import Iterator

import everflow
from everflow.framework import api_names
from everflow.legacy import contrib_paths, path_table
from everflow.legacy.path_rules import FOLDERS, OF_TWO, SAME
from everflow.platform.module_alias import alias_spec
from everflow.version import EVERFLOW_VERSION

# Paths below tensorflow.contrib that name its inner files, as `contrib.layers.python.layers.regularizers` does, are
# served by the package.
_CONTRIB_INNER = re.compile(r"(contrib\.\w+)\.(?:python|ops|layers|training|util)\b.*")
_CONTRIB_PACKAGE = re.compile(r"^contrib\.\w+")
# Other roots that name the same tree.
_SAME_AS_ROOT = re.compile(r"(?:compat\.v1|_api\.v1)(?:\.|$)")
_OF_TWO = re.compile(r"compat\.v2\.")
# Keras's places before it was tf.keras, and the tree that contrib's had inside.
_SAME_AS_KERAS = re.compile(r"(?:contrib\.keras|python\.keras\._impl\.keras)(?:\.(?:api|python)(?:\.keras)?)?(?=\.|$)")
# The inner files of contrib.tpu are those of python.tpu.
_SAME_AS_TPU = re.compile(r"contrib\.tpu\.python(?:\.tpu)?(?=\.|$)")
# Functions that have the names of Python's, in modules from which people import everything.
_HIDES_BUILTINS = dict.fromkeys(
    ("python.ops.math_ops", "python.ops.standard_ops"), {"abs", "complex", "pow", "range", "round"}
)
_ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


@functools.cache
def _rows() -> dict[str, list[str]]:
    """{path below tensorflow: everflow modules}."""
    rows: dict[str, list[str]] = {}
    for line in (path_table.TABLE + contrib_paths.TABLE).replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        left, _, sources = line.rpartition(" : ")
        folder, *names = left.split()
        for path in itertools.chain.from_iterable(_paths(folder, name) for name in names):
            rows.setdefault(path, []).extend(s for s in sources.split() if s not in rows.get(path, ()))
    return rows


def _paths(folder: str, name: str) -> list[str]:
    """The paths that a name of the table stands for: `.` for the folder itself, and with a `*` all modules of that form."""
    if name == ".":
        return [folder]
    path = f"{folder}.{name}"
    return sorted(fnmatch.filter(module_paths(), path)) if "*" in name else [path]


@functools.cache
def _folders() -> frozenset[str]:
    """Every folder above a path in the table, and those of the messages."""
    above = {
        "core.framework",
        "core.protobuf",
        "core.protobuf.tpu",
        "core.util",
        "core.example",
        "core.lib.core",
        "core.profiler",
        "core.kernels.boosted_trees",
    }
    for path in {*_rows(), *above}:
        above.add(path)
        while path := path.rpartition(".")[0]:
            above.add(path)
    return frozenset(above - set(_rows()))


def _load(source: str) -> types.ModuleType | None:
    """The everflow module called `source`, or None where there is none."""
    if source == ".":
        return everflow
    name = f"everflow.{source}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if not name.startswith(missing.name or " "):
            raise
    # A namespace that is an attribute rather than a file, as tf.nn.rnn_cell may be.
    folder, _, last = source.rpartition(".")
    found = getattr(_load(folder), last, None) if folder else None
    return found if isinstance(found, types.ModuleType) and not isinstance(found, _Served) else None


def _load_all(sources: list[str]) -> Iterator[types.ModuleType]:
    """The everflow modules that `sources` name, in order."""
    for source in sources:
        for name in _matching(source) if "*" in source else [source]:
            module = _load(name)
            if module is not None:
                yield module


@functools.cache
def _matching(pattern: str) -> list[str]:
    """The modules of a package that a pattern such as `ops.math.*` names."""
    folder, _, last = pattern.rpartition(".")
    package = _load(folder)
    inside = pkgutil.iter_modules(package.__path__) if hasattr(package, "__path__") else ()
    return [f"{folder}.{module.name}" for module in inside if fnmatch.fnmatch(module.name, last)]


class _Served(types.ModuleType):
    """A module of TensorFlow's tree: its names are those of the everflow modules that serve it."""

    def __init__(self, name: str, path: str, sources: list[str]):
        super().__init__(
            name,
            f"Served by {', '.join(s if s != '.' else 'everflow' for s in sources) or 'its modules'}; see everflow.legacy.",
        )
        # A path makes it a package, with modules below.
        self.__dict__.update(_path=path, _sources=sources, _replaced={}, __path__=[])

    def __setattr__(self, name: str, value: object) -> None:
        # Names that are switches say so: the others are of this module only.
        plain = name.startswith("__") or isinstance(value, types.ModuleType)
        for source in () if plain else self._sources:
            setters = getattr(_load(source), "SETTERS", {}) if source.startswith("legacy.inner.") else {}
            if name in setters:
                setters[name](value)
                return
        if not plain and (name in self._replaced or name not in vars(self)) and hasattr(self, name):
            before = getattr(self, name)
            self._replaced.setdefault(name, before)
            self._stand_in(name, before, value)
        super().__setattr__(name, value)

    def __delattr__(self, name: str) -> None:
        if name in self._replaced:
            self._put_back(name)
        super().__delattr__(name)

    def _put_back(self, name: str) -> None:
        stand_in, original = vars(self)[name], self._replaced.pop(name)
        for module in _load_all(self._sources):
            if module is not everflow and vars(module).get(name) is stand_in:
                setattr(module, name, original)

    def _stand_in(self, name: str, before: object, after: object) -> None:
        """Where tests put something in the place of what this module has (a clock for the module `time`, a function that
        counts its calls, a switch), it is what the module that serves it sees, too. A function is replaced where it is at
        home only: elsewhere it is a name of its own.
        """
        home = None if isinstance(before, types.ModuleType) else getattr(before, "__module__", None)
        for module in _load_all(self._sources):
            if module is not everflow and vars(module).get(name) is before and home in (None, module.__name__):
                setattr(module, name, after)

    def __getattr__(self, name: str):
        if name == "__all__":
            return self._starred()
        if name.startswith("__"):
            raise AttributeError(name)
        if _is_known(f"{self._path}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        if name in OF_TWO.get(self._path, "").split():
            return everflow.compat.v2.wherever(name)
        for module in _load_all([*self._sources, *_by_rule(self._path)]):
            if hasattr(module, name) and not (module is everflow and _is_of_the_house(name)):
                return getattr(module, name)
        # Modules of TensorFlow show the modules that they import: `rnn.rnn_cell_impl`, `session_ops.array_ops`.
        if (imported := _module_called(self._path, name)) is not None:
            return importlib.import_module(f"{self.__name__.partition('.')[0]}.{imported}")
        # They hold the functions of both interfaces: `argmax` is that of 1, `argmax_v2` that of 2.
        plain, _, version = name.rpartition("_")
        if version == "v1":
            return getattr(everflow if plain in OF_TWO.get(self._path, "").split() else self, plain)
        if version == "v2" and (found := everflow.compat.v2.wherever(plain)):
            return found
        raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}{_where_else(name)}", name=name)

    def _starred(self) -> list[str]:
        """What `from module import *` brings: the names of its own sources, not all of tf where there are others, and none
        that would hide a function of Python's, unless TensorFlow's does (`math_ops.abs`).
        """
        sources = [source for source in self._sources if source != "."] or self._sources
        if sources == ["."] and (below := _modules_in(self._path)):
            return below
        found = {
            name
            for module in _load_all(sources)
            for name in dir(module)
            if not name.startswith("_") and not (module is everflow and (name == "contrib" or _is_of_the_house(name)))
        }
        return sorted(found - set(dir(builtins)) | (found & _HIDES_BUILTINS.get(self._path, set())))

    def __dir__(self):
        theirs = {name for module in _load_all(self._sources) for name in dir(module) if not name.startswith("__")}
        return sorted(theirs | set(self.__dict__))


@functools.cache
def module_paths() -> frozenset[str]:
    """The paths of TensorFlow 1.15's modules below `tensorflow`."""
    found = set()
    for line in pathlib.Path(__file__).with_name("module_paths.txt").read_text().splitlines():
        folder, _, names = line.partition(": ")
        found |= {name if folder == "." else f"{folder}.{name}" for name in names.split()}
    return frozenset(found)


def _by_rule(path: str) -> list[str]:
    """What a path's folder stands for: the packages of the nearest folder above it that has a row in FOLDERS, or the
    package of contrib that it is in, with all their modules.
    """
    folder = path
    while folder and folder not in FOLDERS:
        folder = folder.rpartition(".")[0]
    packages = FOLDERS.get(folder, "").split() or _CONTRIB_PACKAGE.findall(path)
    return packages + [f"{package}.*" for package in packages]


def _modules_in(folder: str) -> list[str]:
    """The modules of a folder of TensorFlow's tree; none for `tensorflow.python`, which has names of its own."""
    inside = f"{folder}."
    below = {path.removeprefix(inside).partition(".")[0] for path in module_paths() if path.startswith(inside)}
    return [] if folder == "python" else sorted(name for name in below if _is_known(inside + name))


def _is_of_the_house(name: str) -> bool:
    """Whether a name of tf is a package of ours that tf doesn't show: `ops`, `framework`, `runtime`, ..."""
    return isinstance(vars(everflow).get(name), types.ModuleType) and name not in api_names.public_names()


def _module_called(path: str, name: str) -> str | None:
    """The path of TensorFlow's module of a name that one may mean in another module: beside it, of ops, or the only one."""
    beside = f"{path.rpartition('.')[0]}.{name}"
    called = [known for known in module_paths() if known.startswith("python.") and known.endswith(f".{name}")]
    likely = [path for path in (beside, f"python.ops.{name}") if path in called]
    return likely[0] if likely else called[0] if len(called) == 1 else _imported_as().get(name)


def _showing_imports(module: types.ModuleType | None, path: str) -> types.ModuleType | None:
    """A module that stands for TensorFlow's at a path by itself, and shows the modules which that one imports."""
    if module is not None and path.startswith("python.") and "__getattr__" not in vars(module):

        def imported(name: str) -> types.ModuleType:
            found = None if name.startswith("__") else _module_called(path, name)
            if found is None:
                raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}", name=name)
            return importlib.import_module(f"tensorflow.{found}")

        module.__getattr__ = imported  # type: ignore[method-assign]
    return module


@functools.cache
def _imported_as() -> dict[str, str]:
    """{name: path} of modules that TensorFlow's modules import under other names (`vs`, `K`, `adam_v2`), or that share
    their last name with others: for each name the module that most of them mean.
    """
    rows = pathlib.Path(__file__).with_name("imported_modules.txt").read_text().splitlines()
    return {name: path for path, _, names in (row.partition(": ") for row in rows) for name in names.split()}


def _is_known(path: str) -> bool:
    return (
        path in _rows()
        or path in _folders()
        or path in module_paths()
        or (path.startswith("core.") and path.endswith("_pb2"))
    )


def _resolve(fullname: str, path: str) -> types.ModuleType | None:
    """The module to hand out for `tensorflow.PATH`; None where there is none."""
    if match := _SAME_AS_ROOT.match(path):
        path = path[match.end() :]
    path = _SAME_AS_KERAS.sub("keras", path)
    path = _SAME_AS_TPU.sub("python.tpu", path)
    if not path:
        return everflow
    if match := _OF_TWO.match(path):
        return _module_of_two(path[match.end() :])
    if path.startswith("core.") and path.endswith("_pb2"):
        return _load("protos." + path.rpartition(".")[2])
    sources = _rows().get(path)
    if sources is None:
        if module := _load(path.removeprefix("python.") if path.startswith("python.keras.") else path):
            return _showing_imports(module, path)
        if match := _CONTRIB_INNER.fullmatch(path):
            *_, folder, file = path.split(".")
            if file[0] == "_" or file[0].isupper():  # a name that the file before it lacks, not a file
                return None
            sources = [f"{match[1]}.{folder}.{file}", f"{match[1]}.{file}", match[1]]
        elif path in _folders() or path in module_paths():
            sources = ["."] if path.startswith("python") else []  # and what the rule for its folder says
    if sources and path in _folders() and next(_load_all(sources), None) is None:
        sources = []  # nothing but a folder above modules that are there
    if sources is None or (sources and next(_load_all(sources), None) is None):
        return None
    if len(sources) == 1 and (sources[0].startswith(("legacy.inner.", "tools.")) or path in SAME):
        # All there is of it, so that a program can set its names, and run it.
        return _showing_imports(_load(sources[0]), path)
    return _Served(fullname, path, sources)


def _module_of_two(path: str) -> types.ModuleType | None:
    """`tensorflow.compat.v2.PATH` as a module: a namespace of that interface; where it has none, that of tf."""
    try:
        found = functools.reduce(getattr, path.split("."), everflow.compat.v2)
    except AttributeError:
        return _resolve(f"tensorflow.{path}", path) if path in module_paths() else None
    return found if isinstance(found, types.ModuleType) else None


def _where_else(name: str) -> str:
    """What to tell somebody who looks for a name in a module of TensorFlow's that has it not here: who has it."""
    public = [path for path in api_names.ending_in(name) if api_names.resolve(everflow, path) is not None]
    if public:
        return f": use {' or '.join(f'tf.{path}' for path in public[:3])}"
    return f" (Everflow {EVERFLOW_VERSION} doesn't have it yet)"


def _missing(fullname: str, path: str) -> str:
    """What to tell somebody who imports a path that isn't there."""
    if path in module_paths():
        return f"No module named {fullname!r} in Everflow {EVERFLOW_VERSION}; TensorFlow 1.15 has it"
    folder, _, name = path.rpartition(".")
    within = any(known.startswith(f"{folder}.") for known in module_paths())
    if folder in module_paths() and not (name.islower() and within):  # a name rather than a module
        return f"cannot import name {name!r} from 'tensorflow.{folder}'{_where_else(name)}"
    near = difflib.get_close_matches(path, module_paths(), 2, 0.8)
    hint = f": TensorFlow 1.15 has {' and '.join(f'tensorflow.{n}' for n in near)}" if near else ""
    return f"No module named {fullname!r}{hint or f' in TensorFlow 1.15, nor in Everflow {EVERFLOW_VERSION}'}"


def _in_from_import() -> bool:
    """Whether `from a import b` asks for the module that a finder looks for, and not `import a.b`."""
    frame: types.FrameType | None = sys._getframe(2)  # what called the finder
    while frame is not None and frame.f_code.co_filename.startswith("<frozen importlib"):
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back
    return False


class _Finder(importlib.abc.MetaPathFinder):
    """Finds tensorflow and everything below it, before the finders that look at sys.path."""

    def find_spec(self, fullname, path=None, target=None):
        root, _, rest = fullname.partition(".")
        if root not in _ROOTS:
            return None
        module = _resolve(fullname, rest)
        if module is None:
            # `from a import b` passes over an error whose name is "a.b", and says nothing of use then.
            raise ModuleNotFoundError(_missing(fullname, rest), name=rest if _in_from_import() else fullname)
        return alias_spec(fullname, module)


def installed_tensorflow() -> str | None:
    """Where a real TensorFlow is installed, if one is; `import tensorflow` doesn't reach it from here on."""
    spec = importlib.machinery.PathFinder.find_spec("tensorflow")
    return spec.origin if spec else None


def install() -> None:
    """From now on `import tensorflow` gives everflow."""
    loaded = sys.modules.get("tensorflow")
    if loaded is not None and loaded is not everflow:
        raise ImportError(
            f"TensorFlow is already imported from {getattr(loaded, '__file__', '?')}: import everflow.as_tensorflow before it"
        )
    sys.modules["tensorflow"] = everflow
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())

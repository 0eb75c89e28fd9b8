"""Run a program as `python` would, with everflow as its tensorflow.

everflow run train.py --steps=100
everflow run -m package.module --steps=100
everflow run -c "import tensorflow as tf; print(tf.__version__)"
"""

from __future__ import annotations

import argparse
import ast
import functools
import importlib.util
import io
import os
import runpy
import sys
import types
from collections.abc import Callable

from everflow.cli import inheritance, preparing
from everflow.cli.preparing import Manner
from everflow.legacy.paths import installed_tensorflow
from everflow.platform import tracebacks
from everflow.version import EVERFLOW_VERSION

USAGE = "everflow run [-v] [--tf0 | --tf1] [--py2] (SCRIPT | -m MODULE | -c CODE | -) [ARGUMENT ...]"
_HERE = os.path.dirname(os.path.abspath(__file__))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="say what serves as tensorflow, and where a real one is left aside"
    )
    version = parser.add_mutually_exclusive_group()
    for number, what in ((0, "0.12, as programs of 2016 mean them"), (1, "1.15, whatever the program looks like")):
        version.add_argument(
            f"--tf{number}",
            dest="version",
            action="store_const",
            const=number,
            help=f"names mean what they do in {what}",
        )
    parser.add_argument("--py2", action="store_true", help="take the program for Python 2's")
    # Everything from the program's name on is its own, flags included.
    parser.add_argument(
        "-m", dest="module", nargs=argparse.REMAINDER, metavar="MODULE", help="a module to run, and its arguments"
    )
    parser.add_argument(
        "-c", dest="code", nargs=argparse.REMAINDER, metavar="CODE", help="code to run, and its arguments"
    )
    parser.add_argument(
        "script",
        nargs=argparse.REMAINDER,
        metavar="SCRIPT",
        help="a script to run, or `-` for stdin, and its arguments",
    )


def main(args: argparse.Namespace) -> int:
    programs = [
        (run, words)
        for run, words in ((_run_module, args.module), (_run_text, args.code), (_run_script, args.script))
        if words
    ]
    if not programs:
        print(f"usage: {USAGE}", file=sys.stderr)
        return 2
    from everflow import as_tensorflow  # noqa: F401  changes this process, which is the program's from here on

    if args.verbose:
        _say_what_serves()
    inheritance.leave()
    run, (program, *arguments) = programs[0]
    return _guarded(functools.partial(run, Manner(args.py2, args.version)), program, arguments)


def _say_what_serves() -> None:
    import everflow  # loaded when first needed

    print(
        f"everflow: tensorflow is Everflow {EVERFLOW_VERSION} in {os.path.dirname(everflow.__file__)}", file=sys.stderr
    )
    if installed := installed_tensorflow():
        print(f"everflow: the TensorFlow in {os.path.dirname(installed)} is not used", file=sys.stderr)


def _guarded(run: Callable[[str, list[str]], None], program: str, arguments: list[str]) -> int:
    """Run the program; its exit code. What it raises is shown as Python shows it, without our frames."""
    try:
        run(program, arguments)
    except SystemExit as e:
        # Left to Python: it knows what each kind of code means.
        raise e.with_traceback(None) from None
    except KeyboardInterrupt as e:
        # Left to Python too: its process then dies of SIGINT, which is what shells and launchers look for.
        _show(e)
        sys.excepthook = lambda *shown: None
        raise
    except BaseException as e:
        _show(e)
        return 1
    return 0


def _run_text(manner: Manner, source: str, arguments: list[str]) -> None:
    _run_code(manner, source, "<string>", ["-c", *arguments], path="")


def _run_script(manner: Manner, path: str, arguments: list[str]) -> None:
    if path == "-":
        _run_code(manner, sys.stdin.read(), "<stdin>", ["-", *arguments], path="")
        return
    if os.path.isdir(path) or path.endswith((".zip", ".pyz")):
        sys.argv = [path, *arguments]
        runpy.run_path(path, run_name="__main__")
        return
    try:
        with io.open_code(os.path.abspath(path)) as f:
            source = f.read()
    except OSError as e:
        print(
            f"everflow run: can't open file {os.path.abspath(path)!r}: [Errno {e.errno}] {e.strerror}", file=sys.stderr
        )
        raise SystemExit(2) from e
    folder, file = os.path.dirname(os.path.realpath(path)), os.path.abspath(path)
    _run_code(manner, source, path, [path, *arguments], path=folder, file=file)


def _run_code(
    manner: Manner, source: str | bytes, filename: str, argv: list[str], path: str, file: str | None = None
) -> None:
    module = types.ModuleType("__main__")
    module.__dict__.update(__builtins__=__builtins__, __spec__=None)
    if file is not None:
        module.__file__ = file
        module.__dict__["__cached__"] = None
    sys.modules["__main__"] = module
    sys.argv = argv
    _set_first_path(path)
    code = preparing.compiled(source, file or filename, path or os.getcwd(), manner)
    module.__dict__.update(preparing.names_of(manner))
    exec(code, module.__dict__)


def _run_module(manner: Manner, name: str, arguments: list[str]) -> None:
    _set_first_path(os.getcwd())
    sys.argv = ["-m", *arguments]
    try:
        found = importlib.util.find_spec(name)
    except ImportError as e:
        print(
            f"everflow run: error while finding module specification for {name!r} ({type(e).__name__}: {e})",
            file=sys.stderr,
        )
        raise SystemExit(1) from e
    if found is None:
        print(f"everflow run: No module named {name}", file=sys.stderr)
        raise SystemExit(1)
    preparing.prepare_module(found, os.getcwd(), manner)
    runpy.run_module(name, run_name="__main__", alter_sys=True)


def _set_first_path(path: str) -> None:
    """Where Python would look for the program's own modules, in place of the directory of the `everflow` command."""
    scripts = os.path.dirname(os.path.abspath(sys.argv[0])) if sys.argv else None
    if (
        sys.path
        and scripts
        and os.path.realpath(sys.path[0] or ".") in (os.path.realpath(scripts), os.path.dirname(_HERE))
    ):
        sys.path[0] = path
    else:
        sys.path.insert(0, path)


def _show(error: BaseException) -> None:
    """Print a traceback that starts in the program."""
    frames = error.__traceback__
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    sys.stdout.flush()
    if sys.excepthook is not sys.__excepthook__:
        sys.excepthook(type(error), error, frames)
    else:
        print(*tracebacks.lines(error, frames), sep="\n", file=sys.stderr)
    for line in preparing.told(error):
        print(line, file=sys.stderr)


def _is_ours(filename: str) -> bool:
    ours = (__file__, preparing.__file__, ast.__file__)
    return os.path.abspath(filename) in ours or filename.startswith("<frozen ") or filename == runpy.__file__

"""Say what this machine has: Python, torch, cores, memory, optional packages; what will be used, whether it works, and what
to install for what is missing.

everflow doctor
"""

from __future__ import annotations

import argparse
import importlib.metadata
import importlib.util
import os
import platform
import sys
import time
from collections.abc import Callable

from rich.markup import escape
from rich.table import Table

import everflow as tf
from everflow.cli import terminal
from everflow.legacy.paths import installed_tensorflow
from everflow.version import EVERFLOW_VERSION, VERSION

# An optional package, the name it is installed by, and what it is for.
OPTIONAL = (
    ("h5py", 'h5py (or "everflow[keras]")', "Keras weights and models in HDF5"),
    ("tensorboard", 'tensorboard (or "everflow[tensorboard]")', "looking at logs in a browser"),
    ("matplotlib", 'matplotlib (or "everflow[plot]")', "everflow plot --to FILE, and programs that draw"),
    ("ipykernel", 'ipykernel (or "everflow[notebook]")', "notebooks: everflow kernel install"),
    ("pydot", 'pydot (or "everflow[plot]")', "tf.keras.utils.plot_model"),
    ("pandas", "pandas", "input functions of data frames"),
    ("lmdb", 'lmdb (or "everflow[lmdb]")', "LMDB files"),
)
_NEEDED = ("torch", "numpy", "protobuf", "llvmlite", "grpcio", "scipy", "pillow")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-test", action="store_true", help="only look, run nothing")


def main(args: argparse.Namespace) -> int:
    console = terminal.console()
    console.print(f"Everflow {EVERFLOW_VERSION}, which follows TensorFlow {VERSION}", style="bold")
    console.print(_facts())
    missing = [row for row in OPTIONAL if importlib.util.find_spec(row[0]) is None]
    if missing:
        console.print("\nNot installed; what for, and how:")
        console.print(_rows((what, escape(f"pip install {name}")) for _, name, what in missing))
    if args.no_test:
        return 0
    console.print()
    failed = 0
    for name, check in _CHECKS.items():
        before = time.perf_counter()
        try:
            said = check()
        except Exception as e:
            failed += 1
            why = escape(f"{type(e).__name__}: {e}".splitlines()[0])
            console.print(f"[red]fails[/red]  {name}: {why}")
        else:
            console.print(f"[green]works[/green]  {name}: {said} ({time.perf_counter() - before:.1f} s)")
    return 1 if failed else 0


def _rows(rows) -> Table:
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for row in rows:
        table.add_row(*row)
    return table


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "missing"


def _memory() -> str:
    try:
        return f"{os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES') / 2**30:.1f} GB"
    except (ValueError, OSError, AttributeError):  # not known on every system
        return "not known"


def _cores() -> str:
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{os.cpu_count()}, of which {usable} may be used"


def _real_tensorflow() -> str:
    found = installed_tensorflow()
    return (
        f"{os.path.dirname(found)}; `everflow run` leaves it aside" if found else "none; `everflow run` serves the name"
    )


def _facts() -> Table:
    environment = sys.prefix if sys.prefix != sys.base_prefix else f"{sys.prefix} (no virtual environment)"
    return _rows(
        [
            ("Python", f"{platform.python_version()} in {environment}"),
            ("System", f"{platform.system()} {platform.machine()}"),
            ("Cores", _cores()),
            ("Memory", _memory()),
            *((name, _version(name)) for name in _NEEDED),
            ("tensorflow", _real_tensorflow()),
        ]
    )


def _sessions() -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.get_variable("x", initializer=[3.0])
        step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(x))
        sess.run(tf.global_variables_initializer())
        for _ in range(50):
            sess.run(step)
        value = float(sess.run(x)[0])
    if abs(value) > 1e-3:
        raise ArithmeticError(f"the minimum of x * x was found at {value}")
    return "a variable was trained"


def _devices() -> str:
    with tf.Graph().as_default(), tf.Session() as sess:
        return ", ".join(device.name for device in sess.list_devices())


def _machine_code() -> str:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    return f"LLVM {'.'.join(map(str, llvm.llvm_version_info))} for {llvm.get_host_cpu_name()}"


_CHECKS: dict[str, Callable[[], str]] = {"devices": _devices, "machine code": _machine_code, "a session": _sessions}

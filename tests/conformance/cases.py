"""Finding cases and running one, in a process of its own, so that cases can't touch one another."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import json
import os
import pathlib
import resource
import shutil
import signal
import tempfile
import traceback

from tests.chance import steady
from tests.conformance.records import Out

HERE = pathlib.Path(__file__).parent
EXPECTED_FAILURES = HERE / "expected_failures.txt"
# Seconds of a processor's time that a case may take, and of time as such, for one that waits for something that never
# comes. The second is long: others may use the machine, and with machine code always on the compiler has its share.
MOST_WORK, LONGEST = 90, 900


def names(*patterns: str) -> list[str]:
    """The cases, as AREA/NAME, that contain one of the patterns; all without patterns."""
    found = sorted(
        path.relative_to(HERE / "cases").with_suffix("").as_posix() for path in (HERE / "cases").glob("*/*.py")
    )
    return [name for name in found if not patterns or any(p in name for p in patterns)]


def golden(name: str) -> dict:
    """What TensorFlow 1.15.5 showed."""
    with gzip.open(HERE / "golden" / f"{name}.json.gz", "rt") as f:
        return json.load(f)


def expected_failures() -> dict[str, set[str]]:
    """{case: the verdicts that are not good yet}, from the checked-in list."""
    rows = (
        line.partition(":") for line in EXPECTED_FAILURES.read_text().splitlines() if line and not line.startswith("#")
    )
    return {name: set(kinds.split()) for name, _, kinds in rows}


def load_tensorflow():
    """everflow as tensorflow, with torch, ops and kernels loaded, so that every fork has them."""
    import torch

    import everflow.kernels.registry
    import everflow.layers
    import everflow.train
    import tests.served  # noqa: F401
    from everflow.framework import registry

    torch.set_num_threads(1)
    registry.load_all()
    everflow.kernels.registry.load_all()
    return importlib.import_module("tensorflow")


def _run(tf, path):
    spec = importlib.util.spec_from_file_location("case", path)
    module = importlib.util.module_from_spec(spec)
    out = Out(tf)
    os.chdir(out.dir)
    error = None
    try:
        spec.loader.exec_module(module)
        if getattr(module, "EAGER", False):
            tf.enable_eager_execution()
            module.run(out)
        else:
            with tf.Graph().as_default():
                module.run(out)
    except BaseException:
        error = traceback.format_exc(limit=-6)
    finally:
        os.chdir("/")
        shutil.rmtree(out.dir, ignore_errors=True)
    return out.records, error


def start(tf, name: str) -> tuple[int, str]:
    """Fork a child that runs a case; (its process id, the file it reports to)."""
    handle, report = tempfile.mkstemp(prefix="report-")
    os.close(handle)
    pid = os.fork()
    if pid:
        return pid, report
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (MOST_WORK, MOST_WORK))
        signal.alarm(LONGEST)
        steady(name)
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, 1)
        os.dup2(devnull, 2)
        found = _run(tf, HERE / "cases" / f"{name}.py")
        with open(report, "w") as f:
            json.dump(found, f)
    finally:
        os._exit(0)


def collect(report: str, status: int) -> tuple[dict, str | None]:
    """(records, error) that a child reported."""
    try:
        with open(report) as f:
            records, error = json.load(f)
        return records, error
    except ValueError:
        limits = f"24 or 9: it worked for more than {MOST_WORK} seconds, 14: it took longer than {LONGEST}"
        return {}, f"the process ended with status {status} ({limits})"
    finally:
        os.unlink(report)

"""Give Jupyter a kernel in which `import tensorflow` gives everflow.

everflow kernel install --user
everflow kernel install --sys-prefix --name my-kernel
everflow kernel remove --user
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import re
import shutil
import sys
import tempfile

USAGE = (
    "everflow kernel (install | remove) [--user | --sys-prefix | --prefix FOLDER] [--name NAME] [--display-name TEXT]"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["install", "remove"], help="what to do")
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--user", action="store_true", help="for this user (where nothing else is said)")
    where.add_argument("--sys-prefix", action="store_true", help=f"for Jupyter in this environment, {sys.prefix}")
    where.add_argument("--prefix", metavar="FOLDER", help="for Jupyter in the environment in a folder")
    parser.add_argument("--name", default="everflow", help="the kernel's name for Jupyter (everflow)")
    parser.add_argument("--display-name", metavar="TEXT", default="Python (Everflow)", help="its name for people")


def _data_folder() -> str:
    """Where Jupyter looks for what a user has installed."""
    if given := os.environ.get("JUPYTER_DATA_DIR"):
        return given
    home = os.path.expanduser("~")
    if sys.platform == "darwin":
        return os.path.join(home, "Library", "Jupyter")
    if sys.platform == "win32":
        return os.path.join(os.environ.get("APPDATA", home), "jupyter")
    return os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.join(home, ".local", "share"), "jupyter")


def main(args: argparse.Namespace) -> int:
    prefix = sys.prefix if args.sys_prefix else args.prefix
    kernels = os.path.join(os.path.join(prefix, "share", "jupyter") if prefix else _data_folder(), "kernels")
    try:
        if not re.fullmatch(r"[\w.-]+", args.name, re.ASCII):
            raise ValueError(
                f"a kernel's name has letters, digits, dots, dashes and underscores only, not {args.name!r}"
            )
        folder = os.path.join(kernels, args.name.lower())
        said = install(folder, args.display_name) if args.what == "install" else remove(folder)
    except (OSError, ValueError) as e:
        print(f"everflow kernel: {e}", file=sys.stderr)
        return 1
    print(said)
    return 0


def _is_ours(folder: str) -> bool:
    try:
        with open(os.path.join(folder, "kernel.json"), encoding="utf-8") as file:
            return "everflow" in json.load(file)["argv"]
    except (FileNotFoundError, KeyError, ValueError):
        return False


def install(folder: str, display_name: str) -> str:
    """Write the kernel's description, whole or not at all."""
    if importlib.util.find_spec("ipykernel") is None:
        raise ValueError("a kernel needs ipykernel: pip install ipykernel")
    if os.path.exists(folder) and not _is_ours(folder):
        raise ValueError(f"{folder} has a kernel that is not everflow's; choose another --name")
    launch = [sys.executable, "-m", "everflow", "run", "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    launch += ["--ext", "everflow"]  # pictures, %%tf, and short tracebacks
    spec = {"argv": launch, "display_name": display_name, "language": "python", "metadata": {"debugger": True}}
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    staged = tempfile.mkdtemp(prefix=".everflow-", dir=os.path.dirname(folder))
    try:
        with open(os.path.join(staged, "kernel.json"), "w", encoding="utf-8") as file:
            json.dump(spec, file, indent=1)
        os.chmod(staged, 0o755)
        if os.path.exists(folder):
            shutil.rmtree(folder)
        os.rename(staged, folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    return f"Jupyter has the kernel {display_name!r} in {folder}"


def remove(folder: str) -> str:
    """Take the kernel away."""
    if not _is_ours(folder):
        raise ValueError(f"{folder} has no kernel of everflow's")
    shutil.rmtree(folder)
    return f"The kernel in {folder} is gone"

"""Run a program and say where its time goes.

everflow profile input train.py --steps=100     its input pipelines, stage by stage, and what to change
"""

from __future__ import annotations

import argparse
import os

from everflow.cli import run

USAGE = "everflow profile input (SCRIPT | -m MODULE | -c CODE | -) [ARGUMENT ...]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("what", choices=["input"], help="what to look at")
    run.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    os.environ["EVERFLOW_PROFILE_INPUT"] = "1"  # the report comes when the program is over
    return run.main(args)

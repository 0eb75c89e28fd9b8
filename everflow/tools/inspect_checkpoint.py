"""Print the tensors of a checkpoint.

python -m everflow.tools.inspect_checkpoint --file_name=model-100 [--tensor_name=w | --all_tensors | --all_tensor_names]
"""

from __future__ import annotations

import argparse
import re
import sys

import numpy as np

from everflow.framework.errors import OpError
from everflow.tools.graph_files import add_flags
from everflow.train.checkpoint_reader import NewCheckpointReader

_USAGE = "Usage: inspect_checkpoint --file_name=CHECKPOINT [--tensor_name=NAME | --all_tensors | --all_tensor_names]"


def _count(shapes):
    return sum(int(np.prod(shape)) for shape in shapes.values())


def _print_counts(reader, exclude):
    shapes = reader.get_variable_to_shape_map()
    left_out = {}
    if exclude:
        left_out = {name: shape for name, shape in shapes.items() if re.search(exclude, name)}
        print(f"# Excluding {len(left_out)} tensors ({_count(left_out)} params) that match {exclude} when counting.")
    print(f"# Total number of params: {_count(shapes) - _count(left_out)}")


def print_tensors_in_checkpoint_file(
    file_name, tensor_name, all_tensors, all_tensor_names=False, count_exclude_pattern=""
):
    """Print one tensor, all of them, all names, or (with none of these) a line for each with its type and shape; then
    how many numbers there are.

    A file that can't be read is told on stdout.
    """
    try:
        reader = NewCheckpointReader(file_name)
        if all_tensors or all_tensor_names:
            for name in sorted(reader.get_variable_to_shape_map()):
                print("tensor_name: ", name)
                if all_tensors:
                    print(reader.get_tensor(name))
        elif not tensor_name:
            print(reader.debug_string().decode())
        else:
            print("tensor_name: ", tensor_name)
            print(reader.get_tensor(tensor_name))
        _print_counts(reader, count_exclude_pattern)
    except OpError as e:
        print(e)


def parse_numpy_printoption(kv_str):
    """Set one option of `numpy.set_printoptions` from a text such as "precision=2"."""
    name, equals, text = kv_str.partition("=")
    if not equals or not name or not text:
        raise argparse.ArgumentTypeError(f"'{kv_str}' is not in the form k=v.")
    known = np.get_printoptions()
    if name not in known:
        raise argparse.ArgumentTypeError(f"'{name}' is not a valid printoption.")
    kind = type(known[name])
    if kind is type(None):
        raise argparse.ArgumentTypeError(f"The print option {name!r} has no type that a command line could set.")
    try:
        value = kind(text) if kind is not bool else text == "True"
    except ValueError as e:
        raise argparse.ArgumentTypeError(str(e)) from e
    np.set_printoptions(**{name: value})


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file_name", default="", help="the checkpoint, without .index or .data")
    parser.add_argument("--tensor_name", default="", help="a tensor to print")
    parser.add_argument("--count_exclude_pattern", default="", help="a regular expression of tensors not to count")
    add_flags(
        parser,
        """
        --all_tensors      | false | print names and values of all tensors
        --all_tensor_names | false | print the names of all tensors
        """,
    )
    parser.add_argument(
        "--printoptions", nargs="*", type=parse_numpy_printoption, help="k=v for numpy.set_printoptions"
    )
    args = parser.parse_args(argv)
    if not args.file_name:
        print(_USAGE)
        sys.exit(1)
    shown = args.tensor_name, args.all_tensors, args.all_tensor_names
    print_tensors_in_checkpoint_file(args.file_name, *shown, count_exclude_pattern=args.count_exclude_pattern)


if __name__ == "__main__":
    main()

"""Look into SavedModels and run them from a command line.

python -m everflow.tools.saved_model_cli show --dir export --all
python -m everflow.tools.saved_model_cli run --dir export --tag_set serve --signature_def serving_default --input_exprs
'x=np.ones((1,2))'
"""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import os
import re
import sys

import numpy as np

from everflow.framework import dtypes
from everflow.framework.graph import Graph
from everflow.framework.type_specs import TensorSpec
from everflow.platform import file_io
from everflow.platform.signatures import takes
from everflow.protos.example_pb2 import Example
from everflow.runtime.session import Session
from everflow.saved_model import structured_values
from everflow.saved_model.loader import load
from everflow.tools import saved_model_utils
from everflow.tools.graph_files import add_flags, comma_separated
from everflow.tools.saved_model_utils import get_meta_graph_def

# Ops that reach outside of the model: whoever serves a model from elsewhere wants to know.
_OP_BLACKLIST = ("WriteFile", "ReadFile", "PrintV2")


def get_signature_def_map(saved_model_dir, tag_set):
    """{key: SignatureDef} of a meta graph."""
    return get_meta_graph_def(saved_model_dir, tag_set).signature_def


# --- show ----------------------------------------------------------------------------------------


def _heading(holder, what):
    return f"{holder} contains the following {what}:"


def _show_tag_sets(saved_model_dir):
    print(_heading("The given SavedModel", "tag-sets"))
    for tags in sorted(saved_model_utils.get_saved_model_tag_sets(saved_model_dir), key=len):
        print(", ".join(sorted(tags)))


def _show_signature_def_map_keys(saved_model_dir, tag_set):
    print("The given SavedModel MetaGraphDef contains SignatureDefs with the following keys:")
    for key in sorted(get_signature_def_map(saved_model_dir, tag_set)):
        print(f'SignatureDef key: "{key}"')


def _show_inputs_outputs(saved_model_dir, tag_set, signature_def_key, indent=0):
    graph = get_meta_graph_def(saved_model_dir, tag_set)
    # A key that is not there has nothing to show.
    signature = graph.signature_def[signature_def_key]
    margin = "  " * indent
    for kind, tensors in (("input", signature.inputs), ("output", signature.outputs)):
        print(margin + _heading("The given SavedModel SignatureDef", f"{kind}(s)"))
        for key, info in sorted(tensors.items()):
            print(f"{margin}  {kind}s['{key}'] tensor_info:")
            _print_tensor_info(info, indent + 1)
    print(f"{margin}Method name is: {signature.method_name}")


def _print_tensor_info(info, indent=0):
    margin = "  " * indent
    print(f"{margin}    dtype: {dtypes.as_dtype(info.dtype).enum_name if info.dtype else 'DT_INVALID'}")
    if info.tensor_shape.unknown_rank:
        shape = "unknown_rank"
    else:
        shape = "(" + ", ".join(str(d.size) for d in info.tensor_shape.dim) + ")"
    print(f"{margin}    shape: {shape}")
    print(f"{margin}    name: {info.name}")


def _show_all(saved_model_dir):
    for tags in saved_model_utils.get_saved_model_tag_sets(saved_model_dir):
        tag_set = ", ".join(tags)
        print("\n" + _heading(f"MetaGraphDef with tag-set: '{tag_set}'", "SignatureDefs"))
        for key in sorted(get_signature_def_map(saved_model_dir, ",".join(tags))):
            print(f"\nsignature_def['{key}']:")
            _show_inputs_outputs(saved_model_dir, ",".join(tags), key, indent=1)
        _show_defined_functions(get_meta_graph_def(saved_model_dir, ",".join(tags)))


def _show_defined_functions(meta_graph):
    """The traced functions of the saved object, each with the arguments that it can be called with."""
    if not meta_graph.HasField("object_graph_def"):
        return
    objects = meta_graph.object_graph_def
    functions = {
        child.local_name: objects.nodes[child.node_id].function
        for child in objects.nodes[0].children
        if objects.nodes[child.node_id].WhichOneof("kind") == "function"
    }
    print("\nDefined Functions:", end="")
    for name, function in sorted(functions.items()):
        print(f"\n  Function Name: '{name}'")
        for number, concrete in enumerate(sorted(function.concrete_functions), 1):
            print(f"    Option #{number}\n      Callable with:")
            signature = objects.concrete_functions[concrete].canonicalized_input_signature
            positional, named = structured_values.decode(signature)
            _print_arguments(positional, "Argument")
            _print_arguments(sorted(named), "Named Argument")


def _print_arguments(arguments, kind):
    for number, value in enumerate(arguments, 1):
        print(f"        {kind} #{number}")
        if isinstance(value, TensorSpec):
            print(f"          {value.name}: {value!r}")
            continue
        print(f"          DType: {type(value).__name__}")
        # Backspaces take the last comma away on a terminal.
        if isinstance(value, dict):
            shown = "{" + "".join(f"{key!r}: {each!r}, " for key, each in value.items()) + "\b\b}"
        elif isinstance(value, (str, list, tuple)):
            shown = "[" + "".join(f"{each!r}, " for each in value) + "\b\b]"
        else:
            shown = str(value)
        print(f"          Value: {shown}")


def show(args):
    """The `show` command: tag sets, signatures of one, or one signature; the more is named, the closer is the look."""
    looks = (_show_tag_sets, _show_signature_def_map_keys, _show_inputs_outputs)
    named = list(itertools.takewhile(lambda name: name is not None, (args.tag_set, args.signature_def)))
    _show_all(args.dir) if args.all else looks[len(named)](args.dir, *named)


# --- run -----------------------------------------------------------------------------------------


def preprocess_inputs_arg_string(inputs_str):
    """{key: (file, name in it or None)} of a text like "a=f.npy;b=g.npz[k]"."""
    found = {}
    for text in (part for part in inputs_str.split(";") if part):
        match = re.fullmatch(r"([^=]+)=([^\[\]]+)(?:\[([^\[\]]+)\])?", text)
        if not match:
            raise RuntimeError(f"--inputs has {text!r}, which is neither KEY=FILE nor KEY=FILE[NAME].")
        found[match.group(1)] = (match.group(2), match.group(3))
    return found


def preprocess_input_exprs_arg_string(input_exprs_str):
    """{key: value} of a text like "a=np.ones(2);b=[1,2]", as Python says."""
    # Typed by the user on the command line, never read out of a file.
    return {
        key: eval(text, {"np": np, "numpy": np}) for key, text in _keyed("input_exprs", input_exprs_str, "EXPRESSION")
    }


def _keyed(option, given, what):
    """(key, text) of each part of a command line's "KEY=TEXT;KEY=TEXT"."""
    for part in filter(None, given.split(";")):
        key, equals, text = part.partition("=")
        if not equals:
            raise RuntimeError(f"--{option} has {part!r}, which is not KEY={what}.")
        yield key, text


def preprocess_input_examples_arg_string(input_examples_str):
    """{key: [serialized Example, …]} of a text like 'a=[{"id": [26], "weights": [0.5, 0.5]}]'."""
    found = {}
    for key, literal in _keyed("input_examples", input_examples_str, "[{FEATURE: VALUES}, ...]"):
        examples = ast.literal_eval(literal)
        if not isinstance(examples, list):
            raise ValueError(f"--input_examples takes a list with a dict for each example; {key!r} is {examples!r}.")
        found[key] = [_create_example_string(example) for example in examples]
    return found


def _create_example_string(example_dict):
    example = Example()
    for name, values in example_dict.items():
        feature = example.features.feature[name]
        if isinstance(values[0], float):
            feature.float_list.value.extend(values)
        elif isinstance(values[0], (str, bytes)):
            feature.bytes_list.value.extend(v.encode() if isinstance(v, str) else v for v in values)
        elif isinstance(values[0], int):
            feature.int64_list.value.extend(values)
        else:
            raise ValueError(f"A feature of a tf.train.Example has strings, floats or integers, not {values[0]!r}.")
    return example.SerializeToString()


def load_inputs_from_input_arg_string(inputs_str, input_exprs_str, input_examples_str):
    """{key: value} from the three kinds of arguments; later kinds win."""
    found = {}
    for key, (path, name) in preprocess_inputs_arg_string(inputs_str).items():
        found[key] = _load(path, name)
    for values in (
        preprocess_input_exprs_arg_string(input_exprs_str),
        preprocess_input_examples_arg_string(input_examples_str),
    ):
        for key, value in values.items():
            if key in found:
                print(f"input_key {key} has been specified twice. Value in the later argument will be used.")
            found[key] = value
    return found


def _load(path, name):
    try:
        with file_io.FileIO(path, "rb") as file:
            data = np.load(io.BytesIO(file.read()), allow_pickle=False)
    except ValueError as e:
        raise RuntimeError(
            f"{path} is neither .npy nor .npz; pickled data is not read, as it can run any code: {e}"
        ) from e
    if isinstance(data, np.ndarray):
        if name:
            print(f"{path} holds one array without a name: [{name}] is ignored.")
        return data
    if name:
        if name not in data:
            raise RuntimeError(f"{path} has no array named {name!r}; it has {data.files}.")
        return data[name]
    if len(data.files) != 1:
        raise RuntimeError(f"{path} holds {len(data.files)} arrays; write {path}[NAME] for one of {data.files}.")
    return data[data.files[0]]


@takes(
    """saved_model_dir, tag_set, signature_def_key, input_tensor_key_feed_dict, outdir, overwrite_flag, worker=None,
    init_tpu=False, tf_debug=False"""
)
def run_saved_model_with_feed_dict(
    saved_model_dir, tag_set, signature_def_key, input_tensor_key_feed_dict, outdir, overwrite_flag, worker, **asked
):
    """Run one signature and print what comes out; with `outdir` each output is written to a .npy file as well."""
    if any(asked.values()):
        raise NotImplementedError("saved_model_cli runs without TPUs and without the debugger")
    signature = get_meta_graph_def(saved_model_dir, tag_set).signature_def[signature_def_key]
    for key in input_tensor_key_feed_dict:
        if key not in signature.inputs:
            raise ValueError(
                f'"{key}" is not a valid input key of this signature, which has {sorted(signature.inputs)}.'
            )
    feeds = {signature.inputs[key].name: value for key, value in input_tensor_key_feed_dict.items()}
    keys = sorted(signature.outputs)
    with Graph().as_default() as graph, Session(worker or "", graph=graph) as sess:
        load(sess, comma_separated(tag_set), saved_model_dir)
        values = sess.run([signature.outputs[key].name for key in keys], feed_dict=feeds)
    for key, value in zip(keys, values):
        print(f"Result for output key {key}:\n{value}")
        if outdir:
            _save(outdir, key, value, overwrite_flag)


def _save(outdir, key, value, overwrite):
    os.makedirs(outdir, exist_ok=True)
    path = os.path.join(outdir, key + ".npy")
    if not overwrite and os.path.exists(path):
        raise RuntimeError(f"Output file {path} already exists; --overwrite replaces it.")
    value = np.asarray(value)
    # Strings as fixed-length bytes: object arrays would be pickled.
    np.save(path, value.astype(np.bytes_) if value.dtype == object else value)
    print(f"Output {key} is saved to {path}")


def run(args):
    """The `run` command."""
    if not args.inputs and not args.input_exprs and not args.input_examples:
        raise AttributeError("Nothing to feed: give --inputs, --input_exprs or --input_examples.")
    feeds = load_inputs_from_input_arg_string(args.inputs, args.input_exprs, args.input_examples)
    model, saved = (args.dir, args.tag_set, args.signature_def), (args.outdir, args.overwrite)
    run_saved_model_with_feed_dict(*model, feeds, *saved, args.worker, args.init_tpu, args.tf_debug)


# --- scan ----------------------------------------------------------------------------------------


def scan_meta_graph_def(meta_graph_def):
    """Say whether a meta graph has ops that reach outside of the model."""
    found = {op.name for op in meta_graph_def.meta_info_def.stripped_op_list.op} & set(_OP_BLACKLIST)
    tags = list(meta_graph_def.meta_info_def.tags)
    what = f"contains the following blacklisted ops: {found}" if found else "does not contain blacklisted ops."
    print(f"MetaGraph with tag set {tags} {what}")


def scan(args):
    """The `scan` command: all meta graphs, or that of some tags."""
    if args.tag_set:
        scan_meta_graph_def(get_meta_graph_def(args.dir, args.tag_set))
    else:
        for graph in saved_model_utils.read_saved_model(args.dir).meta_graphs:
            scan_meta_graph_def(graph)


def create_parser():
    """The parser of the command line; what it parses has the command in `func`."""
    parser = argparse.ArgumentParser(description="saved_model_cli: look into SavedModels and run them")
    parser.add_argument("-v", "--version", action="version", version="0.1.0")
    parser.set_defaults(func=lambda args: parser.error("too few arguments"))
    commands = parser.add_subparsers(title="commands", description="valid commands", help="additional help")

    shown = commands.add_parser("show", description="Show tag sets, signatures, or one signature's inputs and outputs.")
    add_flags(
        shown,
        """
        --dir           | needed                      | the SavedModel
        --all           | switch                      | show all there is
        --tag_set       |                             | the tags of a graph, separated by commas
        --signature_def | metavar="SIGNATURE_DEF_KEY" | the key of a signature
        """,
    )
    shown.set_defaults(func=show)

    ran = commands.add_parser("run", description="Run a signature on values from files or from the command line.")
    add_flags(
        ran,
        """
        --dir            | needed | the SavedModel
        --tag_set        | needed | the tags of a graph, separated by commas
        --signature_def  | needed metavar="SIGNATURE_DEF_KEY" | the key of a signature
        --inputs         | text   | <input_key>=<file.npy> or <input_key>=<file.npz>[<name>], separated by ;
        --input_exprs    | text   | <input_key>=<Python expression>, with numpy as np, separated by ;
        --input_examples | text   | <input_key>=[{feature: values}, ...] as tf.train.Examples, separated by ;
        --outdir         |        | where to write outputs to
        --overwrite      | switch | whether to replace files that are there
        --tf_debug       | switch | not supported
        --worker         |        | the target of a session elsewhere
        --init_tpu       | switch | not supported
        """,
    )
    ran.set_defaults(func=run)

    scanned = commands.add_parser("scan", description="Look for ops that reach outside of the model.")
    scanned.add_argument("--dir", required=True, help="the SavedModel")
    scanned.add_argument("--tag_set", help="the tags of a graph, separated by commas")
    scanned.set_defaults(func=scan)

    converted = commands.add_parser("convert", description="Convert a SavedModel for TensorRT.")
    converted.add_argument("--dir", required=True, help="the SavedModel")
    converted.add_argument("--output_dir", required=True, help="where to write the converted one")
    converted.add_argument("--tag_set", required=True, help="the tags of a graph, separated by commas")
    converted.add_argument("method", choices=["tensorrt"], help="what to convert it for")
    converted.set_defaults(func=lambda args: converted.error("there is no TensorRT in Everflow, which has CPUs only"))
    return parser


def main():
    args = create_parser().parse_args()
    args.func(args)


if __name__ == "__main__":
    sys.exit(main())

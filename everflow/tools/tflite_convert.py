"""Convert a model to TensorFlow Lite, with the flags of TensorFlow's own tool.

python -m everflow.tools.tflite_convert --saved_model_dir=export --output_file=model.tflite
python -m everflow.tools.tflite_convert --graph_def_file=frozen.pb --input_arrays=x --output_arrays=y
--output_file=model.tflite
"""

from __future__ import annotations

import argparse
import sys

from everflow.framework.dtypes import float16, float32, uint8
from everflow.tools.graph_files import add_flags, comma_separated

_TYPES = {"FLOAT": float32, "QUANTIZED_UINT8": uint8}


_SOURCES = """
    --graph_def_file   | metavar="FILE"   | a frozen GraphDef, .pb or .pbtxt
    --saved_model_dir  | metavar="FOLDER" | a SavedModel
    --keras_model_file | metavar="FILE"   | a Keras model in an HDF5 file
"""
_SETTINGS = """
    --output_file                | needed metavar="FILE" | where to write the model
    --output_format              | formats               | a model, or a drawing of one
    --inference_type             | type default="FLOAT"  | floats, or bytes for a model trained with fake quantization
    --inference_input_type       | type                  | the type of the inputs where it is another one
    --input_arrays               |                       | names of inputs, separated by commas
    --input_shapes               |        | their shapes, numbers separated by commas, shapes by colons: 1,60,60,1:1,60
    --output_arrays              |                       | names of outputs, separated by commas
    --saved_model_tag_set        |                       | tags of the SavedModel's graph, separated by commas
    --saved_model_signature_key  |                       | the signature of the SavedModel
    --std_dev_values             |        | standard deviations of inputs that are bytes, separated by commas
    --mean_values                |                       | their means, separated by commas
    --default_ranges_min         | float                 | the least real of arrays without a range
    --default_ranges_max         | float                 | and the largest
    --post_training_quantize     | switch                | make the weights 8-bit integers
    --quantize_to_float16        | switch                | with --post_training_quantize: make them float16
    --drop_control_dependency    | switch                | as ever: control dependencies are not converted
    --reorder_across_fake_quant  | switch                | taken for compatibility; nothing is reordered
    --change_concat_input_ranges | truths                | let the parts of a concatenation share their range
    --allow_custom_ops           | switch                | let ops that have no built-in one be custom ops
    --target_ops                 |                       | sets of ops the model may use, separated by commas
    --dump_graphviz_dir          | metavar="FOLDER"      | where to write drawings of the conversion's stages
    --dump_graphviz_video        | switch                | taken for compatibility
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The tool's flags."""
    source = parser.add_mutually_exclusive_group(required=True)
    add_flags(source, _SOURCES)
    formats = {"choices": ["TFLITE", "GRAPHVIZ_DOT"], "default": "TFLITE"}
    truths = {"choices": ["TRUE", "FALSE"]}
    add_flags(parser, _SETTINGS, formats=formats, type={"choices": _TYPES}, float={"type": float}, truths=truths)


def _names(text):
    return comma_separated(text) if text else None


def _converter(args):
    from everflow import lite  # loads google_crc32c

    inputs, outputs = _names(args.input_arrays), _names(args.output_arrays)
    shapes = None
    if args.input_shapes:
        if not inputs:
            raise ValueError("--input_shapes are those of --input_arrays, which are not given")
        shapes = [[int(d) for d in shape.split(",") if d] for shape in args.input_shapes.split(":")]
        if len(shapes) != len(inputs):
            raise ValueError(f"--input_shapes has {len(shapes)} shapes for {len(inputs)} inputs")
        shapes = dict(zip(inputs, shapes, strict=True))
    if args.graph_def_file:
        if not inputs or not outputs:
            raise ValueError("--graph_def_file has no signature: --input_arrays and --output_arrays are required")
        return lite.TFLiteConverter.from_frozen_graph(args.graph_def_file, inputs, outputs, shapes)
    if args.keras_model_file:
        return lite.TFLiteConverter.from_keras_model_file(args.keras_model_file, inputs, shapes, outputs)
    tags = None if args.saved_model_tag_set is None else set(_names(args.saved_model_tag_set) or ())
    return lite.TFLiteConverter.from_saved_model(
        args.saved_model_dir, inputs, shapes, outputs, tags, args.saved_model_signature_key
    )


def _settings(converter, args) -> None:
    from everflow import lite  # loads google_crc32c

    converter.inference_type = _TYPES[args.inference_type]
    converter.inference_input_type = _TYPES[args.inference_input_type] if args.inference_input_type else None
    converter.output_format = getattr(lite.constants, args.output_format)
    if bool(args.std_dev_values) != bool(args.mean_values):
        raise ValueError("--mean_values and --std_dev_values must be used together")
    if args.mean_values:
        pairs = zip(_names(args.mean_values), _names(args.std_dev_values), strict=True)
        converter.quantized_input_stats = dict(
            zip(converter.get_input_arrays(), ((float(m), float(d)) for m, d in pairs), strict=True)
        )
    if (args.default_ranges_min is None) != (args.default_ranges_max is None):
        raise ValueError("A range has two ends: give --default_ranges_max and --default_ranges_min")
    if args.default_ranges_min is not None:
        converter.default_ranges_stats = (args.default_ranges_min, args.default_ranges_max)
    if args.quantize_to_float16 and not args.post_training_quantize:
        raise ValueError("--quantize_to_float16 must be used with --post_training_quantize")
    if args.post_training_quantize:
        converter.optimizations = [lite.Optimize.DEFAULT]
        converter.target_spec.supported_types = [float16] if args.quantize_to_float16 else []
    if args.target_ops:
        converter.target_spec.supported_ops = {lite.OpsSet(name) for name in _names(args.target_ops)}
    converter.allow_custom_ops = args.allow_custom_ops
    converter.change_concat_input_ranges = args.change_concat_input_ranges == "TRUE"
    converter.dump_graphviz_dir = args.dump_graphviz_dir


def convert(args: argparse.Namespace) -> int:
    """Do what the flags say; the number of bytes written."""
    converter = _converter(args)
    _settings(converter, args)
    made = converter.convert()
    with open(args.output_file, "wb") as f:
        return f.write(made)


def main(argv=None) -> int:
    """Run the tool with a list of arguments, those of the process by default; its exit code."""
    from everflow.lite.lowering import ConverterError  # loads google_crc32c

    parser = argparse.ArgumentParser(prog="tflite_convert", description="Convert a model to TensorFlow Lite.")
    add_arguments(parser)
    args = parser.parse_args(argv)
    try:
        convert(args)
    except (ConverterError, OSError, ValueError, RuntimeError) as e:
        print(f"tflite_convert: {e}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

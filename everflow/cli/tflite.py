"""Convert a model to TensorFlow Lite. The flags are those of TensorFlow's tflite_convert.

everflow tflite --saved_model_dir export --output_file model.tflite
everflow tflite --graph_def_file frozen.pb --input_arrays x --output_arrays y --output_file model.tflite
--post_training_quantize
"""

from __future__ import annotations

import argparse
import sys

from everflow.lite.lowering import ConverterError
from everflow.tools import tflite_convert

USAGE = "everflow tflite (--saved_model_dir | --graph_def_file | --keras_model_file) MODEL --output_file FILE [flags]"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    tflite_convert.add_arguments(parser)


def main(args: argparse.Namespace) -> int:
    try:
        size = tflite_convert.convert(args)
    except (ConverterError, OSError, ValueError, RuntimeError) as e:
        print(f"everflow tflite: {e}", file=sys.stderr)
        return 1
    print(f"{size:,} bytes in {args.output_file}")
    return 0

"""The whole way from a frozen graph to a model's bytes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from everflow.framework.dtypes import DType, as_dtype, float32, int8, uint8
from everflow.lite import constants, drawing, post_training, quantization
from everflow.lite.lowering import ConverterError, lower_graph
from everflow.lite.net import Net
from everflow.lite.options import OpsSet
from everflow.lite.reading import Reading
from everflow.lite.rewrites import merge_constants, rewrite
from everflow.lite.select_ops import PREFIX
from everflow.lite.writing import to_bytes


@dataclass
class Plan:
    """How to convert: `input_stats` are (mean, deviation) of inputs by name, `default_range` of other arrays.

    `smaller` says what is done to a float model at the end: "weights" (int8), "halves" (float16), "integers" (all int8,
    by the ranges that `samples` show).
    """

    inference_type: DType = float32
    inference_input_type: DType | None = None
    output_format: int = constants.TFLITE
    input_stats: dict = field(default_factory=dict)
    default_range: tuple | None = None
    change_concat_input_ranges: bool = False
    allow_custom_ops: bool = False
    target_ops: Any = (OpsSet.TFLITE_BUILTINS,)
    smaller: str | None = None
    samples: Any = None
    allow_float: bool = True
    inference_output_type: DType | None = None
    graphviz_folder: str | None = None


def convert_graph(graph_def, inputs: dict, outputs: list, plan: Plan) -> bytes:
    """The bytes of a model. `inputs` has the type and shape of each input by name."""
    net = lowered(graph_def, inputs, outputs, plan)
    if plan.inference_type in (uint8, int8):
        if plan.inference_input_type == float32:
            raise ConverterError("Quantized inference is not allowed with float inputs.")
        quantization.quantize(net, plan)
    else:
        quantization.keep_ranges(net)
        _other_input_types(net, plan)
    merge_constants(net)
    drawing.dump(net, plan.graphviz_folder, "AFTER_TRANSFORMATIONS")
    if plan.output_format == constants.GRAPHVIZ_DOT:
        return drawing.dot(net).encode()
    if plan.smaller == "weights":
        post_training.quantize_weights(net)
    elif plan.smaller == "halves":
        post_training.halve(net)
    elif plan.smaller == "integers":
        types = [as_dtype(t or float32).as_numpy_dtype for t in (plan.inference_input_type, plan.inference_output_type)]
        post_training.quantize_all(net, plan.samples, plan.allow_float, *types)
    return to_bytes(net)


def lowered(graph_def, inputs, outputs, plan: Plan) -> Net:
    """A net of built-in ops, rewritten."""
    select = OpsSet.SELECT_TF_OPS in plan.target_ops
    net = lower_graph(Reading(graph_def, inputs, outputs), not select or len(set(plan.target_ops)) > 1, select)
    drawing.dump(net, plan.graphviz_folder, "AT_IMPORT")
    net.prune()
    missing = sorted({node.op for node in net.nodes if node.is_custom and not (select and node.op.startswith(PREFIX))})
    if missing and not plan.allow_custom_ops:
        builtins = sorted({node.op for node in net.nodes if not node.is_custom and node.op != "IDENTITY"})
        raise ConverterError(
            "Some of the operators in the model are not supported by the standard TensorFlow Lite runtime. If you have a custom implementation for them "
            "you can disable this error by setting allow_custom_ops=True on the converter; TensorFlow's own ops can be taken into the model with "
            "target_spec.supported_ops = [tf.lite.OpsSet.TFLITE_BUILTINS, tf.lite.OpsSet.SELECT_TF_OPS]. "
            f"Here is a list of builtin operators you are using: {', '.join(builtins)}. "
            f"Here is a list of operators for which you will need custom implementations: {', '.join(missing)}."
        )
    rewrite(net)
    return net


def _other_input_types(net, plan):
    """Inputs of a float model may be given as bytes, from which the model makes floats itself."""
    wanted = plan.inference_input_type
    if wanted is None or as_dtype(wanted) == float32 or plan.smaller == "integers":
        return
    for name in list(net.inputs):
        array = net.arrays[name]
        if array.dtype == np.float32:
            quantization.dequantize_input(net, name, plan.input_stats[name])

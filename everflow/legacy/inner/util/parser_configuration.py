"""TensorFlow's `python.util.example_parser_configuration`: which features a ParseExample node reads, for servers that
fill them in without writing Examples.
"""

from __future__ import annotations

from typing import Any

from everflow.framework import dtypes
from everflow.framework.shapes import TensorShape
from everflow.framework.tensor_values import make_tensor_proto
from everflow.protos.example_parser_configuration_pb2 import ExampleParserConfiguration


def extract_example_parser_configuration(parse_example_op: Any, sess: Any) -> ExampleParserConfiguration:
    """The features of a ParseExample node: their keys, types, defaults, and the tensors that bring their values.

    Args:
        parse_example_op: the operation.
        sess: a session, which computes keys and default values.

    Returns:
        an ExampleParserConfiguration message.
    """
    op = parse_example_op
    sparse, dense = op.get_attr("Nsparse"), op.get_attr("Ndense")
    # The inputs: what is parsed, its names, then the keys and the default values.
    keys_and_defaults = sess.run(list(op.inputs[2:])) if sparse + dense else []
    sparse_keys, dense_keys = keys_and_defaults[:sparse], keys_and_defaults[sparse : sparse + dense]
    configuration = ExampleParserConfiguration()
    for i, (key, dtype) in enumerate(zip(sparse_keys, op.get_attr("sparse_types"), strict=True)):
        feature = configuration.feature_map[key.decode()].var_len_feature
        feature.dtype = dtypes.as_dtype(dtype).as_datatype_enum
        feature.indices_output_tensor_name = op.outputs[i].name
        feature.values_output_tensor_name = op.outputs[sparse + i].name
        feature.shapes_output_tensor_name = op.outputs[2 * sparse + i].name
    shapes, types, defaults = op.get_attr("dense_shapes"), op.get_attr("Tdense"), keys_and_defaults[sparse + dense :]
    for i, (key, dtype, shape, default) in enumerate(zip(dense_keys, types, shapes, defaults, strict=True)):
        feature = configuration.feature_map[key.decode()].fixed_len_feature
        dtype = dtypes.as_dtype(dtype)
        feature.dtype = dtype.as_datatype_enum
        feature.shape.CopyFrom(TensorShape(shape).as_proto())
        feature.default_value.CopyFrom(make_tensor_proto(default, dtype))
        feature.values_output_tensor_name = op.outputs[3 * sparse + i].name
    return configuration

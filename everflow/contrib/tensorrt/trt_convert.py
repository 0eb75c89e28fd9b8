"""Conversion for TensorRT, as a TensorFlow does it that was built without: graphs are frozen, and no part of them becomes
an engine.
"""

from __future__ import annotations

import collections

from everflow import graph_util
from everflow.framework.graph import Graph
from everflow.framework.importer import import_graph_def
from everflow.platform.signatures import takes
from everflow.protos.graph_pb2 import GraphDef
from everflow.protos.rewriter_config_pb2 import RewriterConfig
from everflow.runtime.session import Session
from everflow.saved_model import loader, tag_constants
from everflow.saved_model.builder import SavedModelBuilder
from everflow.saved_model.signature_constants import DEFAULT_SERVING_SIGNATURE_DEF_KEY

_WORKSPACE = 1 << 30


class TrtPrecisionMode:
    """The precisions that engines may have."""

    FP32 = "FP32"
    FP16 = "FP16"
    INT8 = "INT8"

    @staticmethod
    def supported_precision_modes():
        return ["FP32", "FP16", "INT8", "fp32", "fp16", "int8"]


TrtConversionParams = collections.namedtuple(
    "TrtConversionParams",
    """rewriter_config_template max_workspace_size_bytes precision_mode minimum_segment_size is_dynamic_op
    maximum_cached_engines use_calibration max_batch_size""",
)
DEFAULT_TRT_CONVERSION_PARAMS = TrtConversionParams(None, _WORKSPACE, TrtPrecisionMode.FP32, 3, True, 1, True, 1)


def _check_mode(mode):
    modes = TrtPrecisionMode.supported_precision_modes()
    if mode not in modes:
        raise ValueError(f"There is no precision mode {mode!r}: it is one of {modes}")


def get_tensorrt_rewriter_config(conversion_params, is_v2=False):
    """The settings of a rewriter that would make engines."""
    _check_mode(conversion_params.precision_mode)
    config = RewriterConfig(meta_optimizer_iterations=RewriterConfig.ONE)
    config.optimizers.extend(["constfold", "layout", "constfold"])
    settings = config.custom_optimizers.add(name="TensorRTOptimizer").parameter_map
    for name in ("minimum_segment_size", "max_workspace_size_bytes", "maximum_cached_engines", "max_batch_size"):
        settings[name].i = getattr(conversion_params, name)
    for name in ("is_dynamic_op", "use_calibration"):
        settings[name].b = getattr(conversion_params, name)
    settings["precision_mode"].s = conversion_params.precision_mode.upper().encode()
    config.custom_optimizers.add(name="constfold")
    return config


_CONVERTER = """input_saved_model_dir=None, input_saved_model_tags=None, input_saved_model_signature_key=None, input_graph_def=None,
    nodes_blacklist=None, session_config=None, max_batch_size=1, max_workspace_size_bytes=1073741824, precision_mode="FP32", minimum_segment_size=3,
    is_dynamic_op=False, maximum_cached_engines=1, use_calibration=True"""


class TrtGraphConverter:
    """Freezes a graph, or a SavedModel, and keeps its ops: there is no TensorRT.

    >>> converter = TrtGraphConverter(input_graph_def=frozen, nodes_blacklist=["logits"])
    >>> graph_def = converter.convert()
    """

    @takes(_CONVERTER)
    def __init__(self, **given):
        if given["input_graph_def"] is None and given["input_saved_model_dir"] is None:
            raise ValueError("Give input_graph_def or input_saved_model_dir")
        if given["input_graph_def"] is not None and given["input_saved_model_dir"] is not None:
            raise ValueError("A graph is given twice: leave out input_graph_def or the folder, input_saved_model_dir")
        _check_mode(given["precision_mode"])
        self._given = given
        self._tags = given["input_saved_model_tags"] or [tag_constants.SERVING]
        self._key = given["input_saved_model_signature_key"] or DEFAULT_SERVING_SIGNATURE_DEF_KEY
        self._converted_graph_def = self._signature = None

    def convert(self):
        """The frozen graph."""
        self._converted_graph_def = GraphDef()
        if self._given["input_graph_def"] is not None:
            self._converted_graph_def.CopyFrom(self._given["input_graph_def"])
            return self._converted_graph_def
        with Graph().as_default() as graph, Session(config=self._given["session_config"]) as session:
            meta_graph = loader.load(session, self._tags, self._given["input_saved_model_dir"])
            self._signature = meta_graph.signature_def[self._key]
            outputs = [tensor.name.split(":")[0] for tensor in self._signature.outputs.values()]
            frozen = graph_util.convert_variables_to_constants(session, graph.as_graph_def(), outputs)
        self._converted_graph_def.CopyFrom(frozen)
        return self._converted_graph_def

    def calibrate(self, fetch_names, num_runs, feed_dict_fn=None, input_map_fn=None):
        """Measures ranges for engines of INT8: there are no engines to measure."""
        raise ValueError("There is nothing to calibrate: no part of the graph became an engine")

    def save(self, output_saved_model_dir):
        """Write what was converted as a SavedModel."""
        if self._signature is None:
            raise ValueError("Only a SavedModel that was converted can be saved as one")
        with Graph().as_default(), Session() as session:
            import_graph_def(self._converted_graph_def, name="")
            builder = SavedModelBuilder(output_saved_model_dir)
            builder.add_meta_graph_and_variables(session, self._tags, {self._key: self._signature})
            builder.save()


class TrtGraphConverterV2:
    """The converter of functions in SavedModels, which needs TensorRT from the beginning."""

    def __init__(
        self,
        input_saved_model_dir=None,
        input_saved_model_tags=None,
        input_saved_model_signature_key=None,
        conversion_params=DEFAULT_TRT_CONVERSION_PARAMS,
    ):
        raise AssertionError("TrtGraphConverterV2 works with TensorFlow 2's behaviour, and with TensorRT")


@takes(
    """input_graph_def, outputs, max_batch_size=1, max_workspace_size_bytes=1073741824, precision_mode="FP32", minimum_segment_size=3,
    is_dynamic_op=False, maximum_cached_engines=1, input_saved_model_dir=None, input_saved_model_tags=None, input_saved_model_signature_key=None,
    output_saved_model_dir=None, session_config=None"""
)
def create_inference_graph(input_graph_def, outputs, **given):
    """The frozen graph of a GraphDef or a SavedModel."""
    output_saved_model_dir = given.pop("output_saved_model_dir")
    converter = TrtGraphConverter(input_graph_def=input_graph_def, nodes_blacklist=outputs, **given)
    converted = converter.convert()
    if output_saved_model_dir:
        converter.save(output_saved_model_dir)
    return converted

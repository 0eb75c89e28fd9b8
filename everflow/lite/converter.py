"""tf.lite.TFLiteConverter and toco_convert: what is converted, and how, as their callers say it."""

from __future__ import annotations

from everflow.formats import tflite
from everflow.framework.dtypes import as_dtype, float16, float32, int8, uint8
from everflow.lite import constants, sources
from everflow.lite.conversion import Plan, convert_graph
from everflow.lite.lowering import ConverterError
from everflow.lite.options import OpsSet, Optimize, RepresentativeDataset, TargetSpec
from everflow.platform import logging

__all__ = ["ConverterError", "TFLiteConverter", "TocoConverter", "toco_convert"]


class TFLiteConverter:
    """Converts a model to TensorFlow Lite.

    >>> converter = tf.lite.TFLiteConverter.from_session(sess, [x], [y])
    >>> converter.optimizations = [tf.lite.Optimize.DEFAULT]
    >>> open("model.tflite", "wb").write(converter.convert())

    Attributes: `inference_type` (float32, or uint8 for models trained with fake quantization), `inference_input_type`,
    `inference_output_type`, `quantized_input_stats` ({input: (mean, standard deviation)}), `default_ranges_stats`
    ((min, max) of arrays that know none), `optimizations`, `representative_dataset`, `target_spec`, `allow_custom_ops`,
    `output_format` (tf.lite.constants.TFLITE or GRAPHVIZ_DOT), `dump_graphviz_dir`, `drop_control_dependency`,
    `reorder_across_fake_quant`, `change_concat_input_ranges`.
    """

    def __init__(
        self,
        graph_def,
        input_tensors,
        output_tensors,
        input_arrays_with_shape=None,
        output_arrays=None,
        experimental_debug_info_func=None,
    ):
        self._graph_def = graph_def
        self._input_tensors, self._output_tensors = input_tensors, output_tensors
        self._debug_info_func = experimental_debug_info_func
        self.inference_type = float32
        self.inference_input_type = None
        self.inference_output_type = None
        self.output_format = constants.TFLITE
        self.quantized_input_stats = {}
        self.default_ranges_stats = None
        self.drop_control_dependency = True
        self.reorder_across_fake_quant = False
        self.change_concat_input_ranges = False
        self.allow_custom_ops = False
        self.optimizations = []
        self.representative_dataset = None
        self.target_spec = TargetSpec()
        self.experimental_enable_mlir_converter = False
        self.dump_graphviz_dir = None
        self.dump_graphviz_video = False
        if not self._has_valid_tensors():
            if not input_arrays_with_shape or not output_arrays:
                raise ValueError("Without tensors, output_arrays and input_arrays_with_shape must be defined.")
            self._input_arrays_with_shape, self._output_arrays = input_arrays_with_shape, output_arrays

    @classmethod
    def from_session(cls, sess, input_tensors, output_tensors):
        """A converter of the graph between tensors of a session, with the session's values of variables."""
        return cls(sources.freeze(sess, output_tensors), input_tensors, output_tensors)

    @classmethod
    def from_frozen_graph(cls, graph_def_file, input_arrays, output_arrays, input_shapes=None):
        """A converter of a frozen GraphDef in a file, from and to the named arrays."""
        graph_def = sources.read_graph_def(graph_def_file)
        graph = sources.imported(graph_def)
        inputs, outputs = sources.tensors_by_name(graph, input_arrays), sources.tensors_by_name(graph, output_arrays)
        sources.give_shapes(inputs, input_shapes)
        if not sources.is_frozen(graph_def):
            raise ValueError(
                "The graph has variables. Please freeze it first, with everflow.tools.freeze_graph for example."
            )
        return cls(graph_def, inputs, outputs)

    @classmethod
    def from_saved_model(
        cls, saved_model_dir, input_arrays=None, input_shapes=None, output_arrays=None, tag_set=None, signature_key=None
    ):
        """A converter of a SavedModel's signature. Inputs and outputs are the signature's, where others aren't named."""
        arrays = input_arrays, input_shapes, output_arrays
        return cls(*sources.from_saved_model(saved_model_dir, *arrays, tag_set, signature_key))

    @classmethod
    def from_keras_model_file(
        cls, model_file, input_arrays=None, input_shapes=None, output_arrays=None, custom_objects=None
    ):
        """A converter of a Keras model in an HDF5 file."""
        return cls(*sources.from_keras_file(model_file, input_arrays, input_shapes, output_arrays, custom_objects))

    @property
    def post_training_quantize(self):
        """Whether weights are quantized: the old name of `optimizations = [tf.lite.Optimize.DEFAULT]`."""
        return Optimize.DEFAULT in set(self.optimizations)

    @post_training_quantize.setter
    def post_training_quantize(self, value):
        logging.warning("post_training_quantize is the old name of optimizations=[Optimize.DEFAULT].")
        if value:
            self.optimizations = [Optimize.DEFAULT]
        elif Optimize.DEFAULT in set(self.optimizations):
            self.optimizations = [o for o in self.optimizations if o != Optimize.DEFAULT]

    @property
    def target_ops(self):
        """The old name of `target_spec.supported_ops`."""
        return self.target_spec.supported_ops

    @target_ops.setter
    def target_ops(self, value):
        self.target_spec.supported_ops = value

    def get_input_arrays(self):
        """The names of the inputs."""
        if self._has_valid_tensors():
            return [sources.tensor_name(tensor) for tensor in self._input_tensors]
        return [name for name, _ in self._input_arrays_with_shape]

    def convert(self):
        """The model, as bytes of a .tflite file (or of a drawing, by `output_format`)."""
        if self.output_format not in (constants.TFLITE, constants.GRAPHVIZ_DOT):
            raise ValueError(f"output_format is {self.output_format}, not tf.lite.constants.TFLITE or GRAPHVIZ_DOT")
        inputs = self._inputs()
        types = ("inference_type", "inference_input_type", "inference_output_type")
        given = {name: getattr(self, name) for name in types}
        same = ("output_format", "allow_custom_ops", "change_concat_input_ranges")
        plan = Plan(
            **{name: None if given[name] is None else as_dtype(given[name]) for name in types},
            **{name: getattr(self, name) for name in same},
            input_stats=self._input_stats(inputs),
            default_range=self.default_ranges_stats,
            target_ops=self.target_spec.supported_ops,
            graphviz_folder=self.dump_graphviz_dir,
        )
        self._make_smaller(plan)
        if self._has_valid_tensors():
            outputs = [sources.tensor_name(t) for t in self._output_tensors]
        else:
            outputs = list(self._output_arrays)
        return convert_graph(self._graph_def, inputs, outputs, plan)

    def _has_valid_tensors(self):
        return bool(self._input_tensors and self._output_tensors)

    def _inputs(self) -> dict:
        """{name: (type, shape)}, with batches of 1 where their size is open."""
        if not self._has_valid_tensors():
            names = [name for name, _ in self._input_arrays_with_shape]
            found = sources.tensors_by_name(sources.imported(self._graph_def), names)
            pairs = zip(self._input_arrays_with_shape, found, strict=True)
            return {name: (t.dtype, shape) for (name, shape), t in pairs}
        made = {}
        for tensor in self._input_tensors:
            name = sources.tensor_name(tensor)
            if tensor.shape.rank is None:
                raise ValueError(f"Provide an input shape for input array '{name}'.")
            shape = tensor.shape.as_list()
            if None in shape[1:]:
                raise ValueError(
                    f"Input {name!r} is of shape {shape}, and None is supported in the 1st dimension only: give it a shape."
                )
            tflite.type_code(tensor.dtype.as_numpy_dtype)  # raises for types that no model can have
            made[name] = (tensor.dtype, [1 if d is None else d for d in shape])
        return made

    def _input_stats(self, inputs) -> dict:
        """The (mean, standard deviation) of inputs, which bytes as inputs need."""
        if (
            self._calibrated()
            or uint8 not in (self.inference_type, self.inference_input_type)
            and int8 != self.inference_type
        ):
            return {}
        if not self.quantized_input_stats:
            raise ValueError("Inputs of QUANTIZED_UINT8 need quantized_input_stats: std_dev and mean must be defined.")
        known = self.quantized_input_stats
        missing = [name for name, (dtype, _) in inputs.items() if name not in known and dtype == float32]
        if missing:
            raise ValueError(
                f"quantized_input_stats not available for input tensors '{','.join(missing)}': add (mean, std_dev) of each."
            )
        return self.quantized_input_stats

    def _optimized(self) -> bool:
        return any(o in self.optimizations for o in Optimize)

    def _calibrated(self) -> bool:
        return self._optimized() and self.representative_dataset is not None

    def _make_smaller(self, plan) -> None:
        """How the model is quantized after training."""
        types = [as_dtype(t) for t in self.target_spec.supported_types]
        integers_only = set(self.target_spec.supported_ops) == {OpsSet.TFLITE_BUILTINS_INT8} or int8 in types
        if self.representative_dataset is not None:
            dataset = self.representative_dataset
            source = dataset.input_gen if isinstance(dataset, RepresentativeDataset) else dataset
            if not callable(source):
                raise ValueError("Please provide an input generator for representative_dataset")
            plan.samples = source
        elif (
            integers_only
            and self._optimized()
            or integers_only
            and OpsSet.TFLITE_BUILTINS_INT8 in self.target_spec.supported_ops
        ):
            raise ValueError("A representative_dataset is required for a model of integers: it tells their ranges.")
        if not self._optimized() or plan.inference_type != float32:
            return
        if self._calibrated():
            plan.smaller, plan.samples, plan.allow_float = "integers", plan.samples(), not integers_only
        else:
            plan.smaller = "halves" if float16 in types else "weights"


class TocoConverter:
    """The old name of `tf.lite.TFLiteConverter`, whose converters its methods return."""

    from_session = TFLiteConverter.from_session
    from_frozen_graph = TFLiteConverter.from_frozen_graph
    from_saved_model = TFLiteConverter.from_saved_model
    from_keras_model_file = TFLiteConverter.from_keras_model_file


def toco_convert(input_data, input_tensors, output_tensors, *args, **kwargs):
    """Convert a frozen GraphDef. The old way: a converter's attributes are arguments here."""
    return _toco_convert(input_data, input_tensors, output_tensors, *args, **kwargs)


def _toco_convert(
    input_data, input_tensors, output_tensors, inference_type=float32, inference_input_type=None, input_format=1, input_shapes=None,
    output_format=constants.TFLITE, quantized_input_stats=None, default_ranges_stats=None, drop_control_dependency=True,
    reorder_across_fake_quant=False, allow_custom_ops=False, change_concat_input_ranges=False, post_training_quantize=False, quantize_to_float16=False,
    dump_graphviz_dir=None, dump_graphviz_video=False, target_ops=None, allow_nonexistent_arrays=False, debug_info=None,
):  # fmt: skip
    if not sources.is_frozen(input_data):
        raise ConverterError(
            "The graph has variables; a converter needs them as constants (tf.graph_util.convert_variables_to_constants)."
        )
    shapes = input_shapes or [None] * len(input_tensors)
    with_shapes = [
        (sources.tensor_name(t), list(s) if s is not None else t.shape.as_list())
        for t, s in zip(input_tensors, shapes, strict=True)
    ]
    converter = TFLiteConverter(input_data, input_tensors, output_tensors)
    if input_shapes:
        converter._input_tensors, converter._input_arrays_with_shape = None, with_shapes
        converter._output_arrays = [sources.tensor_name(t) for t in output_tensors]
    converter.inference_type, converter.inference_input_type = inference_type, inference_input_type
    names = converter.get_input_arrays()
    if quantized_input_stats:
        converter.quantized_input_stats = dict(zip(names, quantized_input_stats, strict=True))
    converter.output_format, converter.default_ranges_stats = output_format, default_ranges_stats
    converter.drop_control_dependency, converter.allow_custom_ops = drop_control_dependency, allow_custom_ops
    converter.reorder_across_fake_quant = reorder_across_fake_quant
    converter.change_concat_input_ranges = change_concat_input_ranges
    converter.dump_graphviz_dir, converter.dump_graphviz_video = dump_graphviz_dir, dump_graphviz_video
    if target_ops is not None:
        converter.target_spec.supported_ops = target_ops
    if post_training_quantize:
        converter.optimizations = [Optimize.DEFAULT]
        converter.target_spec.supported_types = [float16] if quantize_to_float16 else []
    return converter.convert()

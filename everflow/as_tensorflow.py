"""After `import everflow.as_tensorflow`, `import tensorflow` gives everflow, and so do the module paths that programs of 2016-2019 import.

`tensorflow.X` is the module `everflow.X` itself. Paths into TensorFlow's own tree (`tensorflow.python.ops.math_ops`) are served from the
table below: a module without code of its own that looks a name up in the listed everflow modules, in order, when it is asked for.
"""

from __future__ import annotations

import fnmatch
import functools
import importlib
import importlib.abc
import importlib.machinery
import pkgutil
import re
import sys
import types
from collections.abc import Iterator

import everflow
from everflow.platform.module_alias import alias_spec
from everflow.version import EVERFLOW_VERSION

# A row: the folder below `tensorflow`, the modules in it, and the everflow modules that serve them, best first. `.` is tf itself, and a `*`
# stands for any letters in a module's name, `=` for the name of the module that is served. To serve a new path, or to add a source for
# one, edit a row. Sources that don't exist are passed over.
_TABLE = """
python                client compiler data eager feature_column framework keras layers lib ops platform saved_model summary tools \
                      training util                      : .
python                autograph debug estimator user_ops : =
python                pywrap_tensorflow                  : pywrap_tensorflow train errors .
python                tf2                                : ops.v2_behavior
python.client         session                            : runtime.session runtime.fetches .
python.client         device_lib                         : runtime.device*
python.client         timeline                           : runtime.timeline
python.compat         compat v2_compat                   : compat .

python.data           .                                  : data
python.data           util experimental                  : data .
python.data.ops       dataset_ops iterator_ops readers optional_ops multi_device_iterator_ops : data data.experimental data.* \
                                                           data.inner_names
python.data.util      nest                               : framework.nest
python.data.experimental ops                             : data.experimental
python.data.experimental.ops batching counter enumerate_ops error_ops get_single_element grouping interleave_ops iterator_ops \
                      optimization parsing_ops prefetching_ops random_ops readers resampling scan_ops shuffle_ops stats_ops \
                      take_while_ops threadpool unique writers : data.experimental data.* \
                                                           data.experimental.* data.inner_names
python.compiler       xla                                : xla
python.compiler.xla   xla                                : xla.experimental contrib.compiler.xla
python.compiler.xla   jit                                : contrib.compiler.jit

python.debug          cli wrappers lib                   : debug
python.debug.wrappers hooks local_cli_wrapper dumping_wrapper framework : debug debug.*
python.debug.lib      debug_data debug_utils debug_gradients : debug debug.*

python.distribute     distribute_lib distribution_strategy_context mirrored_strategy values cross_device_ops : distribute distribute.* \
                                                           contrib.distribute
python.distribute     all_reduce cluster_resolver : distribute.=
contrib.all_reduce.python all_reduce                     : distribute.all_reduce

python.eager          backprop context def_function function tape execute : eager eager.* contrib.eager.inner_names . \
                                                           ops.traced_functions framework.tapes runtime.process_options debugging
python.eager          test                               : test
python.eager          wrap_function                      : ops.wrapped_functions

python.estimator      estimator model_fn run_config training exporter early_stopping util keras warm_starting_util gc : \
                      estimator estimator.run_config estimator.arguments estimator.experimental
python.estimator.inputs numpy_io pandas_io inputs queues : estimator.inputs
python.estimator.canned dnn linear baseline boosted_trees dnn_linear_combined head parsing_utils metric_keys prediction_keys : \
                      estimator estimator.canned.keys
python.estimator.export export export_output export_lib  : estimator.export
python.feature_column feature_column feature_column_lib feature_column_v2 : feature_column feature_column.*

python.framework      ops                                : . framework.graph framework.graph_keys framework.scopes framework.conversion \
                                                           framework.composites framework.operation framework.registry framework.devices \
                                                           profiler.statistics ops.gradients contrib.framework.tensors eager.tensor \
                                                           framework.inner_names
python.framework      constant_op                        : . ops.constants
python.framework      common_shapes tensor_shape         : framework.shapes framework.windows .
python.framework      composite_tensor                   : framework.type_specs framework.composites
python.framework      device                             : framework.devices .
python.framework      dtypes                             : framework.dtypes
python.framework      errors errors_impl                 : framework.errors
python.framework      function                           : ops.functions framework.function* .
python.framework      graph_io                           : formats.graph_files
python.framework      graph_util graph_util_impl         : graph_util
python.framework      importer                           : . framework.importer
python.framework      indexed_slices sparse_tensor tensor_spec type_spec tensor_like : . framework.composites framework.type_specs \
                                                           framework.conversion contrib.framework.tensors
python.framework      load_library                       : .
python.framework      meta_graph                         : train.meta_graph train .
python.framework      op_def_library op_def_registry     : framework.op_defs framework.builder
python.framework      random_seed                        : framework.seeds
python.framework      smart_cond                         : ops.smart_cond ops.control_flow ops.control_flow.*
python.framework      tensor_util                        : framework.tensor_values framework.static_values framework.conversion .
python.framework      test_util                          : test test.*
python.framework      versions                           : version .
python.framework      auto_control_deps c_api_util func_graph subscribe : framework.graph framework.function* .

python.keras          _impl                              : keras
python.keras          activations applications callbacks constraints datasets estimator initializers layers losses models optimizers \
                      preprocessing regularizers utils wrappers : keras.=
python.keras          engine                             : keras.engine.base_layer keras keras.layers
python.keras          backend backend_config             : keras.backend
python.keras          metrics                            : keras.metrics keras.metrics.*
python.keras          engine                             : keras.engine keras keras.layers keras.models
python.keras.engine   base_layer input_layer input_spec network sequential training topology base_layer_utils : \
                                                           keras keras.layers keras.models keras.engine.*
python.keras.layers   core convolutional pooling recurrent embeddings merge normalization wrappers advanced_activations local noise \
                      cudnn_recurrent                    : keras.layers keras.layers.*
python.keras.utils    conv_utils data_utils generic_utils io_utils layer_utils losses_utils np_utils tf_utils vis_utils : keras.utils \
                                                           keras.utils.* keras.generic keras.loss_reduction keras.engine.* keras.layers.*
python.keras.optimizer_v2 adam adadelta adagrad adamax ftrl gradient_descent nadam optimizer_v2 rmsprop : keras.optimizers \
                                                           keras.optimizers.optimizer
python.keras.optimizer_v2 learning_rate_schedule         : keras.optimizers.schedules
python.layers         base core convolutional pooling normalization layers : layers layers.*
python.layers         utils                              : layers layers.* keras.engine.arguments ops.control_flow keras.utils.for_layers

python.lib.io         file_io                            : platform.file_io
python.lib.io         tf_record python_io                : python_io io

python.ops            array_ops                          : . ops.array* ops.constants sparse quantization gen_ops
python.ops            math_ops                           : . math linalg ops.math* ops.array* gen_ops
python.ops            nn nn_ops nn_impl nn_grad nn_fused_batchnorm : nn math . ops.nn* ops.inner_names gen_ops
python.ops            control_flow_ops cond_v2 while_v2  : . ops.control_flow ops.control_flow.* ops.grouping
python.ops            control_flow_util control_flow_util_v2 : ops.control_flow ops.control_flow.*
python.ops            check_ops                          : debugging . ops.check*
python.ops            clip_ops histogram_ops numerics    : . debugging ops.math* ops.clip*
python.ops            bitwise_ops                        : bitwise
python.ops            confusion_matrix                   : math ops.confusion*
python.ops            custom_gradient                    : . ops.custom_gradient
python.ops            data_flow_ops                      : . queue ops.data_flow* ops.accumulators ops.barriers ops.staging ops.record_input
python.ops            embedding_ops ctc_ops candidate_sampling_ops : nn ops.embedding* ops.nn*
python.ops            critical_section_ops               : ops.critical_section
python.ops            batch_ops collective_ops inplace_ops list_ops nccl_ops sort_ops : . ops.tensor_lists ops.array_inplace gen_ops
python.ops            functional_ops map_fn              : . ops.functional*
python.ops            gradients gradients_impl gradients_util : . ops.gradients
python.ops            gradient_checker                   : test
python.ops            gradient_checker_v2                : test.gradient_checker_v2
python.ops            image_ops image_ops_impl           : image ops.image*
python.ops            init_ops init_ops_v2               : . initializers ops.initializers* ops.inner_names
python.ops            io_ops                             : . io ops.io* ops.files* ops.readers*
python.ops            linalg_ops linalg_ops_impl         : linalg . ops.linalg*
python.ops            logging_ops                        : . ops.logging* ops.printing* contrib.deprecated
python.ops            lookup_ops                         : lookup ops.lookup* .
python.ops            losses                             : losses
python.ops            manip_ops                          : manip .
python.ops            metrics metrics_impl               : metrics metrics.variables metrics.inner_names
python.ops            parsing_ops                        : . io ops.parsing*
python.ops            partitioned_variables              : . ops.partitioned_variables
python.ops            quantized_ops                      : quantization .
python.ops            random_ops stateless_random_ops    : . random ops.random*
python.ops            resource_variable_ops              : ops.resource_variables ops.resource_handles ops.variables gen_ops .
python.ops            rnn rnn_cell rnn_cell_impl         : nn nn.rnn_cell rnn rnn.*
python.ops            script_ops                         : . ops.script* ops.py_func*
python.ops            session_ops                        : . ops.session*
python.ops            sets sets_impl                     : sets
python.ops            sparse_ops                         : sparse . ops.sparse*
python.ops            special_math_ops                   : math . ops.math* ops.einsum
python.ops            spectral_ops                       : signal spectral
python.ops            standard_ops                       : .
python.ops            state_ops                          : . ops.state ops.variables gen_ops
python.ops            string_ops                         : strings . ops.strings*
python.ops            summary_ops_v2                     : summary.writing_ops summary.inner_names
python.ops            summary_ops summary_op_util        : ops.summaries
python.ops            template                           : . ops.template
python.ops            tensor_array_ops tensor_array_grad : . ops.tensor_array*
python.ops            variables                          : . ops.variables ops.ref_variables ops.partitioned_variables
python.ops            variable_scope                     : . ops.variable_scope ops.variable_store ops.variables \
                                                           ops.eager_variable_store ops.inner_names
python.ops            weights_broadcast_ops              : losses losses.* ops.weights_broadcast
python.ops            gen_array_ops gen_audio_ops gen_batch_ops gen_bitwise_ops gen_boosted_trees_ops gen_candidate_sampling_ops \
                      gen_checkpoint_ops gen_collective_ops gen_control_flow_ops gen_ctc_ops gen_cudnn_rnn_ops gen_data_flow_ops \
                      gen_dataset_ops gen_experimental_dataset_ops gen_functional_ops gen_image_ops gen_io_ops gen_linalg_ops \
                      gen_list_ops gen_logging_ops gen_lookup_ops gen_manip_ops gen_math_ops gen_nn_ops gen_parsing_ops gen_random_ops \
                      gen_resource_variable_ops gen_rnn_ops gen_script_ops gen_sdca_ops gen_set_ops gen_sparse_ops gen_spectral_ops \
                      gen_state_ops gen_stateless_random_ops gen_string_ops gen_summary_ops gen_user_ops : gen_ops
python.ops.distributions distribution distributions normal categorical bernoulli beta gamma uniform multinomial dirichlet exponential \
                      laplace student_t kullback_leibler util : distributions distributions.*
python.ops.distributions util                            : contrib.distributions contrib.distributions.matrices ops.linear_operators.broadcasting
python.ops.linalg     linalg linalg_impl linear_operator : linalg ops.linear_operators ops.linalg*
python.ops.losses     losses losses_impl util            : losses keras.loss_reduction
python.ops            parallel_for                       : ops.parallel_for.loops ops.parallel_for.jacobians
python.ops.parallel_for control_flow_ops gradients         : ops.parallel_for.loops ops.parallel_for.jacobians
python.ops.ragged     ragged_tensor ragged_factory_ops ragged_math_ops ragged_array_ops : ragged . ops.ragged ops.ragged.*
python.ops.signal     signal fft_ops spectral_ops window_ops mel_ops mfcc_ops reconstruction_ops shape_ops dct_ops : signal

python.module         module                             : ops.module
python.platform       app flags gfile resource_loader : platform.=
python.platform       googletest test benchmark          : test
python.platform       self_check build_info              : sysconfig version
python.platform       sysconfig                          : sysconfig
python.platform       tf_logging                         : platform.logging
python.profiler       model_analyzer option_builder profile_context profiler tfprof_logger : profiler profiler.*
python.profiler.internal flops_registry                  : profiler.statistics

python.saved_model    builder builder_impl constants loader loader_impl main_op main_op_impl signature_constants signature_def_utils \
                      signature_def_utils_impl simple_save tag_constants utils utils_impl : \
                      saved_model saved_model.builder saved_model.loader saved_model.main_op saved_model.constants \
                      saved_model.signature_constants saved_model.signature_def_utils saved_model.tag_constants saved_model.utils
python.summary        summary                            : summary
python.summary        summary_iterator                   : train
python.summary.writer writer writer_cache event_file_writer event_file_writer_v2 : summary summary.* formats.event_files

python.tools          freeze_graph import_pb_to_tensorboard inspect_checkpoint saved_model_cli saved_model_utils : tools.=
python.tools          optimize_for_inference optimize_for_inference_lib : tools.optimize_for_inference
python.tools          strip_unused strip_unused_lib      : tools.strip_unused
lite                  python                             : lite
lite.python           lite convert                       : lite.converter lite.options lite
lite.python           interpreter                        : lite.interpreter
lite.python           lite_constants                     : lite.constants
lite.python           op_hint                            : lite.op_hints
lite.python           tflite_convert                     : tools.tflite_convert
tools                 .                                  : tools
tools                 graph_transforms                   : tools.graph_transforms

python.training       adadelta adagrad adagrad_da adam ftrl gradient_descent momentum optimizer proximal_adagrad \
                      proximal_gradient_descent rmsprop sync_replicas_optimizer : train train.optim*
python.training       basic_session_run_hooks session_run_hook monitored_session session_manager coordinator queue_runner \
                      queue_runner_impl supervisor server_lib device_setter evaluation input learning_rate_decay moving_averages saver \
                      checkpoint_management checkpoint_utils checkpoint_ops slot_creator training training_util \
                      warm_starting_util saveable_object_util : train train.* summary .
python.training       training_ops gen_training_ops      : gen_ops
python.training       distribute distribution_strategy_context : distribute
python.training       checkpoint_state_pb2               : protos.checkpoint_state_pb2
python.training       summary_io                         : summary.inner_names summary
python.training.saving saveable_object saveable_object_util functional_saver : train train.*
python.training.tracking base tracking util data_structures graph_view : train train.* contrib.checkpoint.containers \
                                                           contrib.checkpoint.inspection keras.engine.tracked_attributes
python.training       checkpoint_utils                   : contrib.training.checkpoints
python.training.checkpointable base tracking util data_structures : train train.*

python.util           compat lazy_loader : platform.=
python.util           deprecation decorator_utils        : platform.deprecation
python.util           nest                               : framework.nest
python.util           tf_inspect                         : platform.inspection
python.util           tf_export                          : platform.exports
python.util           tf_contextlib tf_decorator tf_should_use function_utils all_util keyword_args : platform.decorators

examples.tutorials.mnist input_data                      : datasets.mnist
contrib.learn.python.learn.datasets mnist                : datasets.mnist
contrib.learn.python.learn.datasets base                 : datasets.csv_files
contrib.learn.python.learn.utils saved_model_export_utils : contrib.learn.export_strategies
contrib.learn.python.learn session_run_hook basic_session_run_hooks : train
contrib.learn.python.learn preprocessing                 : contrib.learn.preprocessing
contrib.learn.python.learn.preprocessing text categorical categorical_vocabulary : contrib.learn.preprocessing
contrib.seq2seq.python.ops attention_wrapper helper decoder basic_decoder beam_search_decoder beam_search_ops loss : \
                      contrib.seq2seq contrib.seq2seq.inner_names
contrib.rnn.python.ops core_rnn_cell core_rnn_cell_impl rnn_cell rnn core_rnn lstm_ops gru_ops fused_rnn_cell : \
                      contrib.rnn contrib.rnn.inner_names rnn.inner_names
contrib.framework.python.ops audio_ops                   : audio gen_ops
contrib.losses.python.metric_learning metric_loss_ops    : contrib.losses.metric_learning
contrib.summary       summary                            : contrib.summary
contrib.tensorboard.plugins.projector projector_config_pb2 : contrib.tensorboard.plugins.projector
contrib.lookup        lookup_ops                         : contrib.lookup ops.lookup*
contrib.layers.python.layers utils                       : contrib.layers.outputs
contrib.layers.python.layers feature_column feature_column_ops : contrib.layers contrib.layers.inner_names
contrib.layers.python.layers embedding_ops               : contrib.layers.*embeddings
contrib.layers.python.layers target_column               : contrib.layers.target_columns contrib.learn.model_ops
contrib.slim.python.slim evaluation learning model_analyzer nets : contrib.slim.=
contrib.slim.python.slim.nets alexnet overfeat resnet_utils resnet_v1 resnet_v2 vgg : contrib.slim.nets.=
contrib.slim.python.slim.nets inception inception_v1 inception_v2 inception_v3 : contrib.slim.nets.inception
"""
# Paths below tensorflow.contrib that name its inner files, as `contrib.layers.python.layers.regularizers` does, are served by the package.
_CONTRIB_INNER = re.compile(r"(contrib\.\w+)\.(?:python|ops|layers|training|util)\b.*")
# Other roots that name the same tree.
_SAME_AS_ROOT = re.compile(r"(?:compat\.v1|_api\.v1)(?:\.|$)")
# Keras's places before it was tf.keras, and the tree that contrib's had inside.
_SAME_AS_KERAS = re.compile(r"(?:contrib\.keras|python\.keras\._impl\.keras)(?:\.(?:api|python)(?:\.keras)?)?(?=\.|$)")
_ROOTS = ("tensorflow", "tensorflow_core", "tensorflow_estimator")


@functools.cache
def _rows() -> dict[str, list[str]]:
    """{path below tensorflow: everflow modules}."""
    rows: dict[str, list[str]] = {}
    for line in _TABLE.replace("\\\n", " ").splitlines():
        if not line.strip():
            continue
        left, _, sources = line.rpartition(" : ")
        folder, *names = left.split()
        for name in names:
            path = folder if name == "." else f"{folder}.{name}"
            named = [source.replace("=", name) for source in sources.split()]
            rows.setdefault(path, []).extend(s for s in named if s not in rows.get(path, ()))
    return rows


@functools.cache
def _folders() -> frozenset[str]:
    """Every folder above a path in the table, and those of the messages."""
    above = {"core.framework", "core.protobuf", "core.util", "core.example", "core.lib.core", "core.profiler", "core.kernels.boosted_trees"}
    for path in {*_rows(), *above}:
        above.add(path)
        while path := path.rpartition(".")[0]:
            above.add(path)
    return frozenset(above - set(_rows()))


def _load(source: str) -> types.ModuleType | None:
    """The everflow module called `source`, or None where there is none."""
    if source == ".":
        return everflow
    name = f"everflow.{source}"
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as missing:
        if not name.startswith(missing.name or " "):
            raise
    # A namespace that is an attribute rather than a file, as tf.nn.rnn_cell may be.
    folder, _, last = source.rpartition(".")
    found = getattr(_load(folder), last, None) if folder else None
    return found if isinstance(found, types.ModuleType) and not isinstance(found, _Served) else None


def _load_all(sources: list[str]) -> Iterator[types.ModuleType]:
    """The everflow modules that `sources` name, in order."""
    for source in sources:
        for name in _matching(source) if "*" in source else [source]:
            module = _load(name)
            if module is not None:
                yield module


@functools.cache
def _matching(pattern: str) -> list[str]:
    """The modules of a package that a pattern such as `ops.math*` names."""
    folder, _, last = pattern.rpartition(".")
    package = _load(folder)
    inside = pkgutil.iter_modules(package.__path__) if hasattr(package, "__path__") else ()
    return [f"{folder}.{module.name}" for module in inside if fnmatch.fnmatch(module.name, last)]


class _Served(types.ModuleType):
    """A module of TensorFlow's tree: its names are those of the everflow modules that serve it."""

    def __init__(self, name: str, path: str, sources: list[str]):
        super().__init__(
            name, f"Served by {', '.join(s if s != '.' else 'everflow' for s in sources) or 'its modules'}; see everflow.as_tensorflow."
        )
        self.__dict__.update(_path=path, _sources=sources, __path__=[])  # a path makes it a package, with modules below

    def __getattr__(self, name: str):
        if name.startswith("__"):
            raise AttributeError(name)
        if _is_known(f"{self._path}.{name}"):
            return importlib.import_module(f"{self.__name__}.{name}")
        for module in _load_all(self._sources):
            if hasattr(module, name):
                return getattr(module, name)
        # Modules of TensorFlow hold the functions of both interfaces: `argmax` is that of 1, `argmax_v2` that of 2.
        plain, _, version = name.rpartition("_")
        if version == "v1":
            return getattr(self, plain)
        if version == "v2" and (found := everflow.compat.v2.wherever(plain)):
            return found
        raise AttributeError(
            f"module {self.__name__!r} has no attribute {name!r} (Everflow {EVERFLOW_VERSION} doesn't have it yet)", name=name
        )

    def __dir__(self):
        return sorted({name for module in _load_all(self._sources) for name in dir(module)} | set(self.__dict__))


def _is_known(path: str) -> bool:
    return path in _rows() or path in _folders() or (path.startswith("core.") and path.endswith("_pb2"))


def _resolve(fullname: str, path: str) -> types.ModuleType | None:
    """The module to hand out for `tensorflow.PATH`; None where there is none."""
    if match := _SAME_AS_ROOT.match(path):
        path = path[match.end() :]
    path = _SAME_AS_KERAS.sub("keras", path)
    if not path:
        return everflow
    if path.startswith("core.") and path.endswith("_pb2"):
        return _load("protos." + path.rpartition(".")[2])
    sources = _rows().get(path)
    if sources is None:
        if module := _load(path.removeprefix("python.") if path.startswith("python.keras.") else path):
            return module
        if match := _CONTRIB_INNER.fullmatch(path):
            *_, folder, file = path.split(".")
            if file[0] == "_" or file[0].isupper():  # a name that the file before it lacks, not a file
                return None
            sources = [f"{match[1]}.{folder}.{file}", f"{match[1]}.{file}", match[1]]
        elif path in _folders():
            sources = ["."] if path.startswith("python") else []
    if sources is None or (sources and next(_load_all(sources), None) is None):
        return None
    return _Served(fullname, path, sources)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds tensorflow and everything below it, before the finders that look at sys.path."""

    def find_spec(self, fullname, path=None, target=None):
        root, _, rest = fullname.partition(".")
        if root not in _ROOTS:
            return None
        module = _resolve(fullname, rest)
        if module is None:
            raise ModuleNotFoundError(f"No module named {fullname!r} (Everflow {EVERFLOW_VERSION} doesn't have it yet)", name=fullname)
        return alias_spec(fullname, module)


def installed_tensorflow() -> str | None:
    """Where a real TensorFlow is installed, if one is; `import tensorflow` doesn't reach it from here on."""
    spec = importlib.machinery.PathFinder.find_spec("tensorflow")
    return spec.origin if spec else None


def _install() -> None:
    loaded = sys.modules.get("tensorflow")
    if loaded is not None and loaded is not everflow:
        raise ImportError(
            f"TensorFlow is already imported from {getattr(loaded, '__file__', '?')}: import everflow.as_tensorflow before it"
        )
    sys.modules["tensorflow"] = everflow
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


_install()

"""`import tensorflow` and the module paths below it, after `import everflow.as_tensorflow`."""

import importlib
import pydoc
import subprocess
import sys

import pytest

import everflow
import tests.served  # noqa: F401
from everflow.legacy import paths


def test_tensorflow_is_everflow():
    import tensorflow as tf
    import tensorflow.compat.v1 as tf_v1

    assert tf is everflow and tf_v1 is everflow and sys.modules["tensorflow"] is everflow
    assert everflow.__name__ == "everflow" and everflow.__spec__.name == "everflow"


def test_namespaces_are_the_same_modules():
    import tensorflow.compat.v1.gfile
    import tensorflow.gfile
    from tensorflow.compat.v1 import flags
    from tensorflow.io import gfile

    assert tensorflow.gfile is everflow.gfile
    assert importlib.import_module("tensorflow.compat.v1.gfile") is everflow.gfile
    assert flags is everflow.flags
    assert gfile is everflow.io.gfile


def test_v1_has_everything_below_it_too():
    import everflow.compat.v1.gfile
    from everflow.compat.v1.io import gfile

    assert sys.modules["everflow.compat.v1.gfile"] is everflow.gfile
    assert gfile is everflow.io.gfile


def test_messages():
    from tensorflow.core.example import example_pb2
    from tensorflow.core.framework import graph_pb2, types_pb2
    from tensorflow.core.protobuf import config_pb2, rewriter_config_pb2
    from tensorflow.core.util import event_pb2

    assert graph_pb2.GraphDef is everflow.GraphDef
    assert config_pb2.ConfigProto is everflow.ConfigProto
    assert types_pb2.DT_FLOAT == 1
    assert event_pb2.Event is everflow.Event
    assert hasattr(example_pb2, "Example") and hasattr(rewriter_config_pb2, "RewriterConfig")


def test_python_paths():
    import tensorflow.python.framework.dtypes as dtypes
    from tensorflow.python.framework import errors_impl, ops
    from tensorflow.python.framework.ops import GraphKeys
    from tensorflow.python.lib.io import file_io
    from tensorflow.python.ops.linalg import linalg
    from tensorflow.python.platform import gfile
    from tensorflow.python.platform import tf_logging as logging
    from tensorflow.python.util import nest

    assert linalg.inv is everflow.linalg.inv
    assert dtypes.float32 is everflow.float32
    assert errors_impl.NotFoundError is everflow.errors.NotFoundError
    assert ops.Graph is everflow.Graph and GraphKeys is everflow.GraphKeys
    assert gfile.GFile is everflow.gfile.GFile
    assert file_io.FileIO is everflow.platform.file_io.FileIO
    assert nest.flatten is everflow.nest.flatten
    assert logging.info is everflow.logging.info


def test_attributes_without_an_import():
    assert everflow.python.framework.dtypes.int32 is everflow.int32
    assert everflow.python.util.nest.flatten is everflow.nest.flatten


def test_generated_ops():
    from tensorflow.python.ops import gen_math_ops

    with everflow.Graph().as_default():
        node = gen_math_ops.mat_mul([[1.0]], [[2.0]], False, True, name="product")
    assert node.op.type == "MatMul" and node.op.name == "product" and node.op.get_attr("transpose_b")
    with pytest.raises(AttributeError):
        gen_math_ops.no_such_op  # noqa: B018


def test_a_missing_path_says_so():
    with pytest.raises(ModuleNotFoundError, match="tensorflow.python.no_such.*nor in Everflow"):
        importlib.import_module("tensorflow.python.no_such")
    with pytest.raises(ImportError):
        from tensorflow.python.framework import no_such  # noqa: F401
    with pytest.raises(AttributeError, match="doesn't have it yet"):
        everflow.python.framework.no_such  # noqa: B018


def test_a_missing_path_is_named_whole_where_it_is_imported():
    with pytest.raises(ModuleNotFoundError) as caught:
        importlib.import_module("tensorflow.layers.Dense")
    assert caught.value.name == "tensorflow.layers.Dense"
    # Libraries look classes up by their paths; what isn't a module is passed over by that name.
    assert pydoc.locate("tensorflow.layers.Dense") is everflow.layers.Dense
    assert pydoc.locate("tensorflow.nn.no_such.Dense") is None


def test_every_row_is_well_formed():
    rows = paths._rows()
    assert all(path == path.strip(".") and " " not in path and sources for path, sources in rows.items())
    assert {"python.ops.linalg", "core.framework", "examples.tutorials"} <= paths._folders()


def test_a_loaded_tensorflow_is_not_shadowed():
    code = (
        "import sys, types; sys.modules['tensorflow'] = types.ModuleType('tensorflow'); import everflow.as_tensorflow"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 1 and "already imported" in done.stderr


def test_names_from_inside():
    from tensorflow.contrib.staging import StagingArea
    from tensorflow.nn.rnn_cell import LSTMCell
    from tensorflow.python.data import Dataset
    from tensorflow.python.data.experimental.ops.interleave_ops import parallel_interleave
    from tensorflow.python.ops.init_ops import _compute_fans
    from tensorflow.python.ops.metrics_impl import _streaming_confusion_matrix, metric_variable
    from tensorflow.python.util import all_util, function_utils, tf_contextlib, tf_decorator

    assert LSTMCell is everflow.nn.rnn_cell.LSTMCell and StagingArea is everflow.contrib.staging.StagingArea
    assert Dataset is everflow.data.Dataset and parallel_interleave is everflow.data.experimental.parallel_interleave
    assert _compute_fans([3, 3, 4, 8]) == (36, 72)
    assert (
        callable(metric_variable)
        and callable(tf_contextlib.contextmanager)
        and "StagingArea" in all_util.make_all(StagingArea.__module__)
    )
    assert function_utils.fn_args(lambda features, labels, mode=None: 0) == ("features", "labels", "mode")
    assert function_utils.has_kwargs(lambda **rest: 0) and not function_utils.has_kwargs(len)

    def plain(x):
        """Says so."""

    wrapped = tf_decorator.make_decorator(plain, lambda x: plain(x))
    assert wrapped.__doc__ == "Says so." and tf_decorator.unwrap(wrapped) == ([wrapped._tf_decorator], plain)
    with everflow.Graph().as_default(), everflow.Session() as sess:
        total, update = _streaming_confusion_matrix(everflow.constant([0, 1, 1]), everflow.constant([0, 1, 0]), 2)
        sess.run(everflow.local_variables_initializer())
        assert sess.run(update).tolist() == [[1, 0], [1, 1]] and sess.run(total).tolist() == [[1, 0], [1, 1]]


def test_audio_ops_of_the_speech_tutorial():
    from tensorflow.contrib.framework.python.ops import audio_ops

    assert audio_ops.decode_wav is everflow.audio.decode_wav
    assert callable(audio_ops.encode_wav) and callable(audio_ops.audio_spectrogram) and callable(audio_ops.mfcc)


@pytest.mark.parametrize(
    ("module", "names"),
    [
        ("python.framework.tensor_util", "MakeNdarray TensorShapeProtoToList"),
        ("python.framework.ops", "EagerTensor get_gradient_function strip_name_scope uid internal_convert_n_to_tensor"),
        ("contrib.seq2seq.python.ops.decoder", "_create_zero_outputs _transpose_batch_time"),
        ("contrib.seq2seq.python.ops.helper", "bernoulli_sample categorical_sample _call_sampler"),
        ("contrib.seq2seq.python.ops.beam_search_decoder", "_mask_probs _get_scores _tile_batch"),
        (
            "python.layers.utils",
            "normalize_tuple normalize_data_format normalize_padding convert_data_format conv_output_length",
        ),
        ("python.layers.utils", "constant_value"),
        ("contrib.slim.python.slim.data.tfexample_decoder", "TFExampleDecoder BackupHandler"),
        ("contrib.slim.python.slim.data.dataset_data_provider", "DatasetDataProvider"),
        ("contrib.learn.python.learn.learn_runner", "run"),
        ("contrib.losses.python.metric_learning.metric_loss_ops", "triplet_semihard_loss"),
        ("python.layers.core", "fully_connected FullyConnected"),
        ("python.layers.pooling", "MaxPool2D max_pool2d AvgPool2D avg_pool2d"),
        ("python.ops.math_ops", "approximate_equal"),
        ("python.ops.array_ops", "split_v upper_bound lower_bound"),
        ("python.data.ops.dataset_ops", "DatasetV1 DatasetV2 get_legacy_output_types"),
        ("python.client.session", "register_session_run_conversion_functions"),
        ("python.ops.distributions.util", "get_logits_and_probs softplus_inverse fill_triangular pick_vector"),
        ("python.training.tracking.base", "no_automatic_dependency_tracking"),
        ("python.util.deprecation", "deprecated deprecated_endpoints"),
        ("python.tf2", "enabled"),
    ],
)
def test_names_that_programs_take_from_inside(module, names):
    found = importlib.import_module(f"tensorflow.{module}")
    assert not [name for name in names.split() if not callable(getattr(found, name, None))]


def test_functions_of_both_interfaces():
    from tensorflow.python.ops import array_ops, check_ops, math_ops, nn_ops

    assert math_ops.argmax_v2 is everflow.compat.v2.argmax
    assert array_ops.expand_dims_v2 is everflow.compat.v2.expand_dims
    assert nn_ops.conv2d_v2 is everflow.compat.v2.nn.conv2d
    assert check_ops.assert_equal_v2 is everflow.compat.v2.assert_equal
    assert math_ops.reduce_sum_v1 is everflow.reduce_sum
    with pytest.raises(AttributeError, match="'no_such_v2'"):
        _ = math_ops.no_such_v2


def test_rows_changed_in_place():
    from tensorflow.python.ops import inplace_ops

    with everflow.Graph().as_default(), everflow.Session() as sess:
        x = everflow.zeros([3, 2])
        row = inplace_ops.alias_inplace_update(x, 1, [1.0, 2.0])
        rows = inplace_ops.inplace_add(row, [1, 2], everflow.ones([2, 2]))
        whole = inplace_ops.alias_inplace_sub(rows, None, everflow.ones([3, 2]))
        results = sess.run([x, row, rows, whole])
    assert [r.tolist() for r in results] == [
        [[0, 0], [0, 0], [0, 0]],
        [[0, 0], [1, 2], [0, 0]],
        [[0, 0], [2, 3], [1, 1]],
        [[-1, -1], [1, 2], [0, 0]],
    ]


def test_gradients_are_taken_out_and_put_in():
    from tensorflow.python.framework import ops

    registry = ops._gradient_registry
    assert "Relu" in registry._registry and "GuidedReluOfTest" not in registry._registry
    ours = registry._registry.pop("Relu")
    try:
        with everflow.Graph().as_default():
            x = everflow.placeholder(everflow.float32, [2])
            y = everflow.nn.relu(x)
            with pytest.raises(LookupError, match="op type: Relu"):
                everflow.gradients(y, x)
            ops.RegisterGradient("Relu")(lambda op, grad: 7 * grad)
            (gradient,) = everflow.gradients(y, x)
            with everflow.Session() as sess:
                assert sess.run(gradient, {x: [1, -1]}).tolist() == [7, 7]
    finally:
        registry._registry["Relu"] = ours
    assert registry.lookup("Relu") is ours["type"]
    with pytest.raises(LookupError, match="no entry for: Nope"):
        registry.lookup("Nope")


def test_questions_about_control_flow():
    from tensorflow.python.ops import control_flow_util as util

    with everflow.Graph().as_default() as graph:
        x = everflow.constant(1.0)
        everflow.while_loop(lambda i: i < 3, lambda i: i + 1, [0])
        everflow.cond(x > 0, lambda: everflow.sin(x), lambda: x)
    loop, branch = graph.get_operation_by_name("while/add"), graph.get_operation_by_name("cond/Sin")
    in_loop, in_branch = loop._get_control_flow_context(), branch._get_control_flow_context()
    assert util.IsInWhileLoop(loop) and not util.IsInWhileLoop(branch)
    assert util.IsInCond(branch) and not util.IsInCond(loop)
    assert (
        util.GetContainingWhileContext(in_loop) is in_loop and util.GetContainingWhileContext(in_loop, in_loop) is None
    )
    assert util.GetContainingCondContext(in_branch) is in_branch and util.GetContainingCondContext(in_loop) is None
    assert util.IsContainingContext(in_loop, in_loop) and not util.IsContainingContext(in_loop, in_branch)
    assert util.IsLoopMerge(graph.get_operation_by_name("while/Merge")) and util.IsCondMerge(
        graph.get_operation_by_name("cond/Merge")
    )
    assert util.GetOutputContext(graph.get_operation_by_name("while/Exit")) is None
    assert not util.IsInXLAContext(loop) and not util.InXlaContext(graph)
    with everflow.Graph().as_default():
        asked = []
        everflow.xla.experimental.compile(
            lambda: asked.append(util.InXlaContext(everflow.get_default_graph())) or everflow.constant(1.0)
        )
    assert asked == [True]


def test_a_name_that_an_inner_file_lacks_is_no_module():
    with pytest.raises(ImportError, match="doesn't have it yet"):
        importlib.import_module("tensorflow.contrib.layers.python.layers.layers.NoSuchLayer")


def test_paths_without_a_row_are_served_by_their_folder():
    from tensorflow.python.framework import device_spec
    from tensorflow.python.ops.ragged import ragged_tensor_value
    from tensorflow.python.training.tracking import data_structures

    assert device_spec.DeviceSpec is everflow.DeviceSpec
    assert ragged_tensor_value.RaggedTensorValue is everflow.compat.v1.ragged.RaggedTensorValue
    assert data_structures.__name__ == "tensorflow.python.training.tracking.data_structures"


def test_paths_that_tensorflow_has_not_are_told_from_those_it_has():
    with pytest.raises(ModuleNotFoundError, match="TensorFlow 1.15 has tensorflow.python.ops.math_ops"):
        importlib.import_module("tensorflow.python.ops.math_op")


def test_a_name_that_a_module_lacks_is_looked_for_elsewhere():
    from tensorflow.python.training import saver

    with pytest.raises(AttributeError, match=r"use tf\.nn\.rnn_cell\.BasicLSTMCell"):
        saver.BasicLSTMCell  # noqa: B018


def test_all_sources_are_there():
    rows = {source for sources in paths._rows().values() for source in sources}
    folders = {package for packages in paths.FOLDERS.values() for package in packages.split()}
    missing = [s for s in rows | folders if not (paths._matching(s) if "*" in s else paths._load(s))]
    assert not missing


def test_what_programs_of_the_time_expect_of_numpy_and_python_comes_along():
    program = "import everflow.as_tensorflow, numpy as np, collections; print(np.float, np.array([[1], [2, 3]]).dtype, collections.Mapping)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "<class 'float'> object <class 'collections.abc.Mapping'>\n", done.stderr

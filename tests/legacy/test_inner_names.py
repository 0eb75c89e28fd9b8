"""Names that only paths into TensorFlow's tree lead to: what they do."""

import unittest

import numpy as np
import pytest

import everflow as tf
import tests.served  # noqa: F401


def test_test_ops_are_op_types_like_any_other():
    from tensorflow.python.framework import test_ops

    with tf.Graph().as_default() as graph:
        a, b = test_ops.two_int_outputs()
        test_ops.int_input(a, name="user")
        assert test_ops.None_().type == "None"
        graph_def = graph.as_graph_def()
    assert b.dtype == tf.int32 and b.shape.rank is None
    with tf.Graph().as_default():
        (user,) = tf.import_graph_def(graph_def, return_elements=["user"], name="")
        assert user.inputs[0].name == "TwoIntOutputs:0"


def test_an_op_def_library():
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python.framework import op_def_library, test_ops

    library = op_def_library.OpDefLibrary()
    good = op_def_pb2.OpDef(name="Unheard", input_arg=[{"name": "a", "type": 1}])
    library.add_op(good)
    with pytest.raises(RuntimeError, match="already"):
        library.add_op(good)
    with pytest.raises(TypeError, match="isn't there"):
        library.add_op(op_def_pb2.OpDef(name="Bad", input_arg=[{"name": "a", "type": 1, "number_attr": "N"}]))
    with pytest.raises(TypeError, match="0 ways"):
        library.add_op(op_def_pb2.OpDef(name="Bad", input_arg=[{"name": "a"}]))
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="'Nobody'"):
            library.apply_op("Nobody")
        with pytest.raises(ValueError, match="registered"):
            library.apply_op("Unheard", a=1.0)
        apply = test_ops._op_def_lib.apply_op
        assert apply("ReservedAttr", range_=2).get_attr("range") == 2
        with pytest.raises(TypeError, match="follows"):
            apply("NPolymorphicIn", a=[1, 2], T=tf.float32)


def test_subscribe():
    from tensorflow.python.framework.subscribe import subscribe

    seen = []

    def note(tensor):
        return tf.py_func(lambda value: seen.append(float(value)), [tensor], [], name="note")

    with tf.Graph().as_default():
        c = tf.add(1.0, 2.0, name="c")
        d = tf.negative(c, name="d")
        with tf.control_dependencies([c]):
            n = tf.no_op("n")
        new = subscribe(c, [note])
        assert new.name == "c/subscription/Identity:0" and subscribe(c, [note]) is new and subscribe(new, note) is new
        assert list(d.op.inputs) == [new] and n.control_inputs == [new.op] and len(new.op.control_inputs) == 3
        with tf.Session() as sess:
            assert sess.run(d) == -3.0 and seen == [3.0] * 3
        with pytest.raises(TypeError, match="'c'"):
            subscribe("c", note)


def test_composite_values_one_behind_the_other():
    from tensorflow.python.framework import composite_tensor_utils as composites

    sparse = tf.SparseTensorValue(np.array([[0, 1]]), np.array([5]), (1, 2))
    both = composites.append_composite_tensor(sparse, sparse)
    assert both.indices.tolist() == [[0, 1], [1, 1]] and both.dense_shape == (2, 2)
    assert sparse.indices.tolist() == [[0, 1]]
    ragged = tf.ragged.constant_value([[1], [2, 3]])
    assert composites.append_composite_tensor(ragged, ragged).to_list() == [[1], [2, 3], [1], [2, 3]]
    assert composites.get_shape(sparse) == (1, 2) and composites.is_composite_or_composite_value(ragged)
    with pytest.raises(RuntimeError, match="RaggedTensorValue"):
        composites.append_composite_tensor(sparse, ragged)


def test_tests_for_each_combination():
    from tensorflow.python.framework import test_combinations

    ran = []

    @test_combinations.generate(
        test_combinations.times(test_combinations.combine(a=[1, 2]), test_combinations.combine(b="x"))
    )
    class Each(unittest.TestCase):
        def test_it(self, a, b):
            ran.append((a, b))

    unittest.defaultTestLoader.loadTestsFromTestCase(Each).run(unittest.TestResult())
    assert ran == [(1, "x"), (2, "x")] and hasattr(Each, "test_it_test_a_2_b_x") and not hasattr(Each, "test_it")
    with pytest.raises(ValueError, match="common"):
        test_combinations.times(test_combinations.combine(a=1), test_combinations.combine(a=2))


def test_registries():
    from tensorflow.python.framework import kernels, op_def_registry, registry

    assert op_def_registry.get_registered_ops()["MatMul"].input_arg[0].name == "a"
    assert [kernel.op for kernel in kernels.get_registered_kernels_for_op("MatMul").kernel] == ["MatMul"]
    assert not kernels.get_registered_kernels_for_op("Nobody").kernel
    mine = registry.Registry("mine")
    mine.register(len)
    assert mine.lookup("len") is len and list(mine.list()) == ["len"]
    with pytest.raises(KeyError, match="len"):
        mine.register(max, "len")
    with pytest.raises(LookupError, match="nobody"):
        mine.lookup("nobody")


def test_where_things_on_a_stack_come_from():
    from tensorflow.python.framework import traceable_stack

    stack = traceable_stack.TraceableStack()
    stack.push_obj("first")
    stack.push_obj("second")
    first, second = reversed(list(stack.peek_traceable_objs()))
    assert second.lineno == first.lineno + 1 and first.filename == __file__
    assert list(stack.copy().peek_objs()) == ["second", "first"] and stack.pop_obj() == "second"
    assert first.set_filename_and_line_from_caller(offset=1000) == first.HEURISTIC_USED


def test_the_context_of_eager_execution():
    from tensorflow.python.eager import context

    found = context.context()
    assert found is context.context() and not found.executing_eagerly() and not found.is_async()
    with context.eager_mode():
        assert found.executing_eagerly() and found.scope_name == "" and found.device_name == ""
        with tf.name_scope("a"), found.device("/cpu:0"):
            assert found.scope_name == "a/" and found.device_name.endswith("task:0/device:CPU:0")
    with context.device_policy(context.DEVICE_PLACEMENT_WARN):
        assert found.device_policy == 1
    assert found.device_policy == context.DEVICE_PLACEMENT_SILENT


def test_modules_show_the_modules_they_import():
    from tensorflow.python.ops import array_ops, rnn

    assert rnn.array_ops is array_ops and rnn.rnn_cell_impl.LSTMCell is tf.nn.rnn_cell.LSTMCell
    with pytest.raises(ModuleNotFoundError, match="cannot import name 'nosuch' from 'tensorflow.python.ops.array_ops'"):
        from tensorflow.python.ops.array_ops import nosuch
    with pytest.raises(ModuleNotFoundError, match="No module named 'tensorflow.python.nosuch'"):
        from tensorflow.python import nosuch  # noqa: F401


def test_modules_under_the_names_that_others_import_them_by():
    from tensorflow.python.framework import ops
    from tensorflow.python.keras import backend, optimizers
    from tensorflow.python.keras.engine import training_utils
    from tensorflow.python.ops import array_ops
    from tensorflow.python.training import moving_averages, slot_creator

    assert optimizers.adam_v2.Adam is tf.keras.optimizers.Adam
    assert training_utils.K.epsilon is backend.epsilon
    assert slot_creator.ops is ops and moving_averages.array_ops is array_ops
    with pytest.raises(AttributeError, match="no_such_module"):
        training_utils.no_such_module  # noqa: B018


def test_tensors_and_what_counts_as_one():
    from tensorflow.python.framework import ops

    class Own:
        name = property(lambda self: "own")
        dtype = property(lambda self: tf.float32)

    with tf.Graph().as_default():
        assert ops.is_dense_tensor_like(tf.constant(1)) and ops.is_dense_tensor_like(tf.Variable(1))
        assert not ops.is_dense_tensor_like(tf.SparseTensor([[0]], [1], [2])) and not ops.is_dense_tensor_like(Own())
        ops.register_dense_tensor_like_type(Own)
        assert ops.is_dense_tensor_like(Own()) and issubclass(tf.SparseTensor, ops._TensorLike)
        v = tf.Variable(2, name="v")
        assert ops._as_graph_element(v).name == "v:0" and ops._as_graph_element(tf.constant(1)) is None
    with pytest.raises(TypeError, match="property 'name'"):
        ops.register_dense_tensor_like_type(int)


def test_what_tensors_lead_to():
    from tensorflow.python.keras.utils import tf_utils

    with tf.Graph().as_default():
        a, b = tf.placeholder(tf.float32, name="a"), tf.placeholder(tf.float32, name="b")
        c = tf.add(a, b, name="c")
        d = tf.negative(c, name="d")
        v = tf.get_variable("v", [], use_resource=True)
        w = tf.multiply(v, a, name="w")
        assert tf_utils.get_reachable_from_inputs([b]) == {b, c.op, c, d.op, d}
        assert tf_utils.get_reachable_from_inputs([b], [c]) == {b, c.op, c}
        assert {v, v.handle, v.op, w} <= tf_utils.get_reachable_from_inputs([v])
        with pytest.raises(TypeError, match="3"):
            tf_utils.get_reachable_from_inputs([3])


def test_functions_as_text():
    from tensorflow.python.keras.utils import generic_utils

    def adder(amount):
        return lambda x, factor=2: factor * (x + amount)

    dumped = generic_utils.func_dump(adder(3))
    assert dumped[1:] == ((2,), (3,)) and generic_utils.func_load(dumped)(1) == 8
    assert [generic_utils.to_snake_case(name) for name in ("HTTPServer", "_Own")] == ["http_server", "private__own"]


def test_metrics_of_a_process():
    from tensorflow.python.eager import monitoring

    counter = monitoring.Counter("test/counter", "counts", "kind")
    counter.get_cell("a").increase_by(2)
    assert counter.get_cell("a").value() == 2 and counter.get_cell("b").value() == 0
    with pytest.raises(tf.errors.AlreadyExistsError):
        monitoring.Counter("test/counter", "counts")
    with pytest.raises(ValueError, match="labels"):
        counter.get_cell()
    gauge = monitoring.StringGauge("test/gauge", "says")
    gauge.get_cell().set("yes")
    assert gauge.get_cell().value() == "yes"
    sampler = monitoring.Sampler("test/sampler", monitoring.ExponentialBuckets(1.0, 2.0, 3), "spreads")
    for value in (1.0, 5.0, 100.0, 0.5):
        sampler.get_cell().add(value)
    assert list(sampler.get_cell().value().bucket) == [1.0, 1.0, 0.0, 2.0]


def test_events_by_the_old_writer(tmp_path):
    from tensorflow.core.framework import op_def_pb2
    from tensorflow.python import pywrap_tensorflow

    writer = pywrap_tensorflow.EventsWriter(str(tmp_path / "foo").encode())
    writer.WriteEvent(tf.Event(wall_time=1.0, step=3))
    writer.Close()
    assert writer.FileName().decode().startswith(str(tmp_path / "foo.out.tfevents."))
    assert [event.step for event in tf.train.summary_iterator(writer.FileName().decode())] == [0, 3]
    with pytest.raises(TypeError, match="'foo'"):
        writer.WriteEvent("foo")
    all_ops = op_def_pb2.OpList.FromString(pywrap_tensorflow.TF_GetBuffer(pywrap_tensorflow.TF_GetAllOpList()))
    assert "MatMul" in {op.name for op in all_ops.op}


def test_fetches_flat_and_back():
    from tensorflow.python.client.session import _FetchHandler

    with tf.Graph().as_default() as graph:
        a, op = tf.constant(1.0, name="a"), tf.no_op("n")
        handler = _FetchHandler(graph, {"x": [a, op], "y": "a:0"}, {})
        assert handler.fetches() == [a] and handler.targets() == [op]
        assert handler.build_results(None, [3.0]) == {"x": [3.0, None], "y": 3.0}
        fed = _FetchHandler(graph, [a], {a: 4})
        assert fed.fetches() == [] and fed.build_results(None, []) == [4]


def test_a_variable_scope_without_names_for_ops():
    from tensorflow.python.ops import variable_scope

    with tf.Graph().as_default() as graph, variable_scope._pure_variable_scope("x") as scope:
        assert scope.name == "x" and graph.get_name_scope() == ""
        assert tf.get_variable("v", []).name == "x/v:0" and tf.constant(1).name == "Const:0"


def test_savers_of_ones_own_things(tmp_path):
    from tensorflow.python.training import saver

    class Doubled(saver.BaseSaverBuilder.SaveableObject):
        def __init__(self, v):
            super().__init__(v, [saver.BaseSaverBuilder.SaveSpec(v * 2.0, "", "doubled")], "doubled")

        def restore(self, restored_tensors, restored_shapes):
            return tf.assign(self.op, restored_tensors[0])

    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(3.0)
        made = tf.train.Saver([Doubled(v)], builder=saver.BaseSaverBuilder())
        sess.run(v.initializer)
        made.restore(sess, made.save(sess, str(tmp_path / "model")))
        assert sess.run(v) == 6.0


def test_nested_values_as_messages():
    from tensorflow.python.saved_model import nested_structure_coder

    coder = nested_structure_coder.StructureCoder()
    value = {"a": [1, 2.5, "x", None, True], "b": tf.TensorSpec([2, None], tf.int32, "q")}
    assert coder.decode_proto(coder.encode_structure(value)) == value and coder.can_encode(value)
    assert not coder.can_encode({1})
    with pytest.raises(nested_structure_coder.NotEncodableError):
        coder.encode_structure({1})


def test_a_saved_model_that_notes_its_ops_in_signatures(tmp_path):
    from tensorflow.python.saved_model import builder, loader_impl

    asset_file = tmp_path / "words.txt"
    asset_file.write_text("hello")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.Variable(3.0, name="v")
        asset = tf.constant(str(asset_file), name="asset")
        init, train = tf.assign(v, 4.0, name="init").op, tf.assign_add(v, 1.0, name="train").op
        sess.run(v.initializer)
        made = builder._SavedModelBuilder(str(tmp_path / "model"))
        made.add_meta_graph_and_variables(sess, ["a"], assets_list=[asset], init_op=init, train_op=train)
        with pytest.raises(TypeError, match="asset"):
            made.add_meta_graph(["b"], assets_list=[v])
        made.add_meta_graph(["b"], train_op=train)
        made.save()
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.load(sess, ["a"], str(tmp_path / "model"))
        assert sess.run("v:0") == 4.0 and not any("main_op" in key for key in meta.collection_def)
        assert loader_impl.get_train_op(meta).name == "train" and loader_impl.get_init_op(meta).name == "init"
        assert loader_impl.get_asset_tensors("m", meta) == {"asset:0": "m/assets/words.txt"}
    with tf.Graph().as_default(), tf.Session() as sess:
        meta = tf.saved_model.load(sess, ["b"], str(tmp_path / "model"))
        assert sess.run("v:0") == 3.0 and loader_impl.get_init_op(meta) is None


def test_warm_starting_one_variable(tmp_path):
    from tensorflow.python.training import warm_starting_util as warm_starting

    old, new = tmp_path / "old.txt", tmp_path / "new.txt"
    old.write_text("apple\nbanana\n")
    new.write_text("banana\ncherry\napple\n")
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("v", initializer=[[1.0], [2.0]])
        sess.run(v.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "model"))
    halves = {"partitioner": lambda shape, dtype: [3, 1]}
    with tf.Graph().as_default(), tf.Session() as sess:
        whole = tf.get_variable("w", [3, 1])
        parts = list(tf.get_variable("p", [3, 1], **halves))
        assert warm_starting._get_var_info(parts)[0] == "p"
        for variable in (whole, parts):
            warm_starting._warm_start_var_with_vocab(variable, str(new), 3, path, str(old), prev_tensor_name="v")
        sess.run(tf.global_variables_initializer())
        assert sess.run(whole).tolist() == [[2.0], [0.0], [1.0]]
        assert [part.tolist() for part in sess.run(parts)] == [[[2.0]], [[0.0]], [[1.0]]]
        with pytest.raises(TypeError, match="several"):
            warm_starting._get_var_info([*parts, whole])
        with pytest.raises(ValueError, match="prev_vocab_path"):
            warm_starting._warm_start_var_with_vocab(whole, str(new), 3, path, None)


def test_logging_that_a_test_listens_to(monkeypatch):
    from tensorflow.python.platform import tf_logging

    heard = []
    monkeypatch.setattr(tf_logging, "info", lambda message, *args: heard.append(message % args))
    with tf.Graph().as_default():
        hook = tf.train.LoggingTensorHook({"x": tf.constant(3.0)}, every_n_iter=1)
        with tf.train.SingularMonitoredSession(hooks=[hook]) as sess:
            sess.run("Const:0")
    assert any("x = 3.0" in message for message in heard)


def test_arguments_of_linear_operators():
    from tensorflow.python.ops.linalg import linear_operator_util as util

    with tf.Graph().as_default():
        v, diag = tf.Variable([1.0]), tf.linalg.LinearOperatorDiag([1.0, 2.0], is_positive_definite=True)
        assert util.is_ref(v) and not util.is_ref(tf.ones([])) and util.convert_nonref_to_tensor(v) is v
        assert util.convert_nonref_to_tensor(1, dtype_hint=tf.float32).dtype == tf.float32
        assert util.convert_nonref_to_tensor(None) is None
        with pytest.raises(TypeError, match="float64"):
            util.convert_nonref_to_tensor(v, dtype=tf.float64)
        with pytest.raises(TypeError, match="mean is a RefVariable"):
            util.assert_not_ref_type(v, "mean")
        assert util.shape_tensor([]).dtype == tf.int32 and util.shape_tensor(tf.TensorShape([2])).shape == [1]
        assert util.dtype_name(np.float32) == util.dtype_name(v.dtype) == "float32"
        hint = util.use_operator_or_provided_hint_unless_contradicting
        assert hint(diag, "is_positive_definite", None, "no") is True
        with pytest.raises(ValueError, match="no"):
            hint(diag, "is_positive_definite", False, "no")
        with pytest.raises(ValueError, match="two dimensions"):
            util.assert_is_batch_matrix(tf.ones([2]))
        with tf.Session() as sess:
            sess.run(util.assert_compatible_matrix_dimensions(diag, tf.ones([2, 3])))


def test_names_of_ops():
    from tensorflow.python.ops import init_ops, standard_ops, summary_ops_v2
    from tensorflow.python.pywrap_tensorflow import TF_TryEvaluateConstant_wrapper as evaluate

    assert summary_ops_v2._INVALID_SCOPE_CHARACTERS.sub("_", "a b/c") == "a_b/c"
    assert init_ops._assert_float_dtype(tf.float16) is tf.float16
    with pytest.raises(ValueError, match="int32"):
        init_ops._assert_float_dtype(tf.int32)
    with tf.Graph().as_default() as graph:
        product, fed = standard_ops.mul(2.0, 3.0), tf.placeholder(tf.float32)
        assert product.op.name == "Mul" and evaluate(graph._c_graph, product._as_tf_output()) == 6.0
        assert evaluate(graph._c_graph, fed._as_tf_output()) is None


def test_names_of_estimators(tmp_path):
    from tensorflow.python.estimator import estimator, model_fn

    assert model_fn.LOSS_METRIC_KEY == "loss" and issubclass(model_fn._TPUEstimatorSpec, tuple)
    assert estimator._load_global_step_from_checkpoint_dir(str(tmp_path)) == 0
    with tf.Graph().as_default(), tf.Session() as sess:
        step = tf.train.create_global_step()
        sess.run(step.assign(7))
        tf.train.Saver().save(sess, str(tmp_path / "model"))
    assert estimator._load_global_step_from_checkpoint_dir(str(tmp_path)) == 7
    with pytest.raises(ValueError, match="params"):
        estimator._verify_model_fn_args(lambda features, mode: None, {"a": 1})

    class Other(tf.estimator.Estimator):
        def train(self):
            pass

    with pytest.raises(ValueError, match="train"):
        tf.estimator.Estimator._assert_members_are_not_overridden(Other.__new__(Other))


def test_what_feature_columns_keep():
    from tensorflow.python.feature_column import feature_column_lib, feature_column_v2

    column = tf.feature_column.numeric_column("a")
    assert feature_column_lib.is_feature_column_v2([column])
    assert not feature_column_lib.is_feature_column_v2(column)
    assert not feature_column_lib.is_feature_column_v2([tf.contrib.layers.real_valued_column("a")])
    with tf.Graph().as_default():
        layer = tf.keras.layers.Layer()
        keeper = feature_column_v2._StateManagerImpl(layer, trainable=True)
        made = keeper.create_variable(column, "w", [2], trainable=False)
        assert keeper.get_variable(column, "w") is made and layer.non_trainable_weights == [made]
        with pytest.raises(ValueError, match="already"):
            keeper.create_variable(column, "w", [2])
        with pytest.raises(ValueError, match="no variable 'other'"):
            keeper.get_variable(column, "other")
        keeper.add_resource(column, "table", 3)
        assert keeper.get_resource(column, "table") == 3


def test_parts_of_keras_files(tmp_path):
    h5py = pytest.importorskip("h5py")
    from tensorflow.python.keras.saving import hdf5_format, saving_utils

    tf.keras.backend.clear_session()
    model = tf.keras.Sequential([tf.keras.layers.Dense(2, input_shape=(3,))])
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((2, 3)), np.ones((2, 2)), verbose=0)
    model.save(str(tmp_path / "m.h5"))
    with h5py.File(tmp_path / "m.h5", "r") as file:
        assert hdf5_format.load_attributes_from_hdf5_group(file["model_weights"], "layer_names") == ["dense"]
        assert len(hdf5_format.load_optimizer_weights_from_hdf5_group(file)) == 5
    with h5py.File(tmp_path / "n.h5", "w") as file:
        hdf5_format.save_optimizer_weights_to_hdf5_group(file, model.optimizer)
        assert len(hdf5_format.load_optimizer_weights_from_hdf5_group(file)) == 5
    (spec,) = saving_utils.model_input_signature(model)
    assert spec.name == "dense_input" and spec.shape.as_list() == [None, 3]
    outputs = saving_utils.trace_model_call(model).get_concrete_function().structured_outputs
    assert list(outputs) == ["dense"]
    assert list(saving_utils.extract_model_metrics(model)) == ["mean_absolute_error"]
    about = saving_utils.model_metadata(model)
    assert about["model_config"]["class_name"] == "Sequential"
    assert saving_utils.compile_args_from_training_config(about["training_config"])["metrics"] == ["mae"]

    class Own(tf.keras.Model):
        def call(self, inputs):
            return inputs

    with pytest.raises(ValueError, match="shapes of its inputs"):
        saving_utils.trace_model_call(Own())


def test_tests_with_strategies():
    from tensorflow.python.distribute import combinations, strategy_combinations, summary_op_util

    seen = []

    class Case(tf.test.TestCase):
        @combinations.generate(
            combinations.combine(
                distribution=[
                    strategy_combinations.one_device_strategy,
                    strategy_combinations.mirrored_strategy_with_two_gpus,
                    strategy_combinations.tpu_strategy,
                ],
                mode=["graph", "eager"],
            )
        )
        def test_one(self, distribution):
            seen.append((type(distribution).__name__, tf.executing_eagerly()))

        @combinations.generate(combinations.combine(tf_api_version=[1, 2], mode="graph"))
        def test_two(self):
            seen.append(1)

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Case).run(result)
    assert result.wasSuccessful(), result.errors
    assert sorted(seen, key=str) == [("OneDeviceStrategy", False), ("OneDeviceStrategy", True), 1]
    assert len(strategy_combinations.all_strategy_combinations()) == 12
    assert summary_op_util.skip_summary() == 0
    with pytest.raises(ValueError, match="'other'"):
        combinations.EagerGraphCombination().context_managers({"mode": "other"})


def test_initializers_of_version_2_are_those_of_keras_there():
    assert tf.compat.v2.keras.initializers.GlorotUniform(seed=1).get_config() == {"seed": 1}


def test_names_of_contrib():
    from tensorflow.contrib.cudnn_rnn.python.layers import cudnn_rnn
    from tensorflow.contrib.layers.python.layers import layers
    from tensorflow.contrib.model_pruning.python.layers import core_layers

    assert cudnn_rnn.CUDNN_RNN_BIDIRECTION == "bidirectional" and core_layers.MASK_COLLECTION == "masks"
    assert tf.contrib.learn.utils.saved_model_export_utils.make_export_strategy is tf.contrib.learn.make_export_strategy
    assert tf.contrib.tfprof.tfprof_logger.write_op_log is tf.profiler.write_op_log
    with tf.Graph().as_default() as graph:
        with tf.variable_scope("s", custom_getter=layers._build_variable_getter({"kernel": "weights"})):
            v = tf.get_variable("kernel", [2])
        assert v.op.name == "s/weights" and tf.get_collection("model_variables") == [v]
        layers._add_variable_to_collections(v, {"weights": ["a", "b"], "biases": "c"}, "weights")
        layers._add_variable_to_collections(v, "d", "weights")
        layers._add_variable_to_collections(v, None, "weights")
        assert {"a", "b", "d"} <= set(graph.get_all_collection_keys()) and not tf.get_collection("c")


def test_summaries_of_slim():
    summaries = tf.contrib.slim.summaries
    with tf.Graph().as_default():
        x, s, image = tf.zeros([2, 3], name="x"), tf.ones([], name="s"), tf.ones([1, 2, 2, 3], name="i")
        assert summaries.add_scalar_summary(s, "name", "prefix").op.name == "prefix/name"
        printed = summaries.add_scalar_summary(s, print_summary=True)
        assert printed.op.type == "Print" and printed in tf.get_collection("summaries")
        (histogram,) = summaries.add_histogram_summaries([x], "p")
        (images,) = summaries.add_image_summaries([image], "p")
        (zeros,) = summaries.add_zero_fraction_summaries([x], "p")
        (scalar,) = summaries.add_scalar_summaries([s], "p")
        names = [each.op.name for each in (histogram, images, zeros, scalar)]
        assert names == ["p/x", "p/i", "p/x/Fraction_of_Zero_Values", "p/s"]
        with tf.Session() as sess:
            (value,) = tf.Summary.FromString(sess.run(zeros)).value
            assert value.simple_value == 1.0


def test_heads_of_ones_own():
    from tensorflow.python.estimator.canned import head as heads
    from tensorflow.python.estimator.canned.optimizers import get_optimizer_instance

    class Squares(heads._Head):
        name, logits_dimension = "squares", 1

        def create_loss(self, features, mode, logits, labels):
            return heads.LossSpec(tf.losses.mean_squared_error(labels, logits), None, 1.0, labels)

        def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, **_):
            loss = self.create_loss(features, mode, logits, labels).training_loss
            step = optimizer.minimize(loss, tf.train.get_or_create_global_step())
            return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)

    with tf.Graph().as_default():
        logits = tf.layers.dense(tf.ones([2, 3]), 1)
        optimizer = get_optimizer_instance("SGD", 0.1)
        spec = Squares().create_estimator_spec({}, "train", logits, tf.zeros([2, 1]), optimizer)
        assert spec.train_op.type == "AssignAdd"
        with pytest.raises(NotImplementedError, match="create_estimator_spec"):
            heads._Head.create_estimator_spec(Squares(), {}, "train", logits)
    assert isinstance(heads._multi_class_head_with_softmax_cross_entropy_loss(3), heads._Head)
    assert heads._regression_head(label_dimension=2).logits_dimension == 2
    with pytest.raises(TypeError, match="abstract"):
        heads._Head()


def test_a_star_brings_the_modules_of_a_folder():
    names = {}
    exec("from tensorflow.python.data.ops import *", names)
    assert {"dataset_ops", "iterator_ops", "readers"} <= set(names) and "constant" not in names

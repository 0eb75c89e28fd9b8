"""Small programs for kernels that can't be called alone: variables, queues, tables, arrays, functions, datasets, files."""

from __future__ import annotations

import tempfile

import numpy as np

import everflow as tf
from everflow import kernels
from everflow.contrib.tensor_forest.tensor_forest import ForestHParams, RandomForestGraphs
from everflow.data.experimental import distribution, optimization, snapshots, stats, threadpool
from everflow.framework import dtypes, op_defs
from everflow.framework import raw_ops as raw
from everflow.ops.array import collectives
from everflow.ops.functions.defun import Defun
from everflow.ops.variables.resources import initialize_resources, shared_resources
from tests.kernels.op_examples import scalar, text

_ROWS = np.arange(6, dtype=np.float32).reshape(3, 2)


def _run(*fetches):
    """Run what was built, one after the other, with all variables initialised."""
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), tf.tables_initializer()])
        for fetch in fetches:
            session.run(fetch)


def _variable(resource: bool, value=_ROWS):
    made = tf.Variable(value, use_resource=resource, dtype=np.asarray(value).dtype)
    return made.handle if resource else made._ref()


def optimizers():
    updates = []
    for name in kernels.names():
        definition = op_defs.find(name)
        if definition is None or "Apply" not in name or "Accumulator" in name:
            continue
        types = {
            a.type_attr: dtypes.int64 if a.name == "global_step" else dtypes.float32
            for a in definition.inputs
            if a.type_attr
        }
        arguments = []
        for arg in definition.inputs:
            if arg.is_ref or arg.type is dtypes.resource:
                arguments.append(_variable(not arg.is_ref))
            elif arg.name == "indices":
                arguments.append(np.int32([0, 2]))
            elif arg.name in ("grad", "delta"):
                arguments.append(_ROWS[:2] if "Sparse" in name else _ROWS)
            elif arg.name == "global_step" or (arg.type or types.get(arg.type_attr)) is dtypes.int64:
                arguments.append(np.int64(1))
            else:
                arguments.append(np.float32(-0.5 if arg.name == "lr_power" else 0.5))
        updates.append(getattr(raw, name)(*arguments))
    _run(updates)


def joint_updates():
    """What plans make of several updates: one call for all of them, moving averages, scaled variables."""
    first, second = tf.Variable(_ROWS), tf.Variable(_ROWS)
    loss = tf.reduce_sum(first * first) + tf.reduce_sum(second)
    many = tf.add_n([tf.reduce_sum(v * v) for v in [tf.Variable(_ROWS) for _ in range(4)]])
    slow = tf.train.ExponentialMovingAverage(0.9)
    resource, moment = tf.Variable(_ROWS, use_resource=True), tf.placeholder(tf.float32, [3, 2])
    steps = [
        tf.train.GradientDescentOptimizer(0.1).minimize(many),
        tf.train.AdamOptimizer().minimize(loss),
        slow.apply([first]),
    ]
    scaled = [first.assign(first * 0.5), resource.assign(resource * 0.5)]
    quotients = [v.assign_sub(0.1 * moment / tf.sqrt(moment + 1.0)) for v in (second, resource)]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for step in [*steps, *scaled, *quotients]:
            session.run(step.op if isinstance(step, tf.Tensor) else step, {moment: _ROWS})


def variables():
    steps = []
    for resource, prefix in ((False, ""), (True, "Resource")):
        for name in ("Add", "Div", "Max", "Min", "Mul", "Sub", "Update"):
            steps.append(getattr(raw, f"{prefix}Scatter{name}")(_variable(resource), [0, 2], _ROWS[:2] + 1))
        for name in ("Add", "Sub", "Update"):
            steps.append(getattr(raw, f"{prefix}ScatterNd{name}")(_variable(resource), [[0], [2]], _ROWS[:2]))
        steps.append(getattr(raw, f"{prefix}StridedSliceAssign")(_variable(resource), [0], [1], [1], _ROWS[:1]))
        steps.append(
            getattr(raw, f"{prefix}CountUpTo")(
                _variable(resource, np.int64(0)), limit=5, **({"T": tf.int64} if resource else {})
            )
        )
    handle, ref, words = _variable(True), _variable(False), _variable(True, text(b"a", b"b"))
    steps += [
        raw.Assign(ref, _ROWS),
        raw.AssignAdd(ref, _ROWS),
        raw.AssignSub(ref, _ROWS),
        raw.IsVariableInitialized(ref),
    ]
    steps += [
        raw.AssignVariableOp(handle, _ROWS),
        raw.AssignAddVariableOp(handle, _ROWS),
        raw.AssignSubVariableOp(handle, _ROWS),
    ]
    steps += [raw.ReadVariableOp(handle, dtype=tf.float32), raw.VariableShape(handle), raw.VarIsInitializedOp(handle)]
    steps += [
        raw.ResourceGather(v, i, dtype=t) for v, t in ((handle, tf.float32), (words, tf.string)) for i in (1, [0, 1])
    ]
    steps += [
        raw.ResourceGatherNd(v, i, dtype=t)
        for v, t in ((handle, tf.float32), (words, tf.string))
        for i in ([1], [[0], [1]])
    ]
    made = raw.TemporaryVariable(shape=[2], dtype=tf.float32, var_name="t")
    steps.append(raw.DestroyTemporaryVariable(tf.assign(made, [1.0, 2.0]), var_name="t"))
    steps += [
        raw.RefIdentity(ref),
        raw.RefSelect(0, [ref, ref]),
        raw.ScatterAddNdim(ref, [[0, 1]], [1.0]),
        raw.SdcaShrinkL1([ref], l1=0.1, l2=1.0),
        raw.DebugGradientRefIdentity(ref),
        raw.DebugGradientIdentity(_ROWS),
        raw.GuaranteeConst(_ROWS),
        raw.XlaClusterOutput(_ROWS),
    ]
    counter = tf.Variable(np.int64(0), use_resource=False)
    steps += [raw.ObtainNext(text(b"a", b"b"), counter._ref()), raw.DestroyResourceOp(handle)]
    _run(*steps)


def generators():
    def state():
        return _variable(True, np.int64([0, 0, 1]))

    algorithm, shape = np.int64(1), np.int64([2, 3])
    draws = [raw.StatefulUniform, raw.StatefulStandardNormalV2, raw.StatefulTruncatedNormal]
    _run(
        [draw(state(), algorithm, shape) for draw in draws],
        raw.StatefulUniformFullInt(state(), algorithm, shape, dtype=tf.int64),
        raw.StatefulUniformInt(state(), algorithm, shape, np.int64(0), np.int64(5)),
        raw.StatefulRandomBinomial(state(), algorithm, shape, np.float32([5, 5]), np.float32([0.5, 0.5])),
        raw.RngSkip(state(), algorithm, np.int64(3)),
    )


def queues():
    for form in ("", "V2"):

        def of(name, form=form):
            return getattr(raw, name + form)

        types, shapes = [tf.float32, tf.string], [[2], []]
        kinds = [("FIFOQueue", {}), ("PaddingFIFOQueue", {}), ("RandomShuffleQueue", {"min_after_dequeue": 0})]
        for kind, more in kinds:
            queue = of(kind)(component_types=types, shapes=shapes, **more)
            one, two = [_ROWS[0], scalar(b"a")], [_ROWS[:2], text(b"a", b"b")]
            _run(
                [of("QueueEnqueue")(queue, one), of("QueueEnqueueMany")(queue, two)],
                of("QueueDequeue")(queue, component_types=types), of("QueueDequeueMany")(queue, 1, component_types=types),
                of("QueueDequeueUpTo")(queue, 1, component_types=types), [of("QueueSize")(queue)], of("QueueClose")(queue),
            )  # fmt: skip
        queue = of("PriorityQueue")(component_types=[tf.float32], shapes=[[]])
        _run(
            of("QueueEnqueue")(queue, [np.int64(1), np.float32(2)]),
            of("QueueDequeue")(queue, component_types=[tf.int64, tf.float32]),
        )
    queue = raw.FIFOQueueV2(component_types=[tf.float32])
    _run([raw.QueueIsClosedV2(queue), raw.QueueIsClosed(raw.FIFOQueue(component_types=[tf.float32]))])


def stores():
    area = {"dtypes": [tf.float32], "shared_name": "area"}
    _run(
        raw.Stage([_ROWS], shared_name="area"),
        raw.StagePeek(0, **area),
        raw.StageSize(**area),
        raw.Unstage(**area),
        raw.StageClear(**area),
    )
    for ordered in ("", "Ordered"):
        of = {kind: getattr(raw, f"{ordered}Map{kind}") for kind in "Stage Peek Unstage UnstageNoKey Size".split()}
        keyed = {"dtypes": [tf.float32], "shared_name": f"keyed{ordered}"}
        put = of["Stage"](np.int64(3), [0], [_ROWS], **keyed)
        _run(put, of["Peek"](np.int64(3), [0], **keyed), of["Size"](**keyed), of["Unstage"](np.int64(3), [0], **keyed))
        _run(put, tf.contrib.framework.nest.flatten(of["UnstageNoKey"]([0], **keyed)))
        _run(getattr(raw, f"{ordered}MapIncompleteSize")(**keyed), getattr(raw, f"{ordered}MapClear")(**keyed))
    barrier = raw.Barrier(component_types=[tf.float32], shapes=[[2]])
    _run(
        raw.BarrierInsertMany(barrier, text(b"k"), _ROWS[:1], component_index=0),
        [raw.BarrierReadySize(barrier), raw.BarrierIncompleteSize(barrier)],
        tf.contrib.framework.nest.flatten(raw.BarrierTakeMany(barrier, 1, component_types=[tf.float32])), raw.BarrierClose(barrier),
    )  # fmt: skip
    for prefix in ("", "Resource"):
        sum_ = getattr(raw, f"{prefix}ConditionalAccumulator")(dtype=tf.float32, shape=[3, 2])
        of = {
            n: getattr(raw, f"{prefix}Accumulator{n}")
            for n in ("ApplyGradient", "TakeGradient", "NumAccumulated", "SetGlobalStep")
        }
        _run(
            of["ApplyGradient"](sum_, np.int64(0), _ROWS), of["NumAccumulated"](sum_), of["TakeGradient"](sum_, 1, dtype=tf.float32),
            of["SetGlobalStep"](sum_, np.int64(3)),
        )  # fmt: skip
    rows = raw.SparseConditionalAccumulator(dtype=tf.float32, shape=[3, 2])
    put = raw.SparseAccumulatorApplyGradient(
        rows, np.int64(0), np.int64([1]), _ROWS[:1], np.int64([3, 2]), has_known_shape=True
    )
    _run(put, list(raw.SparseAccumulatorTakeGradient(rows, 1, dtype=tf.float32)))
    with tf.Session() as session:
        handle = session.run(tf.get_session_handle(tf.constant(_ROWS)))
        placeholder, value = tf.get_session_tensor(handle.handle, tf.float32)
        session.run(value + 1.0, {placeholder: handle.handle})
        handle.delete()
    section = tf.CriticalSection()
    _run(section.execute(lambda: tf.constant(1.0) + 1.0))
    _run(raw.GetSessionHandle(_ROWS))


def tables():
    for form in ("", "V2"):
        of = {n: getattr(raw, f"LookupTable{n}{form}") for n in ("Find", "Insert", "Size", "Export", "Import")}
        kinds = {"key_dtype": tf.int64, "value_dtype": tf.float32}
        keys, values = np.int64([1, 2]), np.float32([0.5, 1.5])
        static = getattr(raw, "HashTable" + form)(**kinds)
        _run(
            getattr(raw, "InitializeTable" + form)(static, keys, values),
            [of["Find"](static, keys, 0.0), of["Size"](static)],
        )
        mutable = getattr(raw, "MutableHashTable" + form)(**kinds)
        exported = of["Export"](mutable, Tkeys=tf.int64, Tvalues=tf.float32)
        _run(
            of["Insert"](mutable, keys, values),
            list(exported),
            of["Import"](mutable, keys, values),
            of["Find"](mutable, keys, 0.0),
        )
        vectors = getattr(raw, "MutableHashTableOfTensors" + form)(value_shape=[2], **kinds)
        _run(of["Insert"](vectors, keys, _ROWS[:2]), of["Find"](vectors, keys, _ROWS[0]))
        dense = (
            [raw.MutableDenseHashTable(np.int64(-1), **kinds)]
            if not form
            else [raw.MutableDenseHashTableV2(np.int64(-1), np.int64(-2), **kinds)]
        )
        _run(of["Insert"](dense[0], keys, values))
    table = raw.MutableHashTableV2(key_dtype=tf.int64, value_dtype=tf.float32)
    _run(raw.LookupTableRemoveV2(table, np.int64([1])))


def arrays():
    for form in ("V2", "V3"):

        def of(name, form=form):
            return getattr(raw, f"TensorArray{name}{form}")

        made = of("")(3, dtype=tf.float32, clear_after_read=False)
        handle, flow = made if form == "V3" else (made, np.float32(0))
        flow = of("Write")(handle, 0, _ROWS[0], flow)
        flow = of("Scatter")(handle, [1, 2], _ROWS[1:], flow)
        rows = of("Gather")(handle, [0, 1, 2], flow, dtype=tf.float32)
        joined = of("Concat")(handle, flow, dtype=tf.float32)
        other = of("")(2, dtype=tf.float32)
        other, start = other if form == "V3" else (other, np.float32(0))
        split = of("Split")(other, _ROWS, np.int64([1, 2]), start)
        gradient = of("Grad")(handle, flow, source="g")
        read = [rows, *joined, of("Size")(handle, flow), of("Read")(handle, 0, flow, dtype=tf.float32), split]
        with tf.control_dependencies([*read, gradient[1] if form == "V3" else gradient]):
            _run([*read, of("Close")(handle)])
    handle, flow = raw.TensorArrayV3(1, dtype=tf.float32)
    _run(raw.TensorArrayGradWithShape(handle, flow, [2], source="g")[1])
    for form, stack in (("", raw.Stack(elem_type=tf.float32)), ("V2", raw.StackV2(5, elem_type=tf.float32))):
        pushed = getattr(raw, "StackPush" + form)(stack, _ROWS)
        with tf.control_dependencies([pushed]):
            popped = getattr(raw, "StackPop" + form)(stack, elem_type=tf.float32)
        with tf.control_dependencies([popped]):
            _run([pushed, popped, getattr(raw, "StackClose" + form)(stack)])


def lists():
    made = raw.TensorListFromTensor(_ROWS, [2])
    pushed = raw.TensorListPushBack(made, _ROWS[0])
    rest, last = raw.TensorListPopBack(pushed, [2], element_dtype=tf.float32)
    reserved = raw.TensorListReserve([2], 2, element_dtype=tf.float32)
    scattered = [
        raw.TensorListScatter(_ROWS[:2], [0, 1], [2]), raw.TensorListScatterV2(_ROWS[:2], [0, 1], [2], 3),
        raw.TensorListSetItem(reserved, 0, _ROWS[0]),
        raw.TensorListScatterIntoExistingList(made, _ROWS[:1], [1]), raw.TensorListResize(made, 4), rest,
        raw.TensorListConcatLists(made, made, element_dtype=tf.float32), raw.AddN([made, made]), raw.ZerosLike(made),
        raw.TensorListPushBackBatch(tf.stack([made, made]), _ROWS[:2])[1],
    ]  # fmt: skip
    empty, parts = (
        raw.EmptyTensorList([2], 5, element_dtype=tf.float32),
        raw.TensorListSplit(_ROWS, [-1, 2], np.int64([1, 2])),
    )
    shown = [raw.TensorListStack(v, [2], element_dtype=tf.float32) for v in scattered if v is not scattered[4]]
    _run(
        [last, *shown, raw.TensorListLength(empty), raw.TensorListElementShape(made, shape_type=tf.int32)],
        raw.TensorListGetItem(made, 1, [2], element_dtype=tf.float32),
        [raw.TensorListGather(made, [0, 2], [2], element_dtype=tf.float32), raw.TensorListLength(scattered[4])],
        list(raw.TensorListConcat(parts, element_dtype=tf.float32)),
        list(raw.TensorListConcatV2(parts, [-1, 2], np.zeros(0, np.int64), element_dtype=tf.float32)),
    )  # fmt: skip
    optional = raw.OptionalFromValue([_ROWS])
    value = raw.OptionalGetValue(optional, output_types=[tf.float32], output_shapes=[[3, 2]])
    _run([raw.OptionalHasValue(optional), raw.OptionalHasValue(raw.OptionalNone()), *value])


def sums_of_loops():
    """The gradient of a recurrence adds up products round by round."""
    weights, bias = (
        tf.Variable(np.full((2, 2), 0.1, np.float32), use_resource=False),
        tf.Variable(np.float32([0.1, 0.2])),
    )
    _, result = tf.while_loop(
        lambda i, s: i < 4,
        lambda i, s: (i + 1, tf.tanh(tf.nn.bias_add(tf.matmul(s, weights), bias))),
        [0, tf.constant(_ROWS)],
    )
    slices = tf.gradients([weights[:, :1] * 2.0, weights[:, 1:] * 3.0], weights)
    _run(tf.gradients(result, [weights, bias]), slices)


def functions():
    @Defun(tf.float32)
    def double(x):
        return x * 2.0

    def below(x):
        return x < 10.0

    traced = tf.function(lambda x: tf.cond(x > 1.0, lambda: x + 1.0, lambda: x - 1.0), autograph=False)
    looped = tf.function(lambda x: tf.while_loop(below, lambda v: v * 2.0, [x]), autograph=False)

    @Defun(tf.int32, tf.float32)
    def counted(i, x):
        return x + tf.cast(i, tf.float32)

    @Defun(tf.float32, tf.float32)
    def added(a, b):
        return a + b

    @Defun(tf.float32, tf.float32)
    def larger(a, b):
        return a >= b

    @Defun(tf.float32)
    def small(a):
        return a < 10.0

    x = tf.placeholder_with_default(np.float32(3), [])
    double(x), counted(1, x), added(x, x), larger(x, x), small(x)  # which adds them to the graph
    rows, window = x * np.ones([2, 2], np.float32), {"window_dimensions": [2, 1], "window_strides": [1, 1]}
    no_padding = [[0, 0], [0, 0]]
    with tf.Session() as session:
        session.run(raw.MapDefun([rows], [], f=double, output_types=[tf.float32], output_shapes=[[2]]))
        session.run(raw.XlaReduce(rows, 0.0, dimensions_to_reduce=[0], reducer=added))
        dilations = {"base_dilations": [1, 1], "window_dilations": [1, 1]}
        session.run(raw.XlaReduceWindow(rows, 0.0, **window, **dilations, padding=no_padding, computation=added))
        scattered = {"source": rows[:1], "init_value": 0.0, "select": larger, "scatter": added}
        session.run(raw.XlaSelectAndScatter(rows, **window, padding=no_padding, **scattered))
        session.run(raw.XlaIf(True, [x], then_branch=double, else_branch=double, Tout=[tf.float32]))
        session.run(raw.XlaWhile([x], cond=small, body=double))
        session.run(raw.Case(1, [x], Tout=[tf.float32], branches=[double, double]))
        session.run(raw.For(0, 3, 1, [x], body=counted))
        session.run(raw.RemoteCall("/cpu:0", [x], Tout=[tf.float32], f=double))
        session.run(raw.If(True, [x], Tout=[tf.float32], then_branch=double, else_branch=double))
        session.run(raw.Assert(True, [x]))
        session.run([double(x), tf.gradients(double(x), x)[0], traced(x), looped(x)])
        session.run(tf.py_func(lambda a: a + 1, [x], tf.float32))
        session.run(tf.py_func(lambda a: a + 1, [x], tf.float32, stateful=False))
        session.run(tf.py_function(lambda a: a, [x], tf.float32))
        session.run([tf.Print(x, [x], "seen"), tf.print("seen", x)])
        session.run([tf.timestamp(), raw.DeepCopy(x), raw.FakeParam(dtype=tf.float32, shape=[2])])


def batches():
    rows, timing = tf.placeholder_with_default(_ROWS, [3, 2]), {"num_batch_threads": 1, "batch_timeout_micros": 0}
    (together,), index, number = raw.Batch([rows], **timing, max_batch_size=3, grad_timeout_micros=0)
    double = tf.nondifferentiable_batch_function(1, 3, 0)(lambda a: a * 2.0)
    with tf.Session() as session:
        session.run([raw.Unbatch(together, index, number, timeout_micros=1000), *double(rows)])
        session.run(raw.UnbatchGrad(together, index, rows, number))


def boosted_trees():
    ensemble = raw.BoostedTreesEnsembleResourceHandleOp()
    predict = {"logits_dimension": 1}
    features = [np.int32([0, 1])]
    split = [[np.int32([0])], [np.float32([1])], [np.int32([0])], [np.float32([[0.1]])], [np.float32([[0.2]])]]
    summaries = raw.BoostedTreesMakeQuantileSummaries([_ROWS[:, 0]], np.ones(3, np.float32), 0.1)
    stream = raw.BoostedTreesQuantileStreamResourceHandleOp()
    _run(
        raw.BoostedTreesCreateEnsemble(ensemble, np.int64(0), scalar(b"")),
        [raw.IsBoostedTreesEnsembleInitialized(ensemble), *raw.BoostedTreesGetEnsembleStates(ensemble)],
        list(raw.BoostedTreesTrainingPredict(ensemble, [0, 0], [0, 0], features, **predict)),
        raw.BoostedTreesCenterBias(ensemble, [[0.1]], [[0.2]], 0.0, 0.0),
        raw.BoostedTreesDeserializeEnsemble(ensemble, np.int64(1), scalar(b"")),
        raw.BoostedTreesUpdateEnsemble(ensemble, [0], *split, 2, 0.1, pruning_mode=0),
        raw.BoostedTreesUpdateEnsembleV2(ensemble, [0], [[0]], *(part if i else [np.int32([1])] for i, part in enumerate(split)), [["EQUALITY_DEFAULT_RIGHT"]], 2, 0.1, 0),
        [raw.BoostedTreesPredict(ensemble, features, **predict), raw.BoostedTreesExampleDebugOutputs(ensemble, features, **predict)],
        [*raw.BoostedTreesSerializeEnsemble(ensemble), *raw.BoostedTreesTrainingPredict(ensemble, [0, 0], [0, 0], features, **predict)],
        raw.BoostedTreesCreateQuantileStreamResource(stream, 0.1, np.int64(1)), raw.IsBoostedTreesQuantileStreamResourceInitialized(stream),
        raw.BoostedTreesQuantileStreamResourceAddSummaries(stream, summaries),
        raw.BoostedTreesFlushQuantileSummaries(stream, num_features=1),
        raw.BoostedTreesQuantileStreamResourceAddSummaries(stream, summaries),
        raw.BoostedTreesQuantileStreamResourceFlush(stream, np.int64(2)),
        raw.BoostedTreesQuantileStreamResourceGetBucketBoundaries(stream, num_features=1),
        raw.BoostedTreesQuantileStreamResourceDeserialize(stream, [np.float32([0.1, 0.2])]),
    )  # fmt: skip


def datasets():
    data = tf.data.Dataset
    numbers, rows = data.range(6), data.from_tensor_slices(_ROWS)
    options = tf.data.Options()
    options.experimental_threading.max_intra_op_parallelism = options.experimental_threading.private_threadpool_size = 1
    made = [
        numbers.with_options(options),
        numbers.map(lambda v: v + 1).batch(2), rows.padded_batch(2, [None]),
        numbers.map(lambda v: v, num_parallel_calls=2).shuffle(3).repeat(2), numbers.skip(1).take(2),
        numbers.filter(lambda v: v > 1).prefetch(1), numbers.flat_map(lambda v: data.from_tensors(v)),
        numbers.interleave(lambda v: data.from_tensors(v), 2),
        numbers.interleave(lambda v: data.from_tensors(v), 2, num_parallel_calls=2),
        data.zip((numbers, rows)), numbers.concatenate(numbers), numbers.shard(2, 0), numbers.window(2).flat_map(lambda d: d),
        numbers.cache(), rows.apply(tf.data.experimental.unbatch()), numbers.apply(tf.data.experimental.unique()),
        numbers.apply(tf.data.experimental.scan(np.int64(0), lambda s, v: (s + v, s))),
        numbers.apply(tf.data.experimental.ignore_errors()), data.from_generator(lambda: iter([1, 2]), tf.int32),
        numbers.apply(tf.data.experimental.map_and_batch(lambda v: v, 2)),
        numbers.apply(tf.data.experimental.group_by_window(lambda v: v % 2, lambda _, d: d.batch(2), 2)),
        tf.data.experimental.RandomDataset(1).take(2),
        numbers.apply(tf.data.experimental.take_while(lambda v: v < 3)), numbers.apply(tf.data.experimental.shuffle_and_repeat(3)),
        numbers.batch(2, drop_remainder=True),
        tf.data.experimental.sample_from_datasets([numbers, numbers]).take(2),
        rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [2])),
        data.from_sparse_tensor_slices(tf.SparseTensor(np.int64([[0, 1], [1, 0]]), [1, 2], [2, 2])),
        numbers.reduce(np.int64(0), lambda s, v: s + v),
        tf.data.experimental.get_single_element(data.from_tensors(_ROWS)), tf.data.experimental.cardinality(numbers),
    ]  # fmt: skip
    for one in made:
        if isinstance(one, tf.Tensor):
            _run(one)
            continue
        iterator = tf.data.make_initializable_iterator(one)
        _run(iterator.initializer, iterator.get_next())
    iterator = tf.data.make_one_shot_iterator(numbers)
    _run(iterator.get_next(), iterator.string_handle())


def _first(variant, kind=tf.int64):
    """The first element of a dataset of one component."""
    kinds = {"output_types": [kind], "output_shapes": [None]}
    iterator = raw.AnonymousIterator(**kinds)
    with tf.control_dependencies([raw.MakeIterator(variant, iterator)]):
        return raw.IteratorGetNext(iterator, **kinds)


def older_datasets():
    numbers, rows = tf.data.Dataset.range(6)._variant_tensor, tf.data.Dataset.from_tensor_slices(_ROWS)._variant_tensor
    kinds, one = {"output_types": [tf.int64], "output_shapes": [None]}, np.int64(1)
    reducer = tf.data.experimental.Reducer(lambda _: np.int64(0), lambda s, v: s + v, lambda s: s)
    interleaved = tf.data.experimental.parallel_interleave(lambda v: tf.data.Dataset.from_tensors(v), cycle_length=2)
    data = tf.data.Dataset.range(6)
    _run(
        _first(raw.BatchDataset(numbers, one * 2, **kinds)), _first(raw.SleepDataset(numbers, one, **kinds)),
        _first(raw.NonSerializableDataset(numbers, **kinds)), _first(raw.ExperimentalNonSerializableDataset(numbers, **kinds)),
        _first(raw.UnwrapDatasetVariant(raw.WrapDatasetVariant(numbers))),
        _first(raw.SlidingWindowDataset(numbers, one, one, one, **kinds)),
        _first(raw.PaddedBatchDataset(rows, one * 2, [np.int64([2])], [np.float32(0)], output_shapes=[[None, 2]]), tf.float32),
        _first(raw.SamplingDataset(numbers, np.float32(1.0), one, one, **kinds)),
        _first(raw.RebatchDataset(data.batch(2)._variant_tensor, one * 2, **kinds)),
        _first(data.apply(tf.data.experimental.group_by_reducer(lambda v: v % 2, reducer))._variant_tensor),
        _first(data.apply(interleaved)._variant_tensor),
        _first(raw.ChooseFastestDataset([numbers, numbers], num_experiments=1, **kinds)),
    )  # fmt: skip


def watched_datasets():
    """Datasets that are measured, divided, rewritten, kept or chosen."""
    data, aggregator = tf.data.Dataset.range(6), tf.data.experimental.StatsAggregator()
    pool = threadpool.PrivateThreadPool(1)
    branches = [lambda d: d.map(lambda v: v + 1), lambda d: d.map(lambda v: 1 + v)]
    with tempfile.TemporaryDirectory() as folder:
        made = [
            data.apply(tf.data.experimental.latency_stats("x")).apply(stats.set_stats_aggregator(aggregator)),
            data.apply(tf.data.experimental.bytes_produced_stats("y")),
            threadpool.override_threadpool(data, pool),
            distribution._AutoShardDataset(data, 2, 0),
            optimization._ChooseFastestDataset([data, data]),
            optimization._ChooseFastestBranchDataset(data, branches),
            data.apply(optimization.assert_next(["Map"])).map(lambda v: v),
            data.apply(snapshots.snapshot(folder)),
        ]
        writer = raw.SummaryWriter()
        _run(
            raw.CreateSummaryFileWriter(writer, folder, 10, 1000, ""),
            raw.StatsAggregatorSetSummaryWriter(aggregator._resource, writer),
            *[_first(dataset._variant_tensor) for dataset in made],
            aggregator.get_summary(),
        )


def iterators():
    numbers = tf.data.Dataset.range(6)
    kinds = {"output_types": [tf.int64], "output_shapes": [[]]}
    anonymous, (second, deleter) = raw.AnonymousIterator(**kinds), raw.AnonymousIteratorV2(**kinds)
    with tf.control_dependencies(
        [raw.MakeIterator(numbers._variant_tensor, anonymous), raw.MakeIterator(numbers._variant_tensor, second)]
    ):
        optional = raw.IteratorGetNextAsOptional(anonymous, **kinds)
        shown = [raw.OptionalHasValue(optional), *raw.IteratorGetNextSync(second, **kinds)]
    with tf.control_dependencies(shown):
        _run([*shown, raw.DeleteIterator(second, deleter)])
    cache, seeds = raw.AnonymousMemoryCache(), raw.AnonymousRandomSeedGenerator(np.int64(1), np.int64(2))
    kept = raw.CacheDatasetV2(numbers._variant_tensor, "", cache.handle, **kinds)
    mixed = raw.ShuffleDatasetV2(numbers._variant_tensor, np.int64(4), seeds.handle, **kinds)
    _run(_first(kept), _first(mixed), raw.DeleteMemoryCache(*cache), raw.DeleteRandomSeedGenerator(*seeds))
    iterator = tf.data.make_initializable_iterator(numbers)
    _run(raw.IteratorGetDevice(iterator._iterator_resource))
    resource = iterator._iterator_resource
    state, named = raw.SerializeIterator(resource), [raw.IteratorFromStringHandle, raw.IteratorFromStringHandleV2]
    again = [raw.IteratorGetNext(make(raw.IteratorToStringHandle(resource)), **kinds) for make in named]
    _run(iterator.initializer, iterator.get_next(), raw.DeserializeIterator(resource, state), *again)
    shared = {"devices": ["/cpu:0"], "shared_name": "m", "container": "", **kinds}
    many = raw.MultiDeviceIterator(**shared)
    begun = raw.MultiDeviceIteratorInit(numbers._variant_tensor, many, np.int64(1))
    handle = raw.MultiDeviceIteratorToStringHandle(many)
    _run(raw.MultiDeviceIteratorGetNextFromShard(raw.MultiDeviceIteratorFromStringHandle(handle), 0, begun, **kinds))


def files(folder):
    path = str(folder / "lines.txt")
    (folder / "lines.txt").write_text("a\nb\n")
    lines = scalar(path.encode())
    table = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    old = raw.HashTable(key_dtype=tf.string, value_dtype=tf.int64)
    fill = {"key_index": -2, "value_index": -1}
    _run(raw.InitializeTableFromTextFileV2(table, lines, **fill), raw.InitializeTableFromTextFile(old, lines, **fill))
    _run([raw.ReadFile(lines), raw.MatchingFiles(lines)], raw.WriteFile(str(folder / "written"), "a"))
    _run(raw.ImmutableConst(dtype=tf.uint8, shape=[3], memory_region_name=path))
    _run(list(raw.GenerateVocabRemapping(lines, lines, new_vocab_offset=0, num_new_vocab=2)))
    for form in ("", "V2"):

        def of(name, form=form):
            return getattr(raw, name + form)

        reader, queue = of("TextLineReader")(), of("FIFOQueue")(component_types=[tf.string], shapes=[[]])
        identity, whole = of("IdentityReader")(), of("WholeFileReader")()
        fixed, records = of("FixedLengthRecordReader")(record_bytes=1), of("TFRecordReader")()
        put = of("QueueEnqueueMany")(queue, [text(*[path.encode()] * 4)])
        state = of("ReaderSerializeState")(identity)
        _run(
            put, list(of("ReaderRead")(reader, queue)), list(of("ReaderReadUpTo")(whole, queue, np.int64(2))),
            list(of("ReaderRead")(identity, queue)),
            [of("ReaderNumRecordsProduced")(reader), of("ReaderNumWorkUnitsCompleted")(reader)], list(of("ReaderRead")(fixed, queue)),
            of("ReaderRestoreState")(identity, state), of("ReaderReset")(records),
        )  # fmt: skip
    variable = tf.Variable(_ROWS)
    saver, prefix = tf.train.Saver([variable]), str(folder / "model")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        saver.save(session, prefix)
        saver.restore(session, prefix)
        session.run(raw.RestoreV2(prefix, ["Variable"], [""], dtypes=[tf.float32]))
        session.run(
            raw.LoadAndRemapMatrix(
                prefix,
                "Variable",
                np.int64([1, 0]),
                np.zeros(0, np.int64),
                np.zeros(0, np.float32),
                num_rows=2,
                num_cols=2,
            )
        )
        session.run(raw.Save(str(folder / "old"), ["a"], [_ROWS]))
        session.run(raw.SaveSlices(str(folder / "old2"), ["a"], ["3 2 0,3:0,2"], [_ROWS]))
        session.run(
            [
                raw.Restore(str(folder / "old"), "a", dt=tf.float32),
                raw.RestoreSlice(str(folder / "old"), "a", "3 2 0,1:0,2", dt=tf.float32),
            ]
        )
        session.run([raw.ShardedFilename("a", 0, 2), raw.ShardedFilespec("a", 2)])
    writer = tf.python_io.TFRecordWriter(str(folder / "records"))
    writer.write(b"abc")
    writer.close()
    _run(raw.RecordInput(file_pattern=str(folder / "records"), batch_size=1))
    data = [
        tf.data.TFRecordDataset(str(folder / "records")),
        tf.data.TextLineDataset(path),
        tf.data.FixedLengthRecordDataset(path, 1),
    ]
    data += [tf.data.Dataset.list_files(path), tf.data.experimental.CsvDataset(path, [tf.string])]
    _run(*(tf.data.make_one_shot_iterator(one).get_next() for one in data))
    _run(
        _first(raw.FixedLengthRecordDataset(lines, np.int64(0), np.int64(1), np.int64(0), np.int64(0)), tf.string),
        _first(raw.MatchingFilesDataset(lines), tf.string),
    )
    _run(
        raw.DatasetToTFRecord(data[1]._variant_tensor, str(folder / "lines"), ""),
        raw.MergeV2Checkpoints(text(prefix.encode()), str(folder / "merged")),
    )
    summaries = tf.contrib.summary.create_file_writer(str(folder / "summaries"))
    with summaries.as_default(), tf.contrib.summary.always_record_summaries():
        made = [tf.contrib.summary.scalar("s", 1.0, step=1), tf.contrib.summary.histogram("h", _ROWS, step=1)]
        made += [
            tf.contrib.summary.image("i", np.zeros((1, 2, 2, 3), np.float32), step=1),
            tf.contrib.summary.generic("g", _ROWS, step=1),
        ]
        made.append(tf.contrib.summary.audio("a", _ROWS[None], 8000, 1, step=1))
        handle = summaries._resource
        made.append(raw.ImportEvent(handle, scalar(tf.Event(wall_time=1.0).SerializeToString())))
        made.append(raw.WriteGraphSummary(handle, np.int64(1), scalar(tf.GraphDef().SerializeToString())))
        made.append(raw.WriteRawProtoSummary(handle, np.int64(1), scalar(tf.Summary().SerializeToString())))
        _run(summaries.init(), *made, summaries.flush(), summaries.close())


def exchanges():
    """Collective ops: each alone with another member that is no op, and in a plan, where they are taken apart."""
    made = []
    for i in range(2):
        with tf.device(f"/cpu:{i}"):
            made.append(collectives.all_reduce(tf.constant(_ROWS), 2, 1, 1, "Add", "Div"))
            made.append(collectives.all_gather(tf.constant(_ROWS), 2, 1, 2))
    with tf.device("/cpu:0"):
        made.append(collectives.broadcast_send(tf.constant(_ROWS), [3, 2], tf.float32, 2, 1, 3))
    with tf.device("/cpu:1"):
        made.append(collectives.broadcast_recv([3, 2], tf.float32, 2, 1, 3))
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        session.run(made)


def new_variables():
    """Zeros for variables that have no value yet."""
    ref, resource = tf.Variable([1.0, 2.0]), tf.Variable([1.0], use_resource=True)
    with tf.Session() as session:
        session.run(raw.ZeroInitializer(ref._ref()))
        session.run(raw.ZeroVarInitializer(resource.handle, dtype=tf.float32, shape=[1]).op)


def columns_of_a_product():
    """A product of which only some columns are wanted, without machine code in its place."""
    a, b = tf.placeholder(tf.float32, [4, 3]), tf.placeholder(tf.float32, [3, 5])
    some = tf.slice(tf.matmul(a, b), [0, 1], [-1, 2])
    options = tf.OptimizerOptions(global_jit_level=tf.OptimizerOptions.OFF)
    with tf.Session(config=tf.ConfigProto(graph_options=tf.GraphOptions(optimizer_options=options))) as session:
        for _ in range(3):
            session.run(some, {a: np.ones([4, 3]), b: np.ones([3, 5])})


def first_arrays():
    handle = raw.TensorArray(2, dtype=tf.float32)
    flow = raw.TensorArrayUnpack(handle, _ROWS[:2], 0.0)
    _run(raw.TensorArrayPack(handle, flow, dtype=tf.float32))


def parsed_examples():
    example = tf.train.Example()
    example.features.feature["a"].float_list.value.append(1.0)
    source = tf.data.Dataset.from_tensors([example.SerializeToString()])
    typed = {"output_types": [tf.float32], "output_shapes": [[None]]}
    keys = {"sparse_keys": [], "dense_keys": ["a"], "sparse_types": [], "dense_shapes": [[]]}
    variant = raw.ParseExampleDataset(source._variant_tensor, np.int64(1), [tf.constant([0.0])], **keys, **typed)
    pairs = tf.data.Dataset.from_tensor_slices(([1, 2], [True, False]))
    numbers = {"output_types": [tf.int32], "output_shapes": [[]]}
    kept = raw.FilterByLastComponentDataset(pairs._variant_tensor, **numbers)
    _run(raw.DatasetToSingleElement(variant, **typed), raw.DatasetToSingleElement(kept, **numbers))


def graphs_of_datasets():
    graph_def = raw.DatasetToGraph(tf.data.Dataset.range(3)._variant_tensor)
    typed = {"output_types": [tf.int64], "output_shapes": [[]]}
    with tf.Session() as session:
        first = raw.TakeDataset(raw.DatasetFromGraph(session.run(graph_def)), np.int64(1), **typed)
    _run(raw.DatasetToSingleElement(first, **typed))


def characters():
    text = tf.placeholder(tf.string, [None])
    with tf.Session() as session:
        session.run(tf.strings.unicode_split(text, "UTF-8"), {text: [b"ab", b"c"]})


def forests():
    params = ForestHParams(num_classes=2, num_features=2, num_trees=1, split_after_samples=2, checkpoint_stats=True)
    params.num_splits_to_consider = 1
    graphs = RandomForestGraphs(params.fill())
    x, y = tf.constant(_ROWS), tf.constant([0, 1, 0])
    tree, stats = graphs.variables[0].tree, graphs.variables[0].stats
    serialized = {"params": params.serialized_params_proto}
    predicted = graphs.inference_graph(x)[0]
    with tf.Session() as session:
        session.run([tf.global_variables_initializer(), initialize_resources(shared_resources())])
        session.run([raw.TreeIsInitializedOp(tree), raw.FertileStatsIsInitializedOp(stats)])
        for _ in range(2):
            session.run(graphs.training_graph(x, y))
        session.run([predicted, graphs.average_size(), graphs.feature_importances()])
        session.run(raw.TreeDeserialize(tree, raw.TreeSerialize(tree), **serialized))
        session.run(raw.FertileStatsDeserialize(stats, raw.FertileStatsSerialize(stats, **serialized), **serialized))
        session.run(raw.FinalizeTree(tree, stats, **serialized))


PROGRAMS = (
    columns_of_a_product,
    exchanges,
    new_variables,
    first_arrays,
    parsed_examples,
    graphs_of_datasets,
    characters,
    forests,
    optimizers,
    joint_updates,
    variables,
    generators,
    queues,
    stores,
    tables,
    arrays,
    lists,
    sums_of_loops,
    functions,
    batches,
    boosted_trees,
    datasets,
    older_datasets,
    watched_datasets,
    iterators,
)

"""Iterators in checkpoints."""

import pytest

import everflow as tf

pytestmark = pytest.mark.usefixtures("own_graph")


def _taken(session, element, count):
    return [session.run(element) for _ in range(count)]


def test_an_iterator_goes_on_where_it_was_saved_in_a_new_session(tmp_path):
    iterator = tf.data.Dataset.range(10).shuffle(10).repeat().make_initializable_iterator()
    element = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        _taken(session, element, 14)
        path = saver.save(session, str(tmp_path / "input"))
        expected = _taken(session, element, 20)
    with tf.Session() as session:
        session.run(iterator.initializer)
        saver.restore(session, path)
        assert _taken(session, element, 20) == expected


def test_the_state_is_one_tensor_named_after_the_iterator(tmp_path):
    iterator = tf.data.Dataset.range(3).make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        path = saver.save(session, str(tmp_path / "input"))
    assert tf.train.list_variables(path) == [("IteratorV2:0-state", [])]


def test_an_iterator_without_a_dataset_has_no_state(tmp_path):
    iterator = tf.data.Dataset.range(3).make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="has not been initialized"):
            saver.save(session, str(tmp_path / "input"))
        session.run(iterator.initializer)
        path = saver.save(session, str(tmp_path / "input"))
    with tf.Session() as session, pytest.raises(tf.errors.FailedPreconditionError, match="Restore"):
        saver.restore(session, path)


def test_what_keeps_state_of_its_own_cannot_be_saved(tmp_path):
    iterator = tf.data.Dataset.range(3).map(lambda x: tf.random.uniform([])).make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniform is stateful"):
            saver.save(session, str(tmp_path / "input"))


def test_a_hook_puts_an_estimators_input_back(tmp_path):
    seen = []

    def model_fn(features, labels, mode):
        note = tf.py_func(lambda value: (seen.append(int(value)), value)[1], [features], tf.int64)
        with tf.control_dependencies([note]):
            step = tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, loss=tf.constant(0.0), train_op=step)

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path), tf.estimator.RunConfig(save_checkpoints_steps=2))
    for _ in range(2):
        estimator.train(
            lambda: tf.data.Dataset.range(10),
            steps=3,
            hooks=[tf.data.experimental.CheckpointInputPipelineHook(estimator)],
        )
    assert seen == [0, 1, 2, 3, 4, 5]
    saved = sorted(int(path.suffixes[-2].split("-")[1]) for path in tmp_path.glob("input.ckpt-*.index"))
    assert saved == [0, 2, 3, 4, 6]


@pytest.mark.parametrize(
    "make", [tf.compat.v1.data.make_initializable_iterator, tf.compat.v1.data.make_one_shot_iterator]
)
def test_a_checkpoint_of_objects_has_where_an_iterator_is(make, tmp_path):
    iterator = make(tf.data.Dataset.range(9).flat_map(lambda x: tf.data.Dataset.range(2)).enumerate())
    element, checkpoint = iterator.get_next(), tf.train.Checkpoint(iterator=iterator)
    with tf.Session() as session:
        if make is tf.compat.v1.data.make_initializable_iterator:
            session.run(iterator.initializer)
        path = checkpoint.save(str(tmp_path / "at start"), session=session)
        _taken(session, element, 3)
        later = checkpoint.save(str(tmp_path / "later"), session=session)
        _taken(session, element, 2)
        checkpoint.restore(later).run_restore_ops(session)
        assert _taken(session, element, 1) == [(3, 1)]
        checkpoint.restore(path).run_restore_ops(session)
        assert _taken(session, element, 1) == [(0, 0)]
    assert ("iterator/.ATTRIBUTES/ITERATOR_STATE", []) in tf.train.list_variables(path)


def test_a_state_goes_through_a_file(tmp_path):
    iterator = tf.data.Dataset.range(9).make_initializable_iterator()
    element, name = iterator.get_next(), str(tmp_path / "state")
    state = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
    write = tf.io.write_file(name, tf.io.serialize_tensor(state))
    read = tf.raw_ops.DeserializeIterator(
        resource_handle=iterator._iterator_resource, serialized=tf.io.parse_tensor(tf.io.read_file(name), tf.variant)
    )
    with tf.Session() as session:
        session.run(iterator.initializer)
        _taken(session, element, 2)
        session.run(write)
        _taken(session, element, 3)
        session.run(read)
        assert _taken(session, element, 1) == [2]


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + 3, [x]),
        lambda x: tf.cond(x > 3, lambda: x, lambda: tf.Print(-x, [x])),
        lambda x: tf.map_fn(lambda y: y * 2, tf.stack([x, x])),
        lambda x: tf.timestamp(),
    ],
    ids=["a loop", "a branch", "rows", "the time"],
)
def test_calls_of_functions_without_state_of_their_own_can_be_saved(tmp_path, function):
    assert _saved(tmp_path, tf.data.Dataset.range(5).map(function))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: tf.while_loop(lambda i: i < 10, lambda i: i + 1 + tf.random_uniform([], 0, 3, tf.int64), [x]),
        lambda x: tf.data.Dataset.range(3).reduce(x, lambda a, b: a + b),
    ],
    ids=["a random loop", "a reduction"],
)
def test_state_in_functions_that_are_called_keeps_an_iterator_from_being_saved(tmp_path, function):
    with pytest.raises(tf.errors.FailedPreconditionError):
        _saved(tmp_path, tf.data.Dataset.range(5).map(function))


def _saved(tmp_path, dataset):
    iterator = dataset.make_initializable_iterator()
    element = iterator.get_next()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run(iterator.initializer)
        session.run(element)
        return saver.save(session, str(tmp_path / "input"))


def test_a_table_is_no_state_of_the_iterator(tmp_path):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [5, 6], tf.int64, tf.int64), -1)
    iterator = tf.data.Dataset.range(2).map(table.lookup).make_initializable_iterator()
    saver = tf.train.Saver([tf.data.experimental.make_saveable_from_iterator(iterator)])
    with tf.Session() as session:
        session.run([table.initializer, iterator.initializer])
        assert session.run(iterator.get_next()) == 5
        assert saver.save(session, str(tmp_path / "input"))


def test_the_state_of_another_kind_of_dataset_is_refused():
    first = tf.data.Dataset.range(5).make_initializable_iterator()
    second = tf.data.Dataset.range(5).map(lambda x: x).batch(2).make_initializable_iterator()
    state = tf.raw_ops.SerializeIterator(resource_handle=first._iterator_resource)
    restore = tf.raw_ops.DeserializeIterator(resource_handle=second._iterator_resource, serialized=state)
    with tf.Session() as session:
        session.run([first.initializer, second.initializer])
        with pytest.raises(tf.errors.NotFoundError):
            session.run(restore)

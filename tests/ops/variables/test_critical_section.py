"""Critical sections: one at a time, whoever asks; given back when a run fails."""

import threading

import pytest

import everflow as tf


def counter():
    v = tf.get_variable("v", [], initializer=tf.zeros_initializer(), use_resource=True)

    def bump():
        seen = v.read_value()
        with tf.control_dependencies([seen]):
            return tf.identity(v.assign(seen + 1.0))

    return v, bump


def test_no_update_is_lost_between_threads():
    with tf.Graph().as_default(), tf.Session() as sess:
        v, bump = counter()
        bumped = tf.CriticalSection().execute(bump)
        sess.run(tf.global_variables_initializer())
        threads = [threading.Thread(target=lambda: [sess.run(bumped) for _ in range(20)]) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sess.run(v) == 80.0


def test_several_sections_of_one_lock_in_one_run():
    with tf.Graph().as_default(), tf.Session() as sess:
        v, bump = counter()
        section = tf.CriticalSection()
        bumps = [section.execute(bump) for _ in range(5)]
        sess.run(tf.global_variables_initializer())
        assert sorted(sess.run(bumps)) == [1.0, 2.0, 3.0, 4.0, 5.0]


def test_a_failing_run_gives_the_lock_back():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        section = tf.CriticalSection()
        checked = section.execute(lambda: tf.check_numerics(x, "not a number"))
        with pytest.raises(tf.errors.InvalidArgumentError) as kept:
            sess.run(checked, {x: float("nan")})
        assert sess.run(checked, {x: 1.0}, tf.RunOptions(timeout_in_ms=5000)) == 1.0
        assert kept.value is not None


def test_what_would_deadlock_is_refused():
    with tf.Graph().as_default():
        _, bump = counter()
        section, other = tf.CriticalSection(), tf.CriticalSection()
        with pytest.raises(ValueError, match="deadlocks"):
            section.execute(lambda: section.execute(lambda: tf.constant(1.0)))
        section.execute(bump)
        with pytest.raises(ValueError, match="exclusive"):
            other.execute(bump)


def test_structures_and_operations_come_back():
    with tf.Graph().as_default(), tf.Session() as sess:
        v, _ = counter()
        section = tf.CriticalSection(name="section")
        assert section.name == "section"
        result = section.execute(lambda: {"a": tf.constant(1), "b": [tf.constant(2.0)]})
        assert sess.run(result) == {"a": 1, "b": [2.0]}
        updated = section.execute(lambda: v.assign_add(1.0).op)
        sess.run(tf.global_variables_initializer())
        assert sess.run(updated) is None
        assert sess.run(v) == 1.0

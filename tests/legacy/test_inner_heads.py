"""Inner names of public heads, of kept exports and of hooks that end training early."""

import importlib

import pytest

import everflow as tf
import tests.served  # noqa: F401

base_head, head_utils, gc, early_stopping = (
    importlib.import_module(f"tensorflow_estimator.python.estimator.{name}")
    for name in ("head.base_head", "head.head_utils", "gc", "early_stopping")
)


@pytest.fixture(autouse=True)
def own_graph():
    with tf.Graph().as_default():
        yield


def test_a_head_of_ones_own_checks_as_others_do():
    logits = tf.constant([[1.0], [2.0]])
    assert base_head.check_logits_final_dim(logits, 1) is logits
    with pytest.raises(ValueError, match="dimension"):
        base_head.check_logits_final_dim(logits, 2)
    with pytest.raises(ValueError, match="loss_fn"):
        base_head.validate_loss_fn_args(lambda labels: labels)
    for check, wrong in [
        (base_head.validate_loss_reduction, "none"),
        (base_head.validate_v2_optimizer, tf.train.AdamOptimizer()),
        (base_head.validate_trainable_variables, None),
        (base_head.validate_update_ops, 3),
        (base_head.validate_n_classes, 2),
    ]:
        with pytest.raises(ValueError):
            check(wrong)
    op = base_head.create_estimator_spec_train_op(
        "mine", train_op_fn=lambda loss: tf.no_op("step"), regularized_training_loss=logits
    )
    assert op.name == "training/step"


def test_tests_of_heads_look_at_specs():
    class Case(tf.test.TestCase):
        def runTest(self):
            tf.train.get_or_create_global_step()
            weight = tf.Variable([[1.0], [2.0]])
            spec = head_utils.binary_or_multi_class_head(2, None, None, "sum").create_estimator_spec(
                {}, "train", weight * 1.0, tf.constant([[1], [0]]), train_op_fn=lambda loss: tf.no_op()
            )
            head_utils._assert_no_hooks(self, spec)
            with self.session() as session:
                head_utils._initialize_variables(self, spec.scaffold)
                loss, summary = session.run((spec.loss, spec.scaffold.summary_op))
                head_utils._assert_simple_summaries(self, {"loss": loss}, summary)
                with self.assertRaises(AssertionError):
                    head_utils._assert_simple_summaries(self, {"loss": 99.0}, summary)

    Case().debug()


def test_which_exports_are_kept(tmp_path):
    paths = [gc.Path(f"/exports/{i}", i) for i in range(8)]

    def versions(keep):
        return [path.export_version for path in keep(paths)]

    assert versions(gc._largest_export_versions(2)) == [6, 7]
    assert versions(gc._one_of_every_n_export_versions(3)) == [3, 6, 7]
    assert versions(gc._union(gc._largest_export_versions(1), gc._mod_export_version(4))) == [0, 4, 7]
    assert versions(gc._negation(gc._mod_export_version(2))) == [1, 3, 5, 7]
    (tmp_path / "12").mkdir()
    (tmp_path / "other").mkdir()
    found = gc._get_paths(
        str(tmp_path),
        lambda path: path._replace(export_version=12) if path.path.endswith("12") else None,
    )
    assert [path.export_version for path in found] == [12]


def test_training_ends_when_the_function_says_so():
    step = tf.train.create_global_step()
    count = tf.assign_add(step, 1)
    hooks = [
        early_stopping._StopOnPredicateHook(lambda: session.run(step) >= 3, run_every_secs=None, run_every_steps=1),
        early_stopping._CheckForStoppingHook(),
    ]
    steps = 0
    with tf.train.SingularMonitoredSession(hooks=hooks) as monitored:
        session = monitored.raw_session()
        while not monitored.should_stop():
            monitored.run(count)
            steps += 1
    assert steps == 3

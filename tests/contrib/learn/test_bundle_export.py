"""Estimators of tf.contrib.learn as session bundles: folders, signatures and what an export answers."""

import os

import numpy as np
import pytest

import everflow as tf
from everflow.contrib.learn import bundle_export
from everflow.protos import manifest_pb2

learn = tf.contrib.learn
COLUMNS = [tf.contrib.layers.real_valued_column("x")]


def batch():
    return {"x": tf.constant([[1.0], [2.0], [3.0]])}, tf.constant([[0], [1], [1]])


def serving():
    examples = tf.placeholder(tf.string, [None], name="serialized")
    features = tf.parse_example(examples, {"x": tf.FixedLenFeature([1], tf.float32)})
    return {**features, "serialized": examples}, None


NEW = {"input_fn": serving, "input_feature_key": "serialized", "use_deprecated_input_fn": False}


def trained(make, folder, **arguments):
    return make(feature_columns=COLUMNS, model_dir=str(folder / "model"), **arguments).fit(input_fn=batch, steps=2)


def example(value):
    feature = tf.train.Feature(float_list=tf.train.FloatList(value=[value]))
    return tf.train.Example(features=tf.train.Features(feature={"x": feature})).SerializeToString()


def served(folder, fed):
    """(the kind of signature, what the export answers)."""
    with tf.Graph().as_default() as graph, tf.Session() as session:
        tf.train.import_meta_graph(os.path.join(folder, b"export.meta")).restore(
            session, os.path.join(folder, b"export")
        )
        (packed,) = graph.get_collection("serving_signatures")
        (initialize,) = graph.get_collection("serving_init_op")
        session.run(initialize)
        signature = manifest_pb2.Signatures.FromString(packed.value).default_signature
        kind = signature.WhichOneof("type")
        parts = getattr(signature, kind)
        if kind == "generic_signature":
            names = parts.map["inputs"].tensor_name, parts.map["outputs"].tensor_name
        else:
            answer = parts.scores if kind == "classification_signature" else parts.output
            names = parts.input.tensor_name, answer.tensor_name
        return kind, session.run(names[1], {names[0]: fed})


CASES = {
    "classifier": (learn.LinearClassifier, {}, "classification_signature"),
    "regressor": (learn.LinearRegressor, {}, "regression_signature"),
    "deep classifier": (
        lambda **given: learn.DNNClassifier(hidden_units=[3], **given),
        {"signature_fn": bundle_export.generic_signature_fn},
        "generic_signature",
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_exports_answer_as_the_estimator_predicts(case, tmp_path):
    make, arguments, kind = CASES[case]
    estimator = trained(make, tmp_path)
    folder = estimator.export(str(tmp_path / "exports"), **NEW, **arguments)
    assert os.path.basename(folder) == b"00000002"
    found, answer = served(folder, [example(1.5), example(-2.0)])

    def asked():
        return {"x": tf.constant([[1.5], [-2.0]])}

    predict = estimator.predict_scores if kind == "regression_signature" else estimator.predict_proba
    assert found == kind
    np.testing.assert_allclose(answer, np.array(list(predict(input_fn=asked))), rtol=1e-5)


def test_columns_say_how_examples_are_read_where_no_input_fn_does(tmp_path):
    folder = trained(learn.LinearClassifier, tmp_path).export(str(tmp_path / "exports"))
    _, answer = served(folder, [example(1.5)])
    assert answer.shape == (1, 2)


def test_what_an_export_lacks_is_said(tmp_path):
    with pytest.raises(ValueError, match="call fit"):
        learn.LinearClassifier(COLUMNS, model_dir=str(tmp_path / "none")).export(str(tmp_path))
    estimator = trained(learn.LinearClassifier, tmp_path)
    with pytest.raises(ValueError, match="input_feature_key"):
        estimator.export(str(tmp_path), input_fn=serving, use_deprecated_input_fn=False)
    estimator.export(str(tmp_path / "exports"))
    with pytest.raises(RuntimeError, match="already"):
        estimator.export(str(tmp_path / "exports"))


def test_a_monitor_exports_while_training_and_at_the_end(tmp_path):
    monitor = learn.monitors.ExportMonitor(
        every_n_steps=2, export_dir=str(tmp_path / "exports"), input_fn=serving, input_feature_key="serialized"
    )
    estimator = learn.LinearRegressor(COLUMNS, model_dir=str(tmp_path / "model"))
    estimator.fit(input_fn=batch, steps=6, monitors=[monitor])
    assert sorted(os.listdir(tmp_path / "exports")) == ["00000000", "00000006"]
    assert monitor.last_export_dir.endswith(b"00000006")

"""Estimators: canned and of one's own, trained for some steps, evaluated and asked for predictions. The graphs are those
that hooks see.
"""

from __future__ import annotations

import re

from tests.exchange.random_graphs.writing import Family

HOOK = """class Hook(tf.train.SessionRunHook):
    def begin(self):
        graphs.append(tf.get_default_graph())"""

MODEL = """def model_fn(features, labels, mode, params):
    x = {input}
    {layers}
    predicted = {output}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode, predictions={{'predicted': predicted}})
    loss = {loss}
    if mode == tf.estimator.ModeKeys.EVAL:
        return tf.estimator.EstimatorSpec(mode, loss=loss, eval_metric_ops={{'m': {metric}}})
    step = tf.train.{optimizer}.minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=step)"""

COLUMNS = [
    "tf.feature_column.numeric_column('a')",
    "tf.feature_column.numeric_column('b', shape=[2])",
    "tf.feature_column.bucketized_column(tf.feature_column.numeric_column('a'), [-1.0, 0.0, 1.0])",
    "tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_identity('c', 4))",
    "tf.feature_column.embedding_column(tf.feature_column.categorical_column_with_hash_bucket('d', 6), 2)",
    "tf.feature_column.indicator_column(tf.feature_column.categorical_column_with_vocabulary_list('d', ['x', 'y']))",
    "tf.feature_column.numeric_column('a', normalizer_fn=lambda v: v / 2.0)",
]
SPARSE = [
    "tf.feature_column.categorical_column_with_identity('c', 4)",
    "tf.feature_column.categorical_column_with_hash_bucket('d', 6)",
    "tf.feature_column.crossed_column(['c', 'd'], 5)",
    "tf.feature_column.categorical_column_with_vocabulary_list('d', ['x', 'y'], num_oov_buckets=1)",
]


def begin(p):
    p.line("import tempfile")
    p.line(HOOK)
    p.labels = p.choice("real", "class", "real")
    label = (
        f"np.array({p.numbers((8, 1))}, 'float32')"
        if p.labels == "real"
        else f"np.array({p.numbers((8, 1), 'int32', 0, 1)}, 'int64')"
    )
    p.line(
        f"features = {{'a': np.array({p.numbers((8,))}, 'float32'), 'b': np.array({p.numbers((8, 2))}, 'float32'), 'c': np.array({p.numbers((8,), 'int32', 0, 3)}, 'int64'), 'd': np.array([{', '.join(repr(p.choice('x', 'y', 'z')) for _ in range(8))}])}}"
    )
    p.line(f"labels = {label}")
    p.line(
        p.choice(
            "def input_fn():\n    return tf.data.Dataset.from_tensor_slices((features, labels)).batch(4).repeat()",
            "def input_fn():\n    return tf.compat.v1.data.make_one_shot_iterator(tf.data.Dataset.from_tensor_slices((features, labels)).repeat(9).batch(4)).get_next()",
            "input_fn = tf.estimator.inputs.numpy_input_fn(features, labels, batch_size=4, shuffle=False, num_epochs=None)",
        )
    )
    p.line("predict_fn = tf.estimator.inputs.numpy_input_fn(features, batch_size=4, shuffle=False)")


def optimizer(p):
    return p.choice(
        "GradientDescentOptimizer(0.01)",
        "AdagradOptimizer(0.05)",
        "AdamOptimizer(0.01)",
        "FtrlOptimizer(0.1)",
        "RMSPropOptimizer(0.01)",
    )


def canned(p):
    dense = ", ".join(p.random.sample(COLUMNS, p.random.randint(1, 3)))
    sparse = ", ".join(
        p.random.sample(SPARSE, p.random.randint(1, 2)) + p.random.sample(COLUMNS[:2], p.random.randint(0, 1))
    )
    kind = p.choice("Linear", "DNN", "DNNLinearCombined", "Baseline")
    end = "Regressor" if p.labels == "real" else "Classifier"
    hidden = f"hidden_units={p.choice([3], [4, 2])}"
    arguments = {
        "Linear": f"feature_columns=[{sparse}], optimizer=tf.train.{optimizer(p)}",
        "DNN": f"feature_columns=[{dense}], {hidden}, optimizer=tf.train.{optimizer(p)}"
        + p.choice("", ", activation_fn=tf.nn.tanh", ", batch_norm=True"),
        "DNNLinearCombined": f"linear_feature_columns=[{sparse}], dnn_feature_columns=[{dense}], dnn_hidden_units={p.choice([3], [4, 2])}",
        "Baseline": f"optimizer={p.choice(repr('Ftrl'), repr('SGD'))}",
    }[kind]
    if "batch_norm" in arguments:
        # A bias under a normalisation has a gradient of rounding errors only, which optimizers that divide by its size
        # make steps of.
        arguments = re.sub(r"train\.\w+\([\d.]+\)", "train.GradientDescentOptimizer(0.01)", arguments)
    more = p.choice("", ", loss_reduction=tf.losses.Reduction.SUM", ", weight_column='a'" if p.chance(0.2) else "")
    return f"tf.estimator.{kind}{end}({arguments}{more}, model_dir=tempfile.mkdtemp(), config=tf.estimator.RunConfig(tf_random_seed={p.random.randint(1, 9)}))"


def custom(p):
    layers = "\n    ".join(
        f"x = tf.layers.dense(x, {p.choice(2, 3)}, activation={p.choice('tf.nn.relu', 'tf.tanh', 'None')})"
        for _ in range(p.random.randint(1, 2))
    )
    text = MODEL.format(
        input=p.choice(
            "tf.reshape(features['a'], [-1, 1])",
            "features['b']",
            "tf.concat([features['b'], tf.expand_dims(features['a'], 1)], 1)",
            "tf.feature_column.input_layer(features, [tf.feature_column.numeric_column('b', shape=[2])])",
        ),
        layers=layers,
        output="tf.layers.dense(x, 1, name='out')",
        loss=p.choice(
            "tf.losses.mean_squared_error(tf.cast(labels, tf.float32), predicted)",
            "tf.reduce_mean(tf.abs(tf.cast(labels, tf.float32) - predicted))",
            "tf.losses.sigmoid_cross_entropy(tf.cast(labels, tf.float32), predicted)",
        ),
        metric=p.choice(
            "tf.metrics.mean_absolute_error(labels, tf.cast(predicted, labels.dtype))",
            "tf.metrics.mean(predicted)",
            "tf.metrics.root_mean_squared_error(tf.cast(labels, tf.float32), predicted)",
        ),
        optimizer=optimizer(p),
    )
    p.line(text)
    return f"tf.estimator.Estimator(model_fn, model_dir=tempfile.mkdtemp(), params={{}}, config=tf.estimator.RunConfig(tf_random_seed={p.random.randint(1, 9)}))"


def end(p):
    p.line("estimator = " + p.random.choice([canned, canned, custom])(p))
    p.line("estimator.train(input_fn, steps=2, hooks=[Hook()])")
    p.line("fetched.append(estimator.evaluate(input_fn, steps=2, hooks=[Hook()]))")
    p.line("fetched.append([next(estimator.predict(predict_fn, hooks=[Hook()]))])")
    p.line(
        "fetched.append([sorted(estimator.get_variable_names()), [estimator.get_variable_value(n) for n in sorted(estimator.get_variable_names())]])"
    )


FAMILY = Family("estimators", begin, [lambda p: None], (1, 1), end)

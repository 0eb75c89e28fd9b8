"""Ready-made estimators of compat.v2 with Keras optimizers: variables, metrics, predictions, warm start."""
import numpy as np
import tensorflow as tf
e = tf.compat.v2.estimator


def run(out):
    cfg = tf.estimator.RunConfig(tf_random_seed=5, save_checkpoints_steps=2, log_step_count_steps=None)
    x, w = tf.feature_column.numeric_column("x", shape=[2]), tf.feature_column.categorical_column_with_hash_bucket("w", 5)
    def data(labels):
        f = {"x": np.float32([[1, 2], [3, 4], [0, 1], [2, 2]]), "w": np.array([["a"], ["b"], ["c"], ["a"]]), "n": np.float32([[1], [2], [1], [3]])}
        return lambda: tf.data.Dataset.from_tensor_slices((f, labels)).batch(2).repeat(3)
    cl, rg = np.int64([[0], [1], [2], [1]]), np.float32([[0.5], [1.], [2.], [3.]])
    m = e.DNNLinearCombinedClassifier("c", linear_feature_columns=[w], dnn_feature_columns=[x, tf.feature_column.embedding_column(w, 2)], dnn_hidden_units=[3, 2], n_classes=3, config=cfg, weight_column="n", batch_norm=True)
    m.train(data(cl), steps=4)
    out("variables", sorted((n, list(m.get_variable_value(n).shape)) for n in m.get_variable_names()))
    out("result", {k: float(v) for k, v in m.evaluate(data(cl), steps=1).items()}, rtol=1e-3, seeded=True)
    r = e.DNNRegressor([4], [x], "r", optimizer=lambda: tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.ExponentialDecay(0.1, 2, 0.5)), config=cfg, dropout=0.25)
    r.train(data(rg), max_steps=3)
    out("regressor", {k: float(v) for k, v in r.evaluate(data(rg)).items()}, rtol=1e-3, seeded=True)
    out("predictions", np.concatenate([p["predictions"] for p in r.predict(data(rg))])[:4], rtol=1e-3, seeded=True)
    r2 = e.DNNRegressor([4], [x], "r2", optimizer="SGD", config=cfg, warm_start_from=tf.estimator.WarmStartSettings("r", vars_to_warm_start="dnn/hidden.*"))
    r2.train(data(rg), steps=1)
    out("warm", np.abs(r2.get_variable_value("dnn/hiddenlayer_0/kernel") - r.get_variable_value("dnn/hiddenlayer_0/kernel")).max() < 0.1)
    ln = e.LinearEstimator(e.PoissonRegressionHead(), [x], "l", optimizer=tf.keras.optimizers.SGD(0.01), config=cfg)
    ln.train(data(rg), steps=2)
    out("poisson", {k: float(v) for k, v in ln.evaluate(data(rg)).items()}, rtol=1e-4)
    out("weights", ln.get_variable_value("linear/linear_model/x/weights"), rtol=1e-4)
    out.raises("v1 optimizer", lambda: e.LinearRegressor([x], optimizer=tf.train.AdamOptimizer()).train(data(rg), steps=1))
    p = m.export_saved_model("exp", tf.estimator.export.build_raw_serving_input_receiver_fn({"x": tf.zeros([1, 2]), "w": tf.constant([["a"]])}))
    with tf.Graph().as_default(), tf.Session() as s:
        meta = tf.saved_model.loader.load(s, ["serve"], p.decode())
        out("signatures", sorted((k, sorted(v.inputs), sorted(v.outputs)) for k, v in meta.signature_def.items()))

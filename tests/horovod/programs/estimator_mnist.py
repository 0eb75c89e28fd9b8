"""An Estimator: the wrapped optimizer in its model_fn, the broadcast as a hook, checkpoints of one process only."""

import digits
import horovod.tensorflow as hvd
import tensorflow as tf

tf.logging.set_verbosity(tf.logging.INFO)


def model_fn(features, labels, mode):
    x = tf.reshape(features["x"], [-1, 28, 28, 1])
    x = tf.layers.conv2d(x, filters=8, kernel_size=[5, 5], padding="same", activation=tf.nn.relu)
    x = tf.layers.max_pooling2d(x, pool_size=[2, 2], strides=2)
    x = tf.layers.dense(tf.layers.flatten(x), units=64, activation=tf.nn.relu)
    x = tf.layers.dropout(x, rate=0.4, training=mode == tf.estimator.ModeKeys.TRAIN)
    logits = tf.layers.dense(x, units=10)
    predictions = {"classes": tf.argmax(logits, axis=1), "probabilities": tf.nn.softmax(logits, name="softmax_tensor")}
    if mode == tf.estimator.ModeKeys.PREDICT:
        return tf.estimator.EstimatorSpec(mode=mode, predictions=predictions)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
    if mode == tf.estimator.ModeKeys.TRAIN:
        optimizer = tf.train.MomentumOptimizer(learning_rate=0.01 * hvd.size(), momentum=0.9)
        optimizer = hvd.DistributedOptimizer(optimizer)
        train_op = optimizer.minimize(loss=loss, global_step=tf.train.get_global_step())
        return tf.estimator.EstimatorSpec(mode=mode, loss=loss, train_op=train_op)
    eval_metric_ops = {"accuracy": tf.metrics.accuracy(labels=labels, predictions=predictions["classes"])}
    return tf.estimator.EstimatorSpec(mode=mode, loss=loss, eval_metric_ops=eval_metric_ops)


def main(_):
    hvd.init()
    train_data, train_labels = digits.load(hvd.rank())
    eval_data, eval_labels = digits.load(100, 500)
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    model_dir = "./mnist_convnet_model" if hvd.rank() == 0 else None
    classifier = tf.estimator.Estimator(
        model_fn=model_fn, model_dir=model_dir, config=tf.estimator.RunConfig(session_config=config)
    )
    logging_hook = tf.train.LoggingTensorHook(tensors={"probabilities": "softmax_tensor"}, every_n_iter=500)
    bcast_hook = hvd.BroadcastGlobalVariablesHook(0)
    train_input_fn = tf.estimator.inputs.numpy_input_fn(
        x={"x": train_data}, y=train_labels, batch_size=50, num_epochs=None, shuffle=True
    )
    classifier.train(input_fn=train_input_fn, steps=100 // hvd.size(), hooks=[logging_hook, bcast_hook])
    eval_input_fn = tf.estimator.inputs.numpy_input_fn(x={"x": eval_data}, y=eval_labels, num_epochs=1, shuffle=False)
    results = classifier.evaluate(input_fn=eval_input_fn)
    print("rank", hvd.rank(), "accuracy is", results["accuracy"])


if __name__ == "__main__":
    tf.app.run()

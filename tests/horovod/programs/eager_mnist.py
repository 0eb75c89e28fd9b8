"""Eager execution: a wrapped tape, and variables that are broadcast after the first step, when all of them are there."""

import digits
import horovod.tensorflow as hvd
import tensorflow as tf


def main(_):
    hvd.init()
    config = tf.ConfigProto()
    config.gpu_options.allow_growth = True
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    tf.enable_eager_execution(config=config)

    mnist_model = tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(8, [3, 3], activation="relu"),
            tf.keras.layers.MaxPooling2D(pool_size=(2, 2)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10),
        ]
    )
    opt = tf.train.AdamOptimizer(0.001 * hvd.size())
    images, labels = digits.load(hvd.rank())
    dataset = tf.data.Dataset.from_tensor_slices((tf.cast(images[..., tf.newaxis], tf.float32), labels))
    dataset = dataset.repeat().shuffle(1000).batch(32)
    step_counter = tf.train.get_or_create_global_step()
    for batch, (x, y) in enumerate(dataset.take(200 // hvd.size())):
        with tf.GradientTape() as tape:
            logits = mnist_model(x, training=True)
            loss_value = tf.losses.sparse_softmax_cross_entropy(y, logits)
        tape = hvd.DistributedGradientTape(tape)
        grads = tape.gradient(loss_value, mnist_model.variables)
        opt.apply_gradients(zip(grads, mnist_model.variables), global_step=step_counter)
        if batch == 0:
            hvd.broadcast_variables(mnist_model.variables, root_rank=0)
            hvd.broadcast_variables(opt.variables(), root_rank=0)
        if batch % 10 == 0 and hvd.local_rank() == 0:
            print(f"Step #{batch}\tLoss: {float(loss_value):.6f}")
    right = tf.equal(tf.argmax(logits, 1), y)
    print("rank", hvd.rank(), "accuracy is", tf.reduce_mean(tf.cast(right, tf.float32)).numpy())


if __name__ == "__main__":
    tf.app.run()

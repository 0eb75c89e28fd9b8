"""A program with mistakes, for type checkers: each must be found in a line that ends in `# wrong`, and in no other."""

import everflow as tf

x = tf.placeholder(tf.float32, [None, 3], name="x")
hidden = tf.layers.dense(x, 4, activation=tf.nn.relu)
weights = tf.get_variable("weights", [4, 1], initializer=tf.zeros_initializer())
y = tf.matmul(hidden, weights) * 2 + 1 - tf.reduce_mean(x)
loss = tf.reduce_sum(tf.square(y), axis=[0])
train = tf.train.AdamOptimizer(learning_rate=0.1).minimize(loss)
with tf.Session() as sess:
    sess.run(train, {x: [[1.0, 2.0, 3.0]]})
    train.run(feed_dict={x: [[1.0, 2.0, 3.0]]})
model = tf.keras.Sequential([tf.keras.layers.Dense(3, input_shape=(2,)), tf.keras.layers.Flatten()])
model.compile("sgd", loss="mse", metrics=["mae"])
batches = tf.data.Dataset.from_tensor_slices({"x": [1, 2]}).shuffle(10).repeat().batch(2)
element = batches.make_one_shot_iterator().get_next()["x"]
rows = x.shape[1].value * 2
net = tf.contrib.slim.conv2d(tf.zeros([1, 8, 8, 3]), 4, [3, 3], scope="conv")
dtype: tf.DType = x.dtype
saver: tf.train.Saver = tf.train.Saver(max_to_keep=3)

tf.matmull(x, x)  # wrong
tf.nn.reluu(x)  # wrong
tf.keras.layers.Dens(3)  # wrong
tf.contrib.slim.conv2(x, 3, [3, 3])  # wrong
tf.train.AdamOptimizer(lerning_rate=0.1)  # wrong
tf.matmul(x, None)  # wrong
tf.placeholder()  # wrong
tf.layers.dense(x, "four")  # wrong
train.gett_attr("x")  # wrong
x.reshape([3])  # wrong
batches.suffle(3)  # wrong
tf.reduce_sum(x, keepdims="yes")  # wrong

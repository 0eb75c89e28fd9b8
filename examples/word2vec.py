"""Word2vec: skip-gram word vectors trained with noise-contrastive estimation, and the nearest words of a few.

The words come from the bundled text; for a bigger one pass --text=FILE.

Run:     everflow run examples/word2vec.py
Expect:  the average NCE loss falls from 7.6 over the first 1,000 steps to about 3 over the last.
"""

import collections
import math
import os
import random

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string(
    "text", os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "alice.txt"), "What to read"
)
flags.DEFINE_integer("num_steps", 8000, "Number of batches to train on")
flags.DEFINE_integer("vocabulary_size", 600, "The most frequent words are kept; others are UNK")
flags.DEFINE_integer("embedding_size", 64, "Dimension of the embedding vector")
FLAGS = flags.FLAGS

batch_size = 128
skip_window = 2  # How many words to consider left and right.
num_skips = 2  # How many times to reuse an input to generate a label.
num_sampled = 32  # Number of negative examples to sample.
data_index = 0


def build_dataset(words, n_words):
    """Process raw inputs into a dataset."""
    count = [("UNK", -1)]
    count.extend(collections.Counter(words).most_common(n_words - 1))
    dictionary = {word: i for i, (word, _) in enumerate(count)}
    data = [dictionary.get(word, 0) for word in words]
    return data, dictionary, dict(zip(dictionary.values(), dictionary.keys()))


def generate_batch(data):
    global data_index
    batch = np.ndarray(shape=(batch_size), dtype=np.int32)
    labels = np.ndarray(shape=(batch_size, 1), dtype=np.int32)
    span = 2 * skip_window + 1  # [ skip_window target skip_window ]
    if data_index + span > len(data):
        data_index = 0
    window = collections.deque(data[data_index : data_index + span], maxlen=span)
    data_index += span
    for i in range(batch_size // num_skips):
        context_words = [w for w in range(span) if w != skip_window]
        for j, context_word in enumerate(random.sample(context_words, num_skips)):
            batch[i * num_skips + j] = window[skip_window]
            labels[i * num_skips + j, 0] = window[context_word]
        if data_index == len(data):
            window.extend(data[0:span])
            data_index = span
        else:
            window.append(data[data_index])
            data_index += 1
    # Backtrack a little bit to avoid skipping words in the end of a batch
    data_index = (data_index + len(data) - span) % len(data)
    return batch, labels


def main(_):
    random.seed(4)
    with tf.gfile.GFile(FLAGS.text) as f:
        words = [w.strip(".,;:!?()'\"-_*") for w in f.read().lower().replace("--", " ").split()]
    data, dictionary, reverse_dictionary = build_dataset([w for w in words if w], FLAGS.vocabulary_size)
    vocabulary_size = len(dictionary)
    print("%d words, %d different ones kept" % (len(data), vocabulary_size))
    valid_examples = np.array([dictionary[w] for w in ("alice", "she", "little", "was") if w in dictionary])

    graph = tf.Graph()
    with graph.as_default():
        tf.set_random_seed(4)
        with tf.name_scope("inputs"):
            train_inputs = tf.placeholder(tf.int32, shape=[batch_size])
            train_labels = tf.placeholder(tf.int32, shape=[batch_size, 1])
            valid_dataset = tf.constant(valid_examples, dtype=tf.int32)
        with tf.device("/cpu:0"):
            with tf.name_scope("embeddings"):
                embeddings = tf.Variable(tf.random_uniform([vocabulary_size, FLAGS.embedding_size], -1.0, 1.0))
                embed = tf.nn.embedding_lookup(embeddings, train_inputs)
            with tf.name_scope("weights"):
                nce_weights = tf.Variable(
                    tf.truncated_normal(
                        [vocabulary_size, FLAGS.embedding_size], stddev=1.0 / math.sqrt(FLAGS.embedding_size)
                    )
                )
            with tf.name_scope("biases"):
                nce_biases = tf.Variable(tf.zeros([vocabulary_size]))
        with tf.name_scope("loss"):
            loss = tf.reduce_mean(
                tf.nn.nce_loss(
                    weights=nce_weights,
                    biases=nce_biases,
                    labels=train_labels,
                    inputs=embed,
                    num_sampled=num_sampled,
                    num_classes=vocabulary_size,
                )
            )
        with tf.name_scope("optimizer"):
            optimizer = tf.train.GradientDescentOptimizer(1.0).minimize(loss)
        # Compute the cosine similarity between minibatch examples and all embeddings.
        norm = tf.sqrt(tf.reduce_sum(tf.square(embeddings), 1, keepdims=True))
        normalized_embeddings = embeddings / norm
        valid_embeddings = tf.nn.embedding_lookup(normalized_embeddings, valid_dataset)
        similarity = tf.matmul(valid_embeddings, normalized_embeddings, transpose_b=True)
        init = tf.global_variables_initializer()

    with tf.Session(graph=graph) as session:
        init.run()
        average_loss, every = 0, max(FLAGS.num_steps // 8, 1)
        for step in range(1, FLAGS.num_steps + 1):
            batch_inputs, batch_labels = generate_batch(data)
            _, loss_val = session.run(
                [optimizer, loss], feed_dict={train_inputs: batch_inputs, train_labels: batch_labels}
            )
            average_loss += loss_val
            if step % every == 0:
                print("Average loss at step ", step, ": ", average_loss / every)
                final_loss, average_loss = average_loss / every, 0
        for row, word in zip(similarity.eval(), valid_examples):
            nearest = (-row).argsort()[1:7]
            print("Nearest to %s: %s" % (reverse_dictionary[word], ", ".join(reverse_dictionary[k] for k in nearest)))
    print("final average loss %.2f" % final_loss)


if __name__ == "__main__":
    tf.app.run()

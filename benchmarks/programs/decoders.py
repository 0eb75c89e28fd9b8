"""Programs that make texts word by word: a translator while it learns and while it is used."""

from benchmarks.programs.registry import RANDOM, adam, program


@program
def translator(tf):
    """An encoder of both directions and a decoder with attention."""
    source, target, lengths = (
        tf.placeholder(tf.int32, [32, 20]),
        tf.placeholder(tf.int32, [32, 15]),
        tf.placeholder(tf.int32, [32]),
    )
    embedding = tf.get_variable("embedding", [2000, 64])
    cells = [tf.nn.rnn_cell.GRUCell(64) for _ in range(2)]
    outputs, state = tf.nn.bidirectional_dynamic_rnn(
        *cells, tf.nn.embedding_lookup(embedding, source), lengths, dtype=tf.float32
    )
    attention = tf.contrib.seq2seq.BahdanauAttention(64, tf.concat(outputs, 2), lengths)
    cell = tf.contrib.seq2seq.AttentionWrapper(tf.nn.rnn_cell.GRUCell(128), attention, 64)
    helper = tf.contrib.seq2seq.TrainingHelper(tf.nn.embedding_lookup(embedding, target), tf.fill([32], 15))
    start = cell.zero_state(32, tf.float32).clone(cell_state=tf.concat(state, 1))
    decoder = tf.contrib.seq2seq.BasicDecoder(cell, helper, start, tf.layers.Dense(2000))
    loss = tf.contrib.seq2seq.sequence_loss(
        tf.contrib.seq2seq.dynamic_decode(decoder)[0].rnn_output, target, tf.ones([32, 15])
    )
    feeds = {
        source: RANDOM.randint(0, 2000, (32, 20)),
        target: RANDOM.randint(0, 2000, (32, 15)),
        lengths: RANDOM.randint(5, 20, 32),
    }
    return adam(tf, loss), feeds


@program
def beam_search(tf):
    """What a translator does when it is used: the five best sentences for each of sixteen, without training."""
    memory, lengths = tf.placeholder(tf.float32, [16, 20, 64]), tf.placeholder(tf.int32, [16])
    wide, longer = (tf.contrib.seq2seq.tile_batch(t, 5) for t in (memory, lengths))
    cell = tf.contrib.seq2seq.AttentionWrapper(
        tf.nn.rnn_cell.LSTMCell(64), tf.contrib.seq2seq.LuongAttention(64, wide, longer), 64
    )
    embedding, start, output = (
        tf.get_variable("embedding", [1000, 64]),
        cell.zero_state(80, tf.float32),
        tf.layers.Dense(1000),
    )
    decoder = tf.contrib.seq2seq.BeamSearchDecoder(
        cell, embedding, tf.fill([16], 1), 2, start, 5, output, length_penalty_weight=0.6
    )
    sentences = tf.contrib.seq2seq.dynamic_decode(decoder, maximum_iterations=30)[0].predicted_ids
    return [sentences], {memory: RANDOM.randn(16, 20, 64), lengths: RANDOM.randint(5, 20, 16)}


@program
def greedy_decoder(tf, batch=16, words=1000, width=64, longest=30):
    """The likeliest word after each word, by a loop that a program wrote itself: it ends when all sentences have."""
    start, finish = 1, 2
    state = tf.placeholder(tf.float32, [batch, width])
    embedding = tf.get_variable("embedding", [words, width])
    cell, output = tf.nn.rnn_cell.GRUCell(width), tf.layers.Dense(words)

    def is_going(time, word, state, ended, sentences):
        return tf.logical_and(time < longest, tf.logical_not(tf.reduce_all(ended)))

    def further(time, word, state, ended, sentences):
        made, following = cell(tf.nn.embedding_lookup(embedding, word), state)
        word = tf.where(ended, tf.fill([batch], finish), tf.argmax(output(made), 1, output_type=tf.int32))
        following = tf.where(ended, state, following)
        return time + 1, word, following, tf.logical_or(ended, tf.equal(word, finish)), sentences.write(time, word)

    began = (
        tf.constant(0),
        tf.fill([batch], start),
        state,
        tf.zeros([batch], tf.bool),
        tf.TensorArray(tf.int32, longest, dynamic_size=True),
    )
    length, _, _, _, sentences = tf.while_loop(is_going, further, began)
    return [tf.transpose(sentences.stack()), length], {state: RANDOM.randn(batch, width)}

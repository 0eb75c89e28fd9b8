"""Parts of Keras's engine that programs and tests take from inside TensorFlow: layers that learn from data before training,
and what brings data into batches.
"""

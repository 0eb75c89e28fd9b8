"""tensorflow.python.autograph.converters: steps of a conversion, a module for each, with a function `transform(node, ctx)`.

Libraries call them one by one. The conversion that `tf.function` uses does all of it in a walk of its own
(`ops/autograph/rewriting.py`).
"""

"""The messages of TensorFlow 1.15's file and wire formats, in a proto package of our own.

The package is `everflow`, so that a process may load TensorFlow's messages beside ours; bytes and text are the same in
both. `python -m everflow.protos.generate` makes the `*_pb2.py` files from the `.proto` files.
"""

"""tf.contrib.proto: protocol messages read into tensors, and written from them."""

from everflow.ops.io.parsing import decode_proto, encode_proto

__all__ = ["decode_proto", "encode_proto"]

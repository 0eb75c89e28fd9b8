# Made by `make stubs`.

from everflow.io import decode_proto as decode_proto
from everflow.io import encode_proto as encode_proto

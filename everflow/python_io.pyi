# Made by `make stubs`.

from everflow.io import TFRecordCompressionType as TFRecordCompressionType
from everflow.io import TFRecordOptions as TFRecordOptions
from everflow.io import TFRecordWriter as TFRecordWriter
from everflow.io import tf_record_iterator as tf_record_iterator

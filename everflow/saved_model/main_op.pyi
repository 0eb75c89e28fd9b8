# Made by `make stubs`.
import everflow as _tf

def main_op() -> _tf.Operation: ...
from everflow.saved_model import main_op_with_restore as main_op_with_restore

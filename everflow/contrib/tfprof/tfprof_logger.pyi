# Made by `make stubs`.

from everflow.profiler import write_op_log as write_op_log

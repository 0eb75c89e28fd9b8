# Made by `make stubs`.
from everflow.protos.node_def_pb2 import NodeDef as _NodeDef
import everflow as _tf
from everflow._typing import Any

ABORTED: int
ALREADY_EXISTS: int
class AbortedError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class AlreadyExistsError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

CANCELLED: int
class CancelledError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

DATA_LOSS: int
DEADLINE_EXCEEDED: int
class DataLossError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class DeadlineExceededError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

FAILED_PRECONDITION: int
class FailedPreconditionError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

INTERNAL: int
INVALID_ARGUMENT: int
class InternalError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class InvalidArgumentError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

NOT_FOUND: int
class NotFoundError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

OK: int
OUT_OF_RANGE: int
from everflow import OpError as OpError
class OutOfRangeError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

PERMISSION_DENIED: int
class PermissionDeniedError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

RESOURCE_EXHAUSTED: int
class ResourceExhaustedError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

UNAUTHENTICATED: int
UNAVAILABLE: int
UNIMPLEMENTED: int
UNKNOWN: int
class UnauthenticatedError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class UnavailableError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class UnimplementedError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str) -> None: ...

class UnknownError(_tf.OpError):
    def __init__(self, node_def: _NodeDef | None, op: _tf.Operation | None, message: str, error_code: int = 2) -> None: ...

def error_code_from_exception_type(cls: type) -> int: ...
def exception_type_from_error_code(error_code: int) -> Any: ...
class raise_exception_on_not_ok_status:
    def __exit__(self, *exc: Any) -> None: ...
    _abc_impl: Any

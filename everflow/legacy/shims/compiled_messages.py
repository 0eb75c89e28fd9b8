"""Messages (`*_pb2.py`) that libraries brought along as compiled years ago, or that contain messages of TensorFlow's.

protobuf of today refuses what its compiler wrote before 2021, and a file that imports `tensorflow/core/...` finds nothing of that name, since
Everflow's messages have a package of their own. The description of the messages is in such a module all the same: it is
taken out, names of TensorFlow's messages in it become Everflow's, and the classes are made of it as for a new file.
"""

from __future__ import annotations

import ast
import importlib
import importlib.abc
import importlib.machinery
import sys

OF_OLD_COMPILERS = b"serialized_pb="
OF_TENSORFLOW = b"from tensorflow.core."


class _Loader(importlib.machinery.SourceFileLoader):
    """Runs of a module what describes its messages, and makes their classes."""

    def exec_module(self, module) -> None:
        from google.protobuf import descriptor_pool
        from google.protobuf.internal import builder

        names = vars(module)
        tree = ast.parse(self.get_data(self.path), self.path)
        kept = [node for node in tree.body if _describes(node)]
        exec(compile(ast.Module(kept, []), self.path, "exec"), names)
        described = ast.Expression(_serialized(tree))
        content = _with_our_messages(eval(compile(described, self.path, "eval"), names))
        names["DESCRIPTOR"] = file = descriptor_pool.Default().AddSerializedFile(content)
        builder.BuildMessageAndEnumDescriptors(file, names)
        builder.BuildTopDescriptorsAndMessages(file, module.__name__, names)


def _describes(node) -> bool:
    """Whether a statement is wanted before the description can be read: other files' modules, and how strings become bytes."""
    if isinstance(node, ast.ImportFrom):
        of_protobuf = node.level == 0 and (node.module or "").split(".")[:2] == ["google", "protobuf"]
        return not of_protobuf or all(name.name.endswith("_pb2") for name in node.names)
    return isinstance(node, ast.Import) or _target(node) == "_b"


def _target(node) -> str | None:
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return None


def _serialized(tree) -> ast.expr:
    """What the module says its file descriptor's bytes are."""
    call = next(node.value for node in tree.body if _target(node) == "DESCRIPTOR" and isinstance(node.value, ast.Call))
    return next((word.value for word in call.keywords if word.arg == "serialized_pb"), None) or call.args[0]


def _with_our_messages(content: bytes) -> bytes:
    """A file's description in which TensorFlow's files and messages are called as they are called here."""
    from google.protobuf import descriptor_pb2, descriptor_pool

    pool = descriptor_pool.Default()
    file = descriptor_pb2.FileDescriptorProto.FromString(content)
    for index, name in enumerate(file.dependency):
        if name.startswith("tensorflow/") and not _known(pool.FindFileByName, name):
            served = importlib.import_module(name.removesuffix(".proto").replace("/", ".") + "_pb2")
            file.dependency[index] = served.DESCRIPTOR.name
    for field in _fields(file):
        ours = field.type_name.replace(".tensorflow.", ".everflow.", 1)
        find = pool.FindEnumTypeByName if field.type == field.TYPE_ENUM else pool.FindMessageTypeByName
        if ours != field.type_name and _known(find, ours.lstrip(".")):
            field.type_name = ours
    return file.SerializeToString()


def _known(find, name: str) -> bool:
    try:
        find(name)
    except KeyError:
        return False
    return True


def _fields(owner):
    """All fields of a file's or message's messages, and extensions."""
    yield from owner.extension
    for message in getattr(owner, "message_type", None) or getattr(owner, "nested_type", ()):
        yield from message.field
        yield from _fields(message)


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules of messages where they are, and has those that need it loaded in this way."""

    def find_spec(self, fullname, path=None, target=None):
        if not fullname.endswith("_pb2") or fullname.startswith(("everflow.", "google.", "tensorflow.")):
            return None
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        loader = spec and spec.loader
        if type(loader) is importlib.machinery.SourceFileLoader:
            source = loader.get_data(loader.path)
            if OF_OLD_COMPILERS in source or OF_TENSORFLOW in source:
                spec.loader = _Loader(fullname, loader.path)
        return spec


def bring_back() -> None:
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())

"""`pyct.compiler`: from trees to modules."""

from __future__ import annotations

import atexit
import importlib.util
import os
import sys
import tempfile

from everflow.legacy.inner.autograph import origins, sources
from everflow.legacy.inner.autograph.sources import ast_to_source  # noqa: F401  a name of this module


def source_to_entity(source, delete_on_exit):
    """(a module made from source, the file that holds it)."""
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False, encoding="utf-8") as file:
        name = os.path.basename(file.name)[:-3]
        file.write(source)
    if delete_on_exit:
        atexit.register(lambda: os.path.exists(file.name) and os.remove(file.name))
    spec = importlib.util.spec_from_file_location(name, file.name)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    # Its functions can be pickled and looked up like those of any module.
    sys.modules[name] = module
    return module, file.name


def ast_to_object(nodes, indentation="  ", include_source_map=False, delete_on_exit=True):
    """(a module that trees were compiled to, their source, which of its lines came from where: None if not asked for)."""
    statements = nodes if isinstance(nodes, (list, tuple)) else (nodes,)
    source = sources.ast_to_source(statements, indentation)
    module, _ = source_to_entity(source, delete_on_exit)
    return (
        module,
        source,
        origins.create_source_map(statements, source, module.__file__) if include_source_map else None,
    )

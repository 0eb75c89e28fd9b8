"""`core.converter_testing`: what tests of converters are derived from."""

from __future__ import annotations

import contextlib
import io
import sys
import types

from everflow.legacy.inner.autograph import (
    compiling,
    converters,
    function_contexts,
    names,
    operators,
    origins,
    sources,
    utils,
    walking,
)
from everflow.legacy.inner.autograph.lang import special_functions
from everflow.ops.autograph.features import Feature
from everflow.ops.autograph.public import do_not_convert
from everflow.test import TestCase as _TestCase

_FUTURE_FEATURES = ("print_function", "division")


class TestCase(_TestCase):
    """A test that converts functions, and runs them where AutoGraph is a stand-in: `dynamic_calls` has what was called."""

    @contextlib.contextmanager
    def assertPrints(self, expected_result):
        """What is printed in the context is this text."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            yield
        self.assertEqual(printed.getvalue(), expected_result)

    def make_fake_mod(self, name, *symbols):
        """A module with these functions, under their names."""
        made = types.ModuleType(name)
        for symbol in symbols:
            setattr(made, symbol.name if hasattr(symbol, "name") else symbol.__name__, symbol)
        return made

    def attach_namespace(self, module, **ns):
        """Give a module names."""
        vars(module).update(ns)

    def prepare(self, test_fn, namespace, recursive=True):
        """(the tree of a function with the notes that converters need, their context)"""
        namespace["ConversionOptions"] = converters.ConversionOptions
        node, source = sources.parse_entity(test_fn, _FUTURE_FEATURES)
        origins.resolve_entity(node, source, test_fn)
        info = walking.EntityInfo(
            source_code=source, source_file="<fragment>", future_features=_FUTURE_FEATURES, namespace=namespace
        )
        program = converters.ProgramContext(
            options=converters.ConversionOptions(recursive=recursive), autograph_module=None
        )
        context = converters.EntityContext(names.Namer(namespace), info, program, "test_fn")
        return converters.standard_analysis(node, context, is_initial=True), context

    @contextlib.contextmanager
    def compiled(self, node, namespace, symbols=()):
        """A module made of a tree; `tf` in it has these functions, `ag__` what converted code calls."""
        self.dynamic_calls: list = []

        def converted_call(f, options, args, kwargs, caller_fn_scope=None):
            self.dynamic_calls.append((args, kwargs))
            return f(*args, **(kwargs or {}))

        module, source, _ = compiling.ast_to_object(node, include_source_map=True)
        stand_in = types.ModuleType("fake_ag")
        for known in (operators, special_functions, function_contexts):
            vars(stand_in).update((name, value) for name, value in vars(known).items() if not name.startswith("__"))
        self.attach_namespace(
            stand_in,
            converted_call=converted_call,
            do_not_convert_internal=do_not_convert,
            ConversionOptions=converters.ConversionOptions,
            Feature=Feature,
            utils=utils,
        )
        self.attach_namespace(module, tf=self.make_fake_mod("fake_tf", *symbols), ag__=stand_in, **namespace)
        try:
            yield module
        except Exception:
            print(source, file=sys.stderr)
            raise

    @contextlib.contextmanager
    def converted(self, entity, converter_module, namespace, tf_symbols=()):
        """A module with a function as one or several converters leave it."""
        node, context = self.prepare(entity, namespace)
        modules = converter_module if isinstance(converter_module, (list, tuple)) else (converter_module,)
        for position, module in enumerate(modules):
            node = converters.standard_analysis(node, context) if position else node
            node = module.transform(node, context)
        with self.compiled(node, namespace, tf_symbols) as result:
            yield result

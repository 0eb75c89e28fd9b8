"""tensorflow.python.autograph.impl.conversion: what is converted, and the trees that converters make of functions.

Trees are made by the converters that libraries call (`conversions/`); what is run, by `ops/autograph`.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref

from everflow.legacy.inner.autograph import (
    converters,
    function_contexts,
    names,
    origins,
    sources,
    templates,
    tree_tools,
    trees,
    unsupported_features,
    walking,
)
from everflow.legacy.inner.autograph.conversions import (
    arg_defaults,
    asserts,
    break_statements,
    call_trees,
    conditional_expressions,
    continue_statements,
    control_flow,
    directives,
    function_scopes,
    lists,
    logical_expressions,
    return_statements,
    slices,
)
from everflow.ops.autograph.conversion import converted
from everflow.ops.autograph.features import Feature, asked_for


def is_whitelisted_for_graph(o, check_call_override=True):
    """Whether something is called as it is: libraries, named tuples, generators."""
    if isinstance(o, functools.partial):
        return False
    module = o if isinstance(o, types.ModuleType) else inspect.getmodule(o) or inspect.getmodule(type(o))
    if module is not None:
        for rule in function_contexts.CONVERSION_RULES:
            action = rule.get_action(module)
            if action is not function_contexts.Action.NONE:
                return action is function_contexts.Action.DO_NOT_CONVERT
    if inspect.isgeneratorfunction(o) or sources.isnamedtuple(o):
        return True
    if check_call_override and callable(o) and not isinstance(o, type) and not inspect.isroutine(o):
        return is_whitelisted_for_graph(type(o).__call__, check_call_override=False)
    owner = type(getattr(o, "__self__", None))
    if owner in (type, type(None)) or sources.isnamedtuple(owner):
        return False
    return is_whitelisted_for_graph(owner)


_UNCONVERTED: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def cache_unconverted(entity, options):
    """Remember that something isn't converted under these options."""
    _UNCONVERTED.setdefault(entity, set()).add(options)


def check_cached_unconverted(entity, options):
    """Whether that is remembered."""
    return options in _UNCONVERTED.get(entity, ())


def convert(entity, program_ctx):
    """A converted function."""
    options = program_ctx.options
    return converted(entity, options.recursive, asked_for(options.optional_features))


def node_to_graph(node, context):
    """A function's tree with everything converted that the context's options ask for."""
    unsupported_features.verify(node)
    node = converters.standard_analysis(node, context, is_initial=True)
    of_lists = [lists, slices] if context.program.options.uses(Feature.LISTS) else []
    for step in (
        function_scopes,
        arg_defaults,
        directives,
        break_statements,
        asserts,
        continue_statements,
        return_statements,
        *of_lists,
        call_trees,
        control_flow,
        conditional_expressions,
        logical_expressions,
    ):
        node = converters.apply_(node, context, step)
    return node


def convert_entity_to_ast(o, program_ctx):
    """([trees], name, what is known of the source) of a function that is converted."""
    if not isinstance(o, (types.FunctionType, types.MethodType)):
        raise NotImplementedError(f"trees are made of functions and methods, not of {type(o).__name__}")
    return convert_func_to_ast(o, program_ctx)


def convert_func_to_ast(f, program_ctx, do_rename=True):
    """The same of a function."""
    features = sources.getfutureimports(f)
    node, source = sources.parse_entity(f, future_features=features)
    origins.resolve_entity(node, source, f)
    if sources.islambda(f):
        found = tree_tools.find_matching_definitions(node, f)
        if len(found) != 1:
            raise ValueError(f"{len(found)} lambdas of this line may be the one that is meant:\n{source}")
        (node,) = found
    namespace = sources.getnamespace(f)
    info = walking.EntityInfo(source, inspect.getsourcefile(f), features, namespace)
    context = converters.EntityContext(names.Namer(namespace), info, program_ctx)
    node = node_to_graph(node, context)
    if isinstance(node, trees.nodes.Lambda):
        name = context.namer.new_symbol("tf__lambda", ())
        return templates.replace("name = made", name=name, made=node), name, info
    name = context.namer.function_name(f.__name__) if do_rename else f.__name__
    node.name, node.decorator_list = name, []
    return [node], name, info

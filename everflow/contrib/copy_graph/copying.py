"""Copies go by name: an element's copy has its name, below `scope` where one is given."""

from __future__ import annotations

from everflow.framework.operation import Operation, Tensor
from everflow.ops.variables.ref import RefVariable
from everflow.ops.variables.variable import Variable
from everflow.runtime.session import Session


def _below(scope, name):
    return f"{scope}/{name}" if scope else name


def copy_variable_to_graph(org_instance, to_graph, scope=""):
    """A variable of another graph that starts with the value which this one would be initialized to."""
    if not isinstance(org_instance, Variable):
        raise TypeError(f"{org_instance} is not a Variable")
    new_name = _below(scope, org_instance.op.name)
    graph = org_instance.graph
    # Collections of the library keep their names; those of the program are kept apart for each scope.
    standard = ("variables", "trainable_variables")
    keys = graph.get_all_collection_keys()
    found = [key for key in keys if any(item is org_instance for item in graph.get_collection(key))]
    collections = [key if key in standard or not scope else f"{scope}/{key}" for key in found]
    with graph.as_default(), Session(graph=graph) as session:
        initial_value = session.run(org_instance.initialized_value())
    with to_graph.as_default():
        settings = {"name": new_name, "collections": collections, "validate_shape": False}
        return RefVariable(initial_value, "trainable_variables" in found, **settings)


def copy_op_to_graph(org_instance, to_graph, variables, scope=""):
    """The copy of a tensor or operation, made with all that it depends on unless it is there already.

    `variables` are those that `copy_variable_to_graph` made: where they stand no variable is copied again.
    """
    copied_variables = {variable.name: variable for variable in variables}
    new_name = _below(scope, org_instance.name)
    if new_name in copied_variables:
        return to_graph.get_tensor_by_name(new_name)
    try:
        return to_graph.as_graph_element(new_name, allow_tensor=True, allow_operation=True)
    except KeyError:
        pass
    if isinstance(org_instance, Tensor):
        op = copy_op_to_graph(org_instance.op, to_graph, variables, scope)
        return op.outputs[org_instance.value_index]
    if not isinstance(org_instance, Operation):
        raise TypeError(f"Could not copy instance: {org_instance}")
    control_inputs = [copy_op_to_graph(op, to_graph, variables, scope) for op in org_instance.control_inputs]
    inputs = [copy_op_to_graph(tensor, to_graph, variables, scope) for tensor in org_instance.inputs]
    with (
        to_graph.as_default(),
        to_graph.control_dependencies(control_inputs),
        to_graph.device(org_instance.device or None),
    ):
        attrs = dict(org_instance.node_def.attr)
        types = [t.dtype for t in org_instance.outputs]
        copied = to_graph.create_op(org_instance.type, inputs, types, name=new_name, attrs=attrs)
    return copied


def get_copied_op(org_instance, graph, scope=""):
    """The copy of an element, found by its name; KeyError where there is none."""
    return graph.as_graph_element(_below(scope, org_instance.name), allow_tensor=True, allow_operation=True)

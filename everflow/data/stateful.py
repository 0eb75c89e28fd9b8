"""Functions that carry a state from element to element: `reduce` and `scan`."""

from __future__ import annotations

from everflow.data import structure
from everflow.data.functions import StructuredFunction
from everflow.framework import raw_ops as raw
from everflow.framework.scopes import name_scope


def drawn_with_state(function, transformation, state_spec, element_spec, state_of):
    """The function, and the specs of a state that fit from step to step: shapes that change are taken to be unknown."""
    while True:
        drawn = StructuredFunction(function, transformation, (state_spec, element_spec))
        found = state_of(drawn.output_structure)
        try:
            structure.same_structure(state_spec, found)
        except (TypeError, ValueError) as e:
            raise TypeError(
                f"The state a function returns must have the structure of the initial state, {state_spec}; got {found}"
            ) from e
        for what, read in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
            if read(state_spec) != read(found):
                raise TypeError(
                    f"The state a function returns must have the {what} of the initial state, {read(state_spec)}; got {read(found)}"
                )
        wider = structure.joined(state_spec, found)
        if all(a == b for a, b in zip(structure.flatten(wider), structure.flatten(state_spec))):
            return drawn, state_spec
        state_spec = wider


def reduce(dataset, initial_state, reduce_func):
    """See `Dataset.reduce`."""
    with name_scope("initial_state"):
        initial_state = structure.normalize(initial_state)
    spec = structure.map_nest(structure.spec_of, initial_state)
    function, state_spec = drawn_with_state(reduce_func, "reduce()", spec, dataset.element_spec, lambda found: found)
    tensors = raw.ReduceDataset(
        input_dataset=dataset._variant_tensor,
        initial_state=structure.to_tensors(spec, initial_state),
        other_arguments=function.captured_inputs,
        f=function.attr,
        **structure.attributes(state_spec),
    )
    return structure.from_tensors(state_spec, tensors)


def scan(dataset, initial_state, scan_func):
    """See `tf.data.experimental.scan`."""
    initial_state = structure.normalize(initial_state)
    spec = structure.map_nest(structure.spec_of, initial_state)

    def state_of(found):
        if type(found) is not tuple or len(found) != 2:
            raise TypeError(f"`scan_func` must return a pair (new state, output), not {found}")
        return found[0]

    function, _ = drawn_with_state(scan_func, "tf.data.experimental.scan()", spec, dataset.element_spec, state_of)
    start = {"initial_state": structure.to_tensors(spec, initial_state), "preserve_cardinality": True}
    return dataset._then(raw.ScanDataset, function.output_structure[1], **start, **function.argument("f"))

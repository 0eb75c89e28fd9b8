"""slim.model_analyzer: what a model is made of, printed and counted."""

from __future__ import annotations


def tensor_description(var):
    """A tensor or variable in few words: dtype and sizes."""
    sizes = "x".join("?" if size is None else str(size) for size in var.get_shape().sizes)
    return f"({var.dtype.name} {sizes})"


def _headline(text, print_info):
    if print_info:
        print("---------", text, "---------", sep="\n")


def analyze_ops(graph, print_info=False):
    """The number of numbers in the outputs of a graph's ops, as far as known; printed when asked."""
    _headline("Operations: name -> (type shapes) [size]", print_info)
    total = 0
    for op in graph.get_operations():
        size = 0
        shapes = []
        for output in op.outputs:
            shape = output.get_shape()
            size += shape.num_elements() or 0
            if shape.ndims is not None:
                shapes.append(tensor_description(output))
        if print_info:
            print(op.name, "\t->", ", ".join(shapes), f"[{size}]")
        total += size
    return total


def analyze_vars(variables, print_info=False):
    """(numbers, bytes) of variables; printed when asked."""
    _headline("Variables: name (type shape) [size]", print_info)
    total, total_bytes = 0, 0
    for variable in variables:
        # A variable without a known shape can't be counted.
        size = variable.get_shape().num_elements() or 0
        size_bytes = size * variable.dtype.base_dtype.size
        total += size
        total_bytes += size_bytes
        if print_info:
            print(variable.name, tensor_description(variable), f"[{size}, bytes: {size_bytes}]")
    if print_info:
        print(f"Total size of variables: {total}")
        print(f"Total bytes of variables: {total_bytes}")
    return total, total_bytes

"""tensorflow.python.data.util.options: classes of options that people make."""


class OptionsBase:
    """Holds options, each of which `create_option` made; no other attribute can be set."""

    def __init__(self):
        object.__setattr__(self, "_options", {})

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in {*self._options, *other._options})

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)


def create_option(name, ty, docstring, default_factory=lambda: None):
    """A property that holds a value of a type."""

    def read(option):
        if name not in option._options:
            option._options[name] = default_factory()
        return option._options[name]

    def write(option, value):
        if not isinstance(value, ty):
            raise TypeError(f"Property {name} must be of type {ty}, got: {value!r} (type: {type(value)})")
        option._options[name] = value

    return property(read, write, None, docstring)


def merge_options(*options_list):
    """Options that were set in any of several objects of one class; the last one that did decides."""
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Incompatible options type: {kind} vs {type(options)}")
    if not hasattr(options_list[0], "_options"):
        merged = options_list[0]
        for options in options_list[1:]:
            merged = merged.merge(options)
        return merged
    merged = kind()
    for options in options_list:
        for name in options._options:
            mine, others = getattr(merged, name), getattr(options, name)
            if isinstance(others, OptionsBase):
                setattr(merged, name, merge_options(mine, others) if mine is not None else others)
            elif others is not None:
                setattr(merged, name, others)
    return merged

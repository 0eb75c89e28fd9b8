"""tensorflow.python.data.util.options: classes of options that people make."""


class OptionsBase:
    """Holds options, each of which `create_option` made; no other attribute can be set."""

    def __init__(self):
        object.__setattr__(self, "_options", {})

    def __eq__(self, other):
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in self._options | other._options)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __setattr__(self, name, value):
        if not hasattr(type(self), name):
            raise AttributeError(f"{type(self).__name__} has no option {name!r}")
        object.__setattr__(self, name, value)


class _Option:
    """An attribute that holds a value of one type, among the `_options` of the object that has it."""

    def __init__(self, name, kind, default, doc):
        self._name, self._kind, self._default, self.__doc__ = name, kind, default, doc

    def __get__(self, holder, owner=None):
        if holder is None:
            return self
        kept, name = holder._options, self._name
        if name not in kept:
            made = self._default()
            if not isinstance(made, OptionsBase):  # what was only looked at is not set
                return made
            kept[name] = made
        return kept[name]

    def __set__(self, holder, value):
        if not isinstance(value, self._kind):
            raise TypeError(f"The option {self._name!r} takes a {self._kind}, not {value!r}, which is a {type(value)}")
        holder._options[self._name] = value


def create_option(name, ty, docstring, default_factory=lambda: None):
    """An attribute of a class of options that holds a value of a type; until one is set, what the factory makes."""
    return _Option(name, ty, default_factory, docstring)


def merge_options(*options_list):
    """Options that were set in any of several objects of one class; ValueError where two differ."""
    if not options_list:
        raise ValueError("merge_options takes one object with options at least")
    kind = type(options_list[0])
    if not hasattr(kind, "merge") and not issubclass(kind, OptionsBase):
        raise TypeError(f"merge_options takes objects with options, not {options_list[0]!r}")
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Options of {kind} and of {type(options)} can't be merged: they must be of one class")
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
                if merged._options.get(name, others) != others:
                    raise ValueError(f"The option {name!r} is {mine!r} in one place and {others!r} in another")
                setattr(merged, name, others)
    return merged

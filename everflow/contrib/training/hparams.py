"""HParams: named hyperparameters with types, which a command line can override.

>>> hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=[128, 64], activation="relu")
>>> hparams.parse("learning_rate=0.3,layers=[32]")
"""

from __future__ import annotations

import json
import numbers
import re

from everflow.protos.hparam_pb2 import HParamDef

# name, optional [index], then a value or a list of values; values end at a comma.
_ASSIGNMENT = re.compile(
    r"""
    (?P<name>[a-zA-Z][\w\.]*)
    (\[\s*(?P<index>\d+)\s*\])?
    \s*=\s*
    ((?P<value>[^,\[]*) | \[(?P<values>[^\]]*)\])
    ($|,\s*)""",
    re.VERBOSE,
)


_TRUTHS = {"true": True, "True": True, "false": False, "False": False}


def _parser(name, type_, text):
    """A function from the text of one value to the value."""

    def parse(value):
        try:
            if type_ is bool:
                return _TRUTHS[value] if value in _TRUTHS else bool(int(value))
            return type_(value)
        except ValueError:
            raise ValueError(f"Could not parse hparam {name!r}: {value!r} in {text!r}") from None

    return parse


def parse_values(values, type_map, ignore_unknown=False):
    """{name: value} of "a=1,b=[2,3],c[1]=4", of the types in `type_map`; {name: {index: value}} of an index."""
    result: dict = {}
    position = 0
    while position < len(values):
        match = _ASSIGNMENT.match(values, position)
        if not match:
            raise ValueError(f"Malformed hyperparameter value: {values[position:]}")
        position = match.end()
        name = match["name"].strip()
        if name not in type_map:
            if ignore_unknown:
                continue
            raise ValueError(f"Unknown hyperparameter type for {name}")
        parse = _parser(name, type_map[name], values)
        if match["value"] is not None:
            value = parse(match["value"])
        elif match["index"]:
            raise ValueError(f"{name}[{match['index']}] is one value of a list, and can't be a list itself")
        else:
            given = [item.strip() for item in match["values"].split(",")]
            value = [parse(item) for item in given if item]
        _set(result, name, match["index"], value, values)
    return result


def _set(result, name, index, value, text):
    """Put a value where it belongs; ValueError where there is one."""
    place, key, shown = result, name, name
    if index is not None:
        place, key, shown = result.setdefault(name, {}), int(index), f"{name}[{int(index)}]"
    if not isinstance(place, dict) or key in place:
        raise ValueError(f"Multiple assignments to variable {shown!r} in {text!r}")
    place[key] = value


def _cast(name, type_, value):
    """`value` as the type of a hyperparameter; ValueError where that would lose something."""
    error = ValueError(f"Could not cast hparam {name!r}: {value!r} doesn't fit its type, {type_.__name__}")
    if type_ is type(None):
        return value
    if isinstance(value, str) != issubclass(type_, (str, bytes)) and not isinstance(value, bytes):
        raise error
    if isinstance(value, bool) != (type_ is bool):
        raise error
    if issubclass(type_, numbers.Integral) and not isinstance(value, numbers.Integral):
        raise error
    if issubclass(type_, numbers.Number) and not isinstance(value, numbers.Number):
        raise error
    return type_(value)


class HParams:
    """Hyperparameters as attributes; each keeps the type it was made with.

    Args:
        hparam_def: A HParamDef to make it from.
        model_structure: A model structure to keep beside.
        **kwargs: Values by name.

    Example:
        >>> hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=2)
        >>> hparams.parse("learning_rate=0.5").values()
        {'learning_rate': 0.5, 'layers': 2}
    """

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            self._init_from_proto(hparam_def)
            if kwargs:
                raise ValueError(f"The values come from hparam_def, so none can be given with it: {sorted(kwargs)}")
        else:
            for name, value in kwargs.items():
                self.add_hparam(name, value)

    def _init_from_proto(self, hparam_def):
        if type(hparam_def).__name__ != "HParamDef":
            raise AssertionError
        for name, value in hparam_def.hparam.items():
            kind = value.WhichOneof("kind")
            given = getattr(value, kind)
            if kind.endswith("_list"):
                given = [item.decode() if kind == "bytes_list" else item for item in given.value]
            elif kind == "bytes_value":
                given = given.decode()
            self.add_hparam(name, given)

    def add_hparam(self, name, value):
        """A further hyperparameter; ValueError where the name is taken."""
        if getattr(self, name, None) is not None:
            raise ValueError(f"Hyperparameter name is reserved: {name}")
        is_list = isinstance(value, (list, tuple))
        if is_list and not value:
            raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
        self._hparam_types[name] = type(value[0] if is_list else value), is_list
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Another value, of the type it has."""
        setattr(self, name, self._fitting(name, value))

    def _fitting(self, name, value):
        """A value, or each of a list, as the type that a hyperparameter has; ValueError where it doesn't fit."""
        type_, is_list = self._hparam_types[name]
        if is_list != isinstance(value, list):
            raise ValueError(f"The hparam {name!r} holds {'a list' if is_list else 'one value'}, not {value!r}")
        return [_cast(name, type_, item) for item in value] if is_list else _cast(name, type_, value)

    def del_hparam(self, name):
        """Forget a hyperparameter."""
        if hasattr(self, name):
            delattr(self, name)
            del self._hparam_types[name]

    def parse(self, values):
        """Override values with text such as "a=1,b=[2,3]"; returns itself."""
        types = {name: type_ for name, (type_, _) in self._hparam_types.items()}
        return self.override_from_dict(parse_values(values, types))

    def override_from_dict(self, values_dict):
        """Override values with those of a dict; returns itself."""
        for name, value in values_dict.items():
            self.set_hparam(name, value)
        return self

    def set_from_map(self, values_map):
        """Deprecated name of `override_from_dict`."""
        return self.override_from_dict(values_dict=values_map)

    def parse_json(self, values_json):
        """Override values with those of a JSON object; returns itself."""
        return self.override_from_dict(json.loads(values_json))

    def to_json(self, indent=None, separators=None, sort_keys=False):
        """All values as a JSON object."""
        return json.dumps(self.values(), indent=indent, separators=separators, sort_keys=sort_keys)

    def values(self):
        """{name: value}."""
        return {name: getattr(self, name) for name in self._hparam_types}

    def get(self, key, default=None):
        """A value, or `default`, which must fit the type."""
        if key not in self._hparam_types:
            return default
        if default is not None:
            try:
                self._fitting(key, default)
            except ValueError as e:
                raise ValueError(f"Hparam {key!r} is incompatible with default={default!r}. {e}") from None
        return getattr(self, key)

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_proto(self, export_scope=None):
        """As an HParamDef message."""
        message = HParamDef()
        kinds = {bool: "bool", int: "int64", float: "float", str: "bytes"}
        for name, (type_, is_list) in self._hparam_types.items():
            kind = next((found for known, found in kinds.items() if issubclass(type_, known)), None)
            if kind is None:
                raise ValueError(f"Unsupported hyperparameter type: {type_}")
            values = getattr(self, name) if is_list else [getattr(self, name)]
            values = [value.encode() if kind == "bytes" else value for value in values]
            if is_list:
                getattr(message.hparam[name], kind + "_list").value.extend(values)
            else:
                setattr(message.hparam[name], kind + "_value", values[0])
        return message

    @staticmethod
    def from_proto(hparam_def, import_scope=None):
        """From an HParamDef message."""
        return HParams(hparam_def=hparam_def)

    def __contains__(self, key):
        return key in self._hparam_types

    def __str__(self):
        return ",".join(f"{name}={value}" for name, value in self.values().items())

    def __repr__(self):
        return f"{type(self).__name__}({[(name, value) for name, value in sorted(self.values().items())]!r})"

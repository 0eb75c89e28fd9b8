"""HParams: named hyperparameters with types, which a command line can override.

>>> hparams = tf.contrib.training.HParams(learning_rate=0.1, layers=[128, 64], activation="relu")
>>> hparams.parse("learning_rate=0.3,layers=[32]")
"""

from __future__ import annotations

import json
import numbers
import re

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


def _unparsable(name, type_, value, text):
    return ValueError(f"Could not parse hparam '{name}' of type '{type_.__name__}' with value '{value}' in {text}")


def _parser(name, type_, text):
    """A function from the text of one value to the value."""
    if type_ is bool:

        def parse(value):
            if value in ("true", "True"):
                return True
            if value in ("false", "False"):
                return False
            try:
                return bool(int(value))
            except ValueError:
                raise _unparsable(name, type_, value, text) from None

        return parse

    def parse_other(value):
        try:
            return type_(value)
        except ValueError:
            raise _unparsable(name, type_, value, text) from None

    return parse_other


def parse_values(values, type_map, ignore_unknown=False):
    """{name: value} from text such as "a=1,b=[2,3],c[1]=4", with the types of `type_map`; for an index, {name: {index: value}}."""
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
            _set_one(result, name, match["index"], parse(match["value"]), values)
        elif match["index"]:
            raise ValueError("Assignment of a list to a list index.")
        else:
            if name in result:
                raise ValueError(f"Multiple assignments to variable '{name}' in {values}")
            given = [item.strip() for item in match["values"].split(",")]
            result[name] = [parse(item) for item in given if item]
    return result


def _set_one(result, name, index, value, text):
    if index is None:
        if name in result:
            raise ValueError(f"Multiple assignments to variable '{name}' in {text}")
        result[name] = value
        return
    index = int(index)
    places = result.setdefault(name, {})
    if not isinstance(places, dict):
        raise ValueError(f"Multiple assignments to variable '{name}' in {text}")
    if index in places:
        raise ValueError(f"Multiple assignments to variable '{name}[{index}]' in {text}")
    places[index] = value


def _cast(name, type_, value):
    """`value` as the type of a hyperparameter; ValueError where that would lose something."""
    error = ValueError(f"Could not cast hparam '{name}' of type '{type_}' from value {value!r}")
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
    """Hyperparameters as attributes; each keeps the type it was made with."""

    _HAS_DYNAMIC_ATTRIBUTES = True

    def __init__(self, hparam_def=None, model_structure=None, **kwargs):
        self._hparam_types = {}
        self._model_structure = model_structure
        if hparam_def is not None:
            self._init_from_proto(hparam_def)
            if kwargs:
                raise ValueError("hparam_def and initialization values are mutually exclusive")
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
        if isinstance(value, (list, tuple)):
            if not value:
                raise ValueError(f"Multi-valued hyperparameters cannot be empty: {name}")
            self._hparam_types[name] = (type(value[0]), True)
        else:
            self._hparam_types[name] = (type(value), False)
        setattr(self, name, value)

    def set_hparam(self, name, value):
        """Another value, of the type it has."""
        type_, is_list = self._hparam_types[name]
        if isinstance(value, list):
            if not is_list:
                raise ValueError(f"Must not pass a list for single-valued parameter: {name}")
            setattr(self, name, [_cast(name, type_, item) for item in value])
        else:
            if is_list:
                raise ValueError(f"Must pass a list for multi-valued parameter: {name}.")
            setattr(self, name, _cast(name, type_, value))

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
            type_, is_list = self._hparam_types[key]
            shown = f"list<{type_}>" if is_list else str(type_)
            failed = f"Hparam '{key}' of type '{shown}' is incompatible with default={default}"
            if is_list != isinstance(default, list):
                raise ValueError(failed)
            try:
                for item in default if is_list else [default]:
                    _cast(key, type_, item)
            except ValueError as e:
                raise ValueError(f"{failed}. {e}") from None
        return getattr(self, key)

    def set_model_structure(self, model_structure):
        self._model_structure = model_structure

    def get_model_structure(self):
        return self._model_structure

    def to_proto(self, export_scope=None):
        """As an HParamDef message."""
        from everflow.protos.hparam_pb2 import HParamDef

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

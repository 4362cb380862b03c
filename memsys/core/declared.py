"""Settings checked against what their class declares: the annotations of its constructor.

An annotation says what a setting may be: `bool`, `float | None`, `Literal["done", "said"]`,
`Sequence[str]`, or one of the types below, which have a range too. What is not declared, or by a
type that no YAML value has, is left to the class.
"""

import inspect
import re
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, is_dataclass
from functools import cache
from math import inf
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from memsys.core.errors import InputError

LARGEST = 2**31 - 1
_MOST = sys.float_info.max  # NaN, infinity and larger integers are no numbers to run with


@dataclass(frozen=True, slots=True)
class Range:
    """The numbers from `least` to `most`, both included."""

    least: float
    most: float = LARGEST

    def admits(self, value: Any) -> bool:
        """Whether a number is in the range."""
        return bool(self.least <= value <= self.most)

    @property
    def words(self) -> str:
        """Such as `of 1 or more`, to follow `a number`."""
        least, most = (
            f"{end:,.0f}" if end == int(end) else f"{end:g}" for end in (self.least, self.most)
        )
        return f" of {least} or more" if self.most == LARGEST else f" from {least} to {most}"


@dataclass(frozen=True, slots=True)
class Pattern:
    """The texts that `pattern` matches as a whole; `words` describes them."""

    pattern: str
    words: str

    def admits(self, value: Any) -> bool:
        """Whether a text matches."""
        return re.fullmatch(self.pattern, value) is not None


Count = Annotated[int, Range(1)]
CountFrom0 = Annotated[int, Range(0)]
Share = Annotated[float, Range(0, 1)]
ShareAbove0 = Annotated[float, Range(1e-6, 1)]
Cosine = Annotated[float, Range(-1, 1)]
Threshold = Annotated[float, Range(-1, 2)]  # of a cosine; 2: none reaches it
Weight = Annotated[float, Range(0, 1e6)]
Seconds = Annotated[float, Range(0.001, 86_400)]
Threads = Annotated[int, Range(1, 256)]
Name = Annotated[str, Pattern(r"[^/\\\s](?:[^/\\\n]*[^/\\\s])?", "a name without slashes")]
PathText = Annotated[str, Pattern(r"(?s).*\S.*", "a path")]
Word = Annotated[str, Pattern(r"(?s).*\S.*", "a text that is not empty")]

_PLAIN: Mapping[Any, str] = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    NoneType: "null",
    None: "null",
}
_LISTS = (Sequence, Collection, list)
_MAPPINGS = (Mapping, dict)


class _Parameter(NamedTuple):
    hint: Any
    default: object  # inspect.Parameter.empty: the setting is required


def check_fields(settings: object, place: str) -> None:
    """Raise InputError naming `place` and the first field of a dataclass object whose value is not
    what its annotation says.
    """
    kind: Any = type(settings)
    check_values(kind, {name: getattr(settings, name) for name in _parameters(kind)}, place)


def check_values(
    target: Callable[..., object],
    given: Mapping[str, object],
    place: str,
    later: Collection[str] | None = (),
) -> None:
    """Raise InputError naming `place` and the first of the arguments `given` to `target`, a class
    or a function, that its annotation does not admit, or that is missing and not among those given
    `later` (None: any may follow). The default of an argument is always admitted.
    """
    for name, (hint, default) in _parameters(target).items():
        if name in given:
            value = given[name]
            same = type(value) is type(default) and value == default
            if not (same or fits(value, hint)):
                raise InputError(f"{place}.{name}: {refusal(value, hint)}")
        elif default is inspect.Parameter.empty and later is not None and name not in later:
            raise InputError(f"{place}.{name}: missing; use {words_of(hint)}")


def fits(value: object, hint: Any) -> bool:
    """Whether a value of YAML, or an object, is what the type `hint` admits. Numbers are finite; an
    integer may replace a float; a type that no such value has admits all but null.
    """
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        rules = (argument for argument in arguments[1:] if isinstance(argument, Range | Pattern))
        return fits(value, arguments[0]) and all(rule.admits(value) for rule in rules)
    if origin in (Union, UnionType):
        return any(fits(value, member) for member in arguments)
    if origin is Literal:
        return any(type(value) is type(literal) and value == literal for literal in arguments)
    if hint in (bool, str):
        return isinstance(value, hint)
    if hint in (int, float):
        number = isinstance(value, int if hint is int else int | float)
        return number and not isinstance(value, bool) and abs(value) <= _MOST  # type: ignore[arg-type]
    if hint in (None, NoneType):
        return value is None
    if (origin or hint) in _LISTS:
        is_list = isinstance(value, Collection) and not isinstance(value, str | bytes | Mapping)
        return is_list and all(fits(item, arg) for arg in arguments[:1] for item in value)  # type: ignore[attr-defined]
    if (origin or hint) in _MAPPINGS or is_typeddict(hint):
        return isinstance(value, Mapping)
    is_interface = getattr(hint, "_is_protocol", False) or inspect.isabstract(hint)
    if is_interface and isinstance(value, bool | int | float | str):
        return False
    return value is not None or not isinstance(hint, type) or hint is object


def words_of(hint: Any) -> str:
    """Return what the type `hint` admits, in words: `a whole number of 1 or more, or null`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        rules = [argument for argument in arguments[1:] if isinstance(argument, Range | Pattern)]
        if not rules:
            return words_of(arguments[0])
        rule = rules[0]
        return rule.words if isinstance(rule, Pattern) else words_of(arguments[0]) + rule.words
    if origin in (Union, UnionType):
        named = [words_of(member) for member in arguments if member is not NoneType]
        return " or ".join(named) + (", or null" if NoneType in arguments else "")
    if origin is Literal:
        return f"one of {', '.join(map(str, arguments))}"
    if (origin or hint) in _LISTS:
        each = words_of(arguments[0]) if arguments else "values"
        return f"a list, each of it {each}"
    if (origin or hint) in _MAPPINGS:
        return "settings by name"
    return _PLAIN.get(hint, f"settings of {getattr(hint, '__name__', hint)}")


def refusal(value: object, hint: Any) -> str:
    """Return what is wrong with a `value` that the type `hint` does not admit, and the remedy."""
    words = words_of(hint)
    if isinstance(value, int | float) and LARGEST < value < inf and "or more" in words:
        words += f", at most {LARGEST:,}"
    elif isinstance(value, int | float) and fits(str(value), hint):
        words += f""" (in two pairs of quotes it is one: "'{value}'")"""
    return f"{value!r:.60}; use {words}"


@cache
def _parameters(target: Any) -> Mapping[str, _Parameter]:
    """Return the declared parameters of a class or function by name; with `**settings` also those
    of the base class to which they are passed on.
    """
    by_name: dict[str, _Parameter] = {}
    constructors = [target]
    if inspect.isclass(target) and not is_dataclass(target):
        constructors = [
            vars(base)["__init__"] for base in target.__mro__[:-1] if "__init__" in vars(base)
        ]
    for constructor in constructors:
        try:
            hints = get_type_hints(constructor, include_extras=True)
            parameters = inspect.signature(constructor).parameters.values()
        except (NameError, TypeError, ValueError):  # such as imports for type checking alone
            return by_name
        named = [each for each in parameters if each.kind not in _VARIABLE]
        for each in named:
            if each.name in hints:
                by_name.setdefault(each.name, _Parameter(hints[each.name], each.default))
        if all(each.kind is not inspect.Parameter.VAR_KEYWORD for each in parameters):
            break
    return by_name


_VARIABLE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)

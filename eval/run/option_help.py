"""`python -m eval.run --help GROUP=OPTION`: the settings of an option with their comments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf

from eval.rendering.errors import no_such_option
from eval.rendering.width import terminal_width
from eval.run.arguments import groups_of, own_folders
from eval.run.hydra_help import title
from memsys.core.errors import InputError
from memsys.core.files import read_text
from memsys.core.places import CONF

_LINE = re.compile(r"^( *)(\w+):(?: +(?P<value>[^#\s].*?))?(?: +# *(?P<comment>.*))?$")
_LONGEST = 44  # characters of a setting with its value
_DEFAULTS = "defaults"


def options_help(arguments: Sequence[str]) -> str | None:
    """Return the settings of each option that `arguments` choose beside --help; None if they ask
    for no help, or choose none. Raises InputError on an unknown option.
    """
    if not {"--help", "-h"} & {*arguments}:
        return None
    known, folders = groups_of(arguments), (*own_folders(arguments), CONF)
    texts = []
    for argument in arguments:
        group, _, chosen = argument.partition("=")
        for option in chosen.split(",") if group in known else ():
            if option not in known[group]:
                raise InputError(no_such_option(group, option, known[group]))
            texts.append(_text(group, option, folders))
    return "\n\n".join(texts) or None


def _text(group: str, option: str, folders: Sequence[Path]) -> str:
    settings = _settings(group, option, folders)
    lines = [f"{group}={option}: {title(_file(group, option, folders))}", ""]
    shown = {f"{name}={_value(value)}": comment for name, (value, comment) in settings.items()}
    width = max((len(text) for text in shown if len(text) <= _LONGEST), default=0)
    room = terminal_width()
    for text, comment in shown.items():
        if comment and room and 4 + max(width, len(text)) + len(comment) > room:
            lines += [f"  {text}", f"      {comment}"]
        else:
            lines.append(f"  {text.ljust(width)}  {comment}".rstrip())
    return "\n".join(lines)


def _file(group: str, option: str, folders: Sequence[Path]) -> Path:
    found = (folder / group / f"{option}.yaml" for folder in folders)
    return next(path for path in found if path.is_file())


def _settings(group: str, option: str, folders: Sequence[Path]) -> dict[str, tuple[Any, str]]:
    """Return setting -> value and comment, of the option and of those that it is based on."""
    path = _file(group, option, folders)
    node = OmegaConf.to_container(OmegaConf.load(path))
    comments = _comments(path)
    is_global = "@package _global_" in read_text(path).splitlines()[0]
    found: dict[str, tuple[Any, str]] = {}
    if not isinstance(node, Mapping):
        return found
    for base in node.get(_DEFAULTS, ()):
        if isinstance(base, str) and base != "_self_" and not base.startswith("/"):
            found |= _settings(group, base, folders)
    for name, value in _leaves(node, ""):
        place = name if is_global else f"{group}.{name}"
        old = found.get(place, (None, ""))[1]
        shared = re.fullmatch(r"\$\{([\w.]+)\}", str(value))
        comment = comments.get(name) or comments.get(name.rpartition(".")[0]) or old
        found[place] = value, comment or (f"as {shared[1]}" if shared else "")
    return found


def _leaves(node: Mapping[Any, Any], before: str) -> Iterator[tuple[str, Any]]:
    for name, value in node.items():
        if str(name).startswith("_") or (not before and name in {_DEFAULTS, "hydra"}):
            continue
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def _comments(path: Path) -> dict[str, str]:
    """Return setting -> the comment on its line, or else on the lines above it."""
    found: dict[str, str] = {}
    above: list[str] = []
    inside: list[tuple[int, str]] = []  # indents and names of the mappings around a line
    for line in read_text(path).splitlines()[1:]:
        stripped = line.strip()
        if stripped.startswith("#"):
            above.append(stripped.lstrip("# "))
            continue
        if match := _LINE.match(line):
            indent = len(match[1])
            inside = [(depth, name) for depth, name in inside if depth < indent]
            inside.append((indent, match[2]))
            if comment := match["comment"] or " ".join(above):
                found[".".join(name for _, name in inside)] = comment
        above = []
    return found


def _value(value: Any) -> str:
    """Return `value` as it is written on the command line; of a long list the first ones."""
    if value is None or isinstance(value, bool):
        return str(value).replace("None", "null").lower()
    if isinstance(value, list):
        items = ",".join(_value(one) for one in value[:3])
        return f"[{items}{',...' if len(value) > 3 else ''}]"
    return str(value)

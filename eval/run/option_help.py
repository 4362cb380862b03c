"""`python -m eval options GROUP[=OPTION]`: the settings of an option, or of all of a group.

`python -m eval.run --help GROUP=OPTION` prints the same.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import yaml

from eval.cli import code_of, parser
from eval.rendering.errors import no_such_option
from eval.rendering.terminal import terminal_width
from eval.run.arguments import check_folder, groups_of, own_folders
from memsys.core.errors import InputError, check_choice
from memsys.core.files import read_text
from memsys.core.places import CONF

_LONGEST = 44  # characters of a setting with its value
_MOST = 3  # items of a list that are shown
_FIXED = {"_target_", "_partial_", "_convert_", "_recursive_", "defaults", "hydra"}


class Setting(NamedTuple):
    """A setting: its full name, its value as written on the command line, and its comment; or the
    class that a mapping of settings configures.
    """

    name: str
    value: str
    comment: str
    is_class: bool = False


def options_help(arguments: Sequence[str]) -> str | None:
    """Return the settings of each option that `arguments` choose beside --help, of a group without
    `=` those of all its options; None if they ask for no help, or choose none. Raises InputError on
    an unknown option.
    """
    if not {"--help", "-h"} & {*arguments}:
        return None
    groups, folders = groups_of(arguments), (*own_folders(arguments), CONF)
    texts = []
    for argument in arguments:
        group, chooses, names = argument.partition("=")
        for option in (names.split(",") if chooses else groups[group]) if group in groups else ():
            if option not in groups[group]:
                raise InputError(no_such_option(group, option, groups[group]))
            texts.append(_text(group, option, folders))
    return "\n\n".join(texts) or None


def title(path: Path) -> str:
    """Return the first line of an option's file, after the package that it may name."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return lines[lines[0].startswith("# @package")].removeprefix("#").strip()


def _text(group: str, option: str, folders: Sequence[Path]) -> str:
    values = _settings(group, option, folders)
    lines = [f"{group}={option}: {title(_file(group, option, folders))}", ""]
    shown = {f"{name}={value}": comment for name, (value, comment) in values.items()}
    width = max((len(text) for text in shown if len(text) <= _LONGEST), default=0)
    room = terminal_width()
    for text, comment in shown.items():
        if comment and room and 4 + max(width, len(text)) + len(comment) > room:
            lines += [f"  {text}", f"      {comment}"]
        else:
            lines.append(f"  {text.ljust(width)}  {comment}".rstrip())
    return "\n".join(lines)


def _file(group: str, option: str, folders: Sequence[Path]) -> Path:
    paths = (folder / group / f"{option}.yaml" for folder in folders)
    return next(path for path in paths if path.is_file())


def _settings(group: str, option: str, folders: Sequence[Path]) -> dict[str, tuple[str, str]]:
    """Return setting -> value and comment, of the option and of those that it is based on."""
    path = _file(group, option, folders)
    is_global = "@package _global_" in read_text(path).splitlines()[0]
    values: dict[str, tuple[str, str]] = {}
    for base in bases(path):
        if not base.startswith("/"):
            values |= _settings(group, base, folders)
    for setting in settings(path, "" if is_global else group, most=_MOST):
        if not setting.is_class:
            shared = re.fullmatch(r"\$\{([\w.]+)\}", setting.value)
            comment = setting.comment or values.get(setting.name, ("", ""))[1]
            values[setting.name] = setting.value, comment or (f"as {shared[1]}" if shared else "")
    return values


def bases(path: Path) -> list[str]:
    """Return the options that the option at `path` is based on, as its `defaults` name them."""
    value = yaml.safe_load(read_text(path))
    named = value.get("defaults", ()) if isinstance(value, dict) else ()
    return [base for base in named if isinstance(base, str) and base != "_self_"]


def settings(path: Path, prefix: str, most: int | None = None) -> Iterator[Setting]:
    """Yield the settings that the YAML file at `path` sets, those of nested mappings by their full
    names, which begin with `prefix`. `most`: items of a list that are shown (default: all).
    """
    text = read_text(path)
    yield from _of(yaml.compose(text), text.splitlines(), prefix, most)


def _of(
    node: yaml.Node | None, lines: Sequence[str], prefix: str, most: int | None
) -> Iterator[Setting]:
    for key, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if key.value in _FIXED:
            continue
        name = f"{prefix}.{key.value}" if prefix else key.value
        comment = _comment(key, value, lines)
        if not isinstance(value, yaml.MappingNode) or not value.value:
            yield Setting(name, _source(value, most), comment)
            continue
        target = next((v.value for k, v in value.value if k.value == "_target_"), None)
        if target:
            yield Setting(name, target, comment, is_class=True)
        for setting in _of(value, lines, name, most):
            # {a: 1, b: 2} on one line has one comment for all of them.
            shared = value.flow_style or not setting.comment
            yield setting._replace(comment=comment) if shared else setting


def _comment(key: yaml.Node, value: yaml.Node, lines: Sequence[str]) -> str:
    """Return the comment behind a setting, or the lines of comment above it; "" without one."""
    line, column = value.end_mark.line, value.end_mark.column
    if value.start_mark.line > key.end_mark.line:  # a block: its comment follows the key
        line, column = key.end_mark.line, key.end_mark.column + 1
    behind = lines[line][column:].strip() if line < len(lines) else ""
    if behind.startswith("#"):
        return behind.removeprefix("#").strip()
    above: list[str] = []
    for text in reversed(lines[1 : key.start_mark.line]):  # the first line is of the file
        if not text.strip().startswith("#"):
            return " ".join(above)
        above.insert(0, text.strip().removeprefix("#").strip())
    return ""  # of the file


def _source(node: yaml.Node, most: int | None) -> str:
    """Return a value as it is written on the command line; of a list the first `most` items."""
    if isinstance(node, yaml.SequenceNode):
        items = [_source(item, most) for item in node.value[:most]]
        return f"[{','.join(items)}{',...' if len(items) < len(node.value) else ''}]"
    if isinstance(node, yaml.MappingNode):
        return "{}"
    return str(node.value) or ("''" if getattr(node, "style", None) else "null")


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the settings of the options that `arguments` name; without any the groups. Return the
    exit code, 2 for an unknown group, option or folder.
    """
    return code_of(lambda: _show(arguments))


def _show(arguments: Sequence[str] | None) -> None:
    command = parser("options", "Print the settings of options with their comments.")
    command.add_argument("names", nargs="*", metavar="GROUP[=OPTION]", help="such as strategy=auto")
    command.add_argument("--config-dir", metavar="FOLDER", help="folder with options of your own")
    options = command.parse_args(arguments)
    names, folder = options.names, options.config_dir
    if folder is not None:
        check_folder(folder)
    own = [] if folder is None else [f"--config-dir={folder}"]
    groups = groups_of(own)
    for name in names:
        check_choice("group", name.partition("=")[0], [*groups])
    lines = (f"{group}: {', '.join(options)}" for group, options in groups.items())
    print(options_help(["--help", *own, *names]) or "\n".join(lines))

"""YAML files: tables beside the code, and files that a user names, read within limits."""

import re
from collections import Counter
from pathlib import Path
from typing import Any

import yaml

from memsys.core.errors import InputError
from memsys.core.files import decode, read_bytes
from memsys.core.json_text import check_json

_NAME = re.compile(r"<([A-Z_]+)>")
_FAST = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # in C where PyYAML has it


def load_table(path: Path, **parts: str) -> dict[str, Any]:
    """Return the mapping in the YAML file at `path`.

    In every text, `<NAME>` is replaced by the entry NAME above it, or by that of `parts`.
    """
    table: dict[str, Any] = {}

    def filled(value: Any) -> Any:
        if isinstance(value, str):
            return _NAME.sub(lambda m: table[m[1]] if m[1] in table else parts[m[1]], value)
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return value

    for key, value in yaml.load(path.read_text(encoding="utf-8"), _FAST).items():  # noqa: S506
        table[key] = filled(value)
    return table


_BYTES = 2 << 20  # the parser takes seconds for one megabyte
_VALUES = 200_000  # aliases counted as what they stand for


def load_yaml(path: Path) -> Any:
    """Return the value of the YAML file at `path`: plain values, lists and mappings.

    Raises InputError in one line if the file cannot be read, is not YAML, is nested too deep, or
    multiplies by aliases; also for numbers and characters that JSON does not have.
    """
    text = decode(read_bytes(path, _BYTES), path)
    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        value = loader.construct_document(node)
        check_json(value)
    except RecursionError:
        raise InputError(f"{path}: not YAML: nested too deep") from None
    except (yaml.YAMLError, ValueError) as error:  # ValueError: an invalid date, or a huge number
        raise InputError(f"{path}: not YAML: {' '.join(str(error).split())}") from error
    return value


def _check_size(root: yaml.Node) -> None:
    """Raise ValueError if `root` has too many values once its aliases are replaced, or a key twice.

    They need not be replaced to count them: each node is counted once.
    """
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        count = sizes.get(id(node))
        if count == 0:  # being counted
            raise ValueError("an alias stands for a value that contains it")
        if count is None:
            sizes[id(node)] = 0
            count = sizes[id(node)] = 1 + sum(size(part) for part in _parts(node))
        if count > _VALUES:
            raise ValueError(f"more than {_VALUES:,} values once its aliases are replaced")
        return count

    size(root)


def _parts(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.SequenceNode):
        return list(node.value)
    if isinstance(node, yaml.MappingNode):
        keys = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if len(set(keys)) < len(keys):
            twice = Counter(keys).most_common(1)[0][0]
            raise ValueError(f"key {twice!r:.60} occurs twice in one mapping")
        return [part for pair in node.value for part in pair]
    return []

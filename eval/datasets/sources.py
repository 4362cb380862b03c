"""What data/sources.yaml says of each public data set: where it is, and how to know it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import yaml

from eval.datasets.files import DATA
from memsys.errors import InputError

SOURCES = DATA / "sources.yaml"


@dataclass(frozen=True, slots=True)
class Source:
    """A published file: name, address, size in bytes, sha256 in hex, licence, project page.

    Size and sha256 are None where nobody here has seen the file: what comes is then not checked.
    """

    file: str
    url: str
    bytes: int | None
    sha256: str | None
    licence: str
    home: str


def load_sources(path: Path = SOURCES) -> dict[str, Source]:
    """Sources by name, in file order. Raises InputError where the file is not as it should be."""
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
        return {str(name): Source(**fields) for name, fields in raw.items()}
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, AttributeError, TypeError) as error:
        raise InputError(f"{path}: not a list of sources with their fields: {error}") from error

"""Prompts are text files: named, hashed, and filled in without any other syntax."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memsys.errors import InputError

PROMPTS = Path(__file__).parents[2] / "conf" / "prompts"
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A template; `{question}` and the like are places, every other brace is a brace."""

    name: str
    text: str

    @cached_property
    def sha256(self) -> str:
        """Of the file's text in UTF-8."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def described(self) -> dict[str, str]:
        """Name and sha256, for a manifest."""
        return {"name": self.name, "sha256": self.sha256}

    def fill(self, **values: str) -> str:
        """The text with every place of `values` filled in, in one pass: a value that holds braces
        is not filled in again.
        """
        return _PLACE.sub(lambda match: values.get(match[1], match[0]), self.text)


def load_prompt(name: str, places: Sequence[str]) -> Prompt:
    """The prompt `conf/prompts/<name>.txt`, or the file at the path `name`.

    Raises InputError where there is none, or one of `places` does not stand in it.
    """
    path = PROMPTS / f"{name}.txt"
    if not path.is_file():
        path = Path(name).expanduser()
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        own = ", ".join(sorted(file.stem for file in PROMPTS.glob("*.txt")))
        raise InputError(
            f"prompt {name}: no such file ({type(error).__name__}); name one of {own}, or the path "
            "of a text file"
        ) from error
    missing = [place for place in places if f"{{{place}}}" not in text]
    if missing:
        raise InputError(f"{path}: the place {{{missing[0]}}} is missing; a prompt must have it")
    return Prompt(name, text)

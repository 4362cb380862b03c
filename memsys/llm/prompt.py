"""Prompts: named, hashed text files with places to fill in and no other syntax."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memsys.core.errors import InputError
from memsys.core.files import is_there, read_text, shown

PROMPTS = Path(__file__).parent / "prompts"
_BYTES = 1 << 20
_PLACE = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True)
class Prompt:
    """A template; `{question}` and the like are places, any other brace is literal."""

    name: str
    text: str

    @cached_property
    def sha256(self) -> str:
        """Sha256 of the text in UTF-8, in hex."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def described(self) -> dict[str, str]:
        """Return name and sha256, for a manifest."""
        return {"name": self.name, "sha256": self.sha256}

    def extended(self, text: str) -> Prompt:
        """Return the prompt with `text` as a further paragraph."""
        return Prompt(self.name, f"{self.text.rstrip()}\n\n{text}")

    def fill(self, **values: str) -> str:
        """Return the text with its placeholders replaced by `values`, in one pass. Braces within a
        value are not filled in again.
        """
        return _PLACE.sub(lambda match: values.get(match[1], match[0]), self.text)


def load_prompt(name: str, places: Sequence[str]) -> Prompt:
    """Return the prompt `memsys/llm/prompts/<name>.txt`, or that in the file at the path `name`.
    Raises InputError if there is none, or one of `places` is missing in it.
    """
    path = PROMPTS / f"{name}.txt"
    if not is_there(path):
        path = Path(name).expanduser()
    if not is_there(path):
        names = ", ".join(sorted(file.stem for file in PROMPTS.glob("*.txt")))
        raise InputError(
            f"prompt {shown(name)}: no such file; name one of {names}, or the path of a text file"
        )
    text = read_text(path, _BYTES)
    missing = [place for place in places if f"{{{place}}}" not in text]
    if missing:
        raise InputError(f"{path}: the place {{{missing[0]}}} is missing; a prompt must have it")
    return Prompt(name, text)

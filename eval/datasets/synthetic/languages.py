"""The languages of `dataset=synthetic`, by code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from eval.datasets.synthetic.chinese import Chinese
from eval.datasets.synthetic.english import English
from eval.datasets.synthetic.language import Language, Wanted

LANGUAGES: Final[Mapping[str, Language]] = {"en": English(), "zh": Chinese()}


def asked(question: str) -> tuple[Language, Wanted] | None:
    """The language of a question and what it asks for; None where it is none of ours."""
    for language in LANGUAGES.values():
        if wanted := language.asked(question):
            return language, wanted
    return None

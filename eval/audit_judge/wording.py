"""Texts of probes in English and Chinese: refusals, long answers and vague answers."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import yaml

from eval.datasets.types import Question
from eval.metrics.normalise import terms
from memsys.text.terms import STOPWORDS, is_cjk

_TEXTS = yaml.safe_load(Path(__file__).with_name("wording.yaml").read_text(encoding="utf-8"))
REFUSALS: Mapping[str, Sequence[str]] = _TEXTS["refusals"]
_LONG: Mapping[str, Sequence[str]] = _TEXTS["long"]
_VAGUE = {
    language: [(re.compile(asked), phrase) for asked, phrase in rows]
    for language, rows in _TEXTS["vague"].items()
}
_WORD = re.compile(r"[^\W_]+(?:-[^\W_]+)*")
_TOPIC_WORDS = 4
_ASKING = STOPWORDS | set("s t many much long often date day month year time".split())


def buried(answer: str) -> str:
    """Return a long answer with `answer`, verbatim, in the middle, in its language."""
    before, after = _LONG["zh" if is_cjk(answer) else "en"]
    stop = "" if answer.endswith((".", "!", "?", "。")) or is_cjk(answer) else "."
    return before + answer.rstrip("。" if is_cjk(answer) else "") + stop + after


def vague(question: Question) -> str | None:
    """Return an answer on the topic without information, or None.

    It combines words of the question with a stock phrase for what is asked. None if it would
    contain all of the gold's terms.
    """
    text = question.text
    if is_cjk(text):
        stock = next(phrase for asked, phrase in _VAGUE["zh"] if asked.search(text))
        answer = f"{stock}，他们聊天的时候说起过。"
    else:  # in "What did the man who left sell?", the first question word decides
        matches = ((asked.search(text.lower()), phrase) for asked, phrase in _VAGUE["en"])
        found = [(match.start(), phrase) for match, phrase in matches if match]
        stock = min(found, key=lambda one: one[0])[1]
        topic = [word for word in _WORD.findall(text) if word.lower() not in _ASKING][:_TOPIC_WORDS]
        about = f" It has to do with {', '.join(topic)}." if topic else ""
        answer = f"{stock[0].upper()}{stock[1:]}.{about}"
    return None if set(terms(question.gold or "")) <= set(terms(answer)) else answer

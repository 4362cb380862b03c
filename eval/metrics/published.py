"""F1 and BLEU-1 of one answer against one gold answer, as other projects report them.

`locomo_f1`: a rule for each question type. Source: snap-research/locomo, task_eval/evaluation.py
(Maharana et al., 2024). It differs from every other F1 here: bags rather than sets, Porter stems,
commas split the lists of type 1, and type 5 is a phrase match, not an F1.

`mem0_f1`: unchanged words. Source: mem0ai/mem0, evaluation/metrics/utils.py (Chhikara et al.,
2025), after A-MEM. It differs from the official F1: no stems, articles count, quotes and brackets
are part of the word; a repeated word adds nothing.

`memos_f1`: lowercase Treebank tokens. Source: MemTensor/MemOS, evaluation/scripts/locomo/
locomo_eval.py. Punctuation counts as a word: two sentences have at least their full stop in common.

`bleu1`: as Mem0, MemOS and A-MEM report it. Formula: Papineni et al., 2002, with weight on unigrams
alone; source: mem0ai/mem0, evaluation/metrics/utils.py over
nltk.translate.bleu_score.sentence_bleu. Its smoothing touches higher orders only, so none is left.

`memos_f1` and `bleu1` count the words that NLTK finds in lowercase English text: in each sentence
of its Punkt (Kiss & Strunk, 2006, Unsupervised multilingual sentence boundary detection,
Computational Linguistics 32:485-525) those of its Treebank tokeniser
(nltk/tokenize/destructive.py, after Robert MacIntyre's sed script, University of Pennsylvania,
1995). NLTK is pinned to 3.9.1: its 3.10 changed the rules, and with them published scores. Every
published BLEU-1 and set F1 that rests on `word_tokenize` lowercases first, and Punkt's 20,366-word
table of upper and lower case can then change a decision for four words only: the evidence of
capital letters is never available. So the table shrinks to `_OPENERS`, and with the 156
abbreviations and 37 collocations (punkt.yaml) nothing has to be downloaded.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from itertools import chain
from math import exp
from pathlib import Path
from string import punctuation
from typing import TYPE_CHECKING

from eval.datasets.types import ADVERSARIAL
from eval.metrics import Computed, bag_f1, in_common, of_texts, overlap_f1
from eval.metrics.lean_import import import_alone
from eval.metrics.registry import register
from memsys.core.yaml_text import load_table

if TYPE_CHECKING:
    from nltk.stem.porter import PorterStemmer
    from nltk.tokenize.destructive import NLTKWordTokenizer
    from nltk.tokenize.punkt import PunktSentenceTokenizer

REFUSALS = ("no information available", "not mentioned")  # what type 5 accepts

_PUNCTUATION = str.maketrans("", "", punctuation)
_SPACES = str.maketrans(".,!?", "    ")
# An accent that follows its letter is part of the word, as in the official `regex` boundaries.
_DROPPED = re.compile(r"(?<![\w\u0300-\u036f])(?:a|an|the|and)(?![\w\u0300-\u036f])")
_FUNCTION_WORDS = frozenset(("a", "an", "the", "and"))  # these, where all is ASCII
_ASCII_WORDS = re.compile(r"[a-z0-9\s]*", re.ASCII)
# The words that open a sentence in lower case and never occur with a capital.
_OPENERS = ("administrators", "b-week", "r-revised", "z-holiday")


@cache
def _stemmer() -> PorterStemmer:
    stemmer: PorterStemmer = import_alone("nltk.stem.porter", "PorterStemmer", "nltk")()
    return stemmer  # in its default mode, NLTK_EXTENSIONS


@lru_cache(maxsize=65_536)
def _stem(word: str) -> str:
    return str(_stemmer().stem(word))


@lru_cache(maxsize=65_536)
def stems(text: str) -> tuple[str, ...]:
    """Return the stems of `text` in order, without ASCII punctuation and a, an, the, and."""
    plain = text.lower().translate(_PUNCTUATION)
    if _ASCII_WORDS.fullmatch(plain) is None:
        return tuple(map(_stem, _DROPPED.sub(" ", plain).split()))
    return tuple(map(_stem, [word for word in plain.split() if word not in _FUNCTION_WORDS]))


@cache
def _punkt() -> PunktSentenceTokenizer:
    """Return NLTK's Punkt with the parameters of punkt.yaml."""
    table = load_table(Path(__file__).parent / "punkt.yaml")
    punkt = import_alone("nltk.tokenize.punkt", "__dict__", "nltk")
    parameters = punkt["PunktParameters"]()
    # One entry of the model is no word: ". . " is what a spaced ellipsis leaves without its last
    # dot.
    parameters.abbrev_types = {*table["abbreviations"].split(), ". . "}
    after = {"##number##": table["after_a_number"], **table["after"]}
    parameters.collocations = {
        (first, second) for first, words in after.items() for second in words.split()
    }
    parameters.ortho_context.update(dict.fromkeys(_OPENERS, punkt["_ORTHO_BEG_LC"]))
    tokenizer: PunktSentenceTokenizer = punkt["PunktSentenceTokenizer"](parameters)
    return tokenizer


@cache
def _tokenizer() -> Callable[[str], list[str]]:
    """Return a function equal to `NLTKWordTokenizer().tokenize` for text in lower case.

    Of the rules, a text meets those whose characters it contains. `before` and `after` the text is
    padded with blanks: the characters, or pairs of them, without one of which a rule changes
    nothing, its pattern and its replacement. `parted`: the same for words that are divided.
    """
    nltk: type[NLTKWordTokenizer]
    nltk = import_alone("nltk.tokenize.destructive", "NLTKWordTokenizer", "nltk")
    starts = zip(("«“‘„`", '"', "`", "\"'", "'"), nltk.STARTING_QUOTES, strict=True)
    # The sixth divides the last full stop, which the first has done: it would add a blank.
    marks = (".", ":,", ":,", [".."], ";@#$%&", "", "?!", "'", "*")
    others = (("[](){}<>", nltk.PARENS_BRACKETS), (["--"], nltk.DOUBLE_DASHES))
    ends = ("»”’", "'", '"', "'", "'", "'")  # the fourth joins blanks, for those after it
    words = ("cannot", "'ye", "mme", "gonna", "gotta", "mme", "'n", "wanna", "'t", "'t")
    first = (*starts, *zip(marks, nltk.PUNCTUATION, strict=True), *others)
    before = [(frozenset(of), *rule) for of, rule in first]
    last = zip(ends, nltk.ENDING_QUOTES, strict=True)
    after = [(frozenset(of), *rule) for of, rule in last]
    parted = list(zip(words, [*nltk.CONTRACTIONS2, *nltk.CONTRACTIONS3], strict=True))

    def tokenize(text: str) -> list[str]:
        characters = {" ", *text}
        if '"' in characters:
            characters |= {"`", "'"}  # by which the rules replace it
        characters.update(pair for pair in ("..", "--") if pair in text)
        for needed, pattern, replacement in before:
            if not characters.isdisjoint(needed):
                text = pattern.sub(replacement, text)
        text = f" {text} "
        for needed, pattern, replacement in after:
            if not characters.isdisjoint(needed):
                text = pattern.sub(replacement, text)
        for part, divided in parted:
            if part in text:
                text = divided.sub(r" \1 \2 ", text)
        return text.split()

    return tokenize


@lru_cache(maxsize=65_536)
def word_tokens(text: str) -> tuple[str, ...]:
    """Return the tokens of `text.lower()` in order, punctuation included; blank text has none.

    The result equals `nltk.word_tokenize(text.lower())` of NLTK 3.9.1 with punkt_tab English.
    """
    return tuple(chain.from_iterable(map(_tokenizer(), sentences(text.lower()))))


def sentences(text: str) -> list[str]:
    """Return the sentences of lowercase `text` in order; blank text has none.

    The result equals `nltk.sent_tokenize(text)` of NLTK 3.9.1 wherever `text == text.lower()`.
    """
    texts: list[str] = _punkt().tokenize(text)
    return texts


def _bag_f1(answer: str, gold: str) -> float:
    return bag_f1(stems(answer), stems(gold))


def locomo_f1(answer: str, gold: str | None, category: int) -> float | None:
    """Return the official score, 0 to 1, of `answer` to a question of the official type `category`.

    Types 2 and 4: F1 of the bags of stems. Type 3: the same, of the gold before its first ";".
    Type 1: each comma-separated part of the gold with its best part of the answer, averaged.
    Type 5: 1 if the answer contains one of `REFUSALS` in any case, else 0, whatever the gold.
    The types of other data sets are scored as type 4. None for types but 5 without a gold answer.
    """
    if category == ADVERSARIAL:
        return float(any(phrase in answer.lower() for phrase in REFUSALS))
    if gold is None:
        return None
    if category == 1:
        parts = answer.split(",")
        best = [max(_bag_f1(part, wanted) for part in parts) for wanted in gold.split(",")]
        return sum(best) / len(best)
    return _bag_f1(answer, gold.split(";")[0] if category == 3 else gold)


@lru_cache(maxsize=65_536)
def _words(text: str) -> frozenset[str]:
    return frozenset(text.lower().translate(_SPACES).split())


def _set_f1(answer: AbstractSet[str], wanted: AbstractSet[str]) -> float:
    return overlap_f1(len(answer & wanted), len(answer), len(wanted))


def mem0_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of lowercase words, with . , ! ? as spaces."""
    return _set_f1(_words(answer), _words(gold))


@lru_cache(maxsize=65_536)
def _tokens(text: str) -> frozenset[str]:
    return frozenset(word_tokens(text))


def memos_f1(answer: str, gold: str) -> float:
    """Return the F1, 0 to 1, of the sets of `word_tokens`; 0 if one is empty."""
    return _set_f1(_tokens(answer), _tokens(gold))


def bleu1(answer: str, gold: str) -> float:
    """Return the clipped unigram precision times min(1, e^(1 - r/c)), 0 to 1.

    It is computed over lowercase `word_tokens`; r and c are the numbers of tokens of gold and
    answer. Without a common token the score is 0.
    """
    tokens, wanted = word_tokens(answer), word_tokens(gold)
    clipped = in_common(tokens, wanted)
    if clipped == 0:
        return 0.0
    return clipped / len(tokens) * min(1.0, exp(1 - len(wanted) / len(tokens)))


for _metric in (
    Computed(
        name="locomo_f1",
        title="F1 locomo",
        column="f1_locomo",
        compute=lambda answered: locomo_f1(answered.answer, answered.gold, answered.category),
        applies_to="answer",
        order=10,
        in_tables=False,
    ),
    Computed(
        name="mem0_f1",
        title="F1 mem0",
        column="f1_mem0",
        compute=of_texts(mem0_f1),
        order=20,
        in_tables=False,
        reported_as="f1_score",
    ),
    Computed(
        name="memos_f1",
        title="F1 memos",
        column="f1_memos",
        compute=of_texts(memos_f1),
        order=30,
        in_tables=False,
    ),
    Computed(
        name="bleu1",
        title="BLEU-1",
        compute=of_texts(bleu1),
        order=50,
        pinned=True,
        reported_as="bleu_score",
    ),
):
    register(_metric)

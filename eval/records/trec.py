"""Rankings and judgements in the formats of TREC, which tools of retrieval research read.

A run has a line `query Q0 document rank score tag` for each ranked document, qrels a line
`query 0 document relevance` for each judgement; fields are separated by blanks. Source:
https://trec.nist.gov/data/qrels_eng and the README of https://github.com/usnistgov/trec_eval.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple
from urllib.parse import quote, unquote

from eval.datasets.pooled import POOLED
from memsys.core.errors import InputError

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f\ufeff]")  # in a regular expression, \s is Unicode's
_BETWEEN = ":"  # between the conversation and its turn or session
_RUN = "query Q0 document rank score tag"


class RunLine(NamedTuple):
    """A ranked document. Tools order a query's documents by `score`, whatever `rank` says."""

    query: str
    document: str
    rank: int
    score: float
    tag: str


def encode(text: str) -> str:
    """Return an id without blanks: these, control characters and % are percent-encoded (UTF-8)."""
    return _UNSAFE.sub(lambda match: quote(match.group(), safe=""), text)


def decode(text: str) -> str:
    """Return the id that encode made `text` of. A % that encodes nothing is part of the id."""
    return unquote(text)


def document_of(store: str, id_: str, code: Callable[[str], str] = encode) -> str:
    """Return the document id of a turn or session: `conv-26:D1:3` for turn D1:3 of conv-26.

    `code` encodes each part. A colon within the name of a conversation is percent-encoded, too. In
    the store POOLED, ids contain the conversation already.
    """
    if store == POOLED:
        return code(id_)
    return f"{code(store).replace(_BETWEEN, quote(_BETWEEN, safe=''))}{_BETWEEN}{code(id_)}"


def run_lines(query: str, documents: Sequence[str], tag: str) -> Iterator[str]:
    """Yield the lines of one query's ranking, best first; all ids are encoded already.

    The score is the number of documents from this one to the last, so that it reproduces the order
    without ties.
    """
    for place, document in enumerate(documents):
        yield f"{query} Q0 {document} {place + 1} {len(documents) - place} {tag}\n"


def qrels_lines(query: str, documents: Iterable[str]) -> Iterator[str]:
    """Yield a line for each relevant document of one query; all ids are encoded already."""
    for document in documents:
        yield f"{query} 0 {document} 1\n"


def read_run(lines: Iterable[str], name: str) -> Iterator[RunLine]:
    """Yield the lines of a run in their order, with ids as they are in the file; empty lines are
    skipped. Fields are separated by blanks or tabs.

    Raises InputError with `name` and the number of a line that has not six fields, a whole number
    as rank and a finite number as score.
    """
    for number, line in enumerate(lines, 1):
        fields, where = line.lstrip("\ufeff").split(), f"{name}: line {number}"
        if not fields:
            continue
        if len(fields) != len(_RUN.split()):
            raise InputError(
                f"{where}: has {len(fields)} fields; write {len(_RUN.split())}: {_RUN}"
            )
        query, _, document, rank, score, tag = fields
        try:
            line_of_run = RunLine(query, document, int(rank), float(score), tag)
        except ValueError:
            line_of_run = RunLine(query, document, 0, math.nan, tag)
        if not math.isfinite(line_of_run.score):
            raise InputError(
                f"{where}: rank {rank!r:.40}, score {score!r:.40}; write a whole number and a "
                "finite number"
            )
        yield line_of_run

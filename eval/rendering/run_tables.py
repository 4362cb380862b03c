"""Tables and sentences of one run's summary: the same for terminal, report.md and reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from eval.records.head import head
from eval.records.schema import Manifest, Summary
from eval.rendering.blocks import Table
from eval.rendering.tables import (
    answerless,
    by_key,
    by_protocol,
    by_type,
    key_sentences,
    of_rankings,
)
from eval.rendering.width import sentence
from eval.summary.subset_score import estimate_sentences
from eval.summary.summarise import BY_RULE

_UNANSWERED = (
    "Nobody answered the questions: the scores are of the rankings alone. `python -m "
    "eval retrieval` prints further measures."
)
_OF_CONTEXTS = {"type", "n", "context tokens", "retrieve p95 ms"}

_READING = (
    "How to read it: scores are 0 to 1 and higher is better, each with its 95% interval; "
    "strategy=oracle, which is given the evidence, is the ceiling of retrieval, and "
    "strategy=no_memory the floor. Dollars are those of retrieval and answers; p95: 95% of the "
    "questions took no longer."
)


def how_to_read(summary: Summary) -> str:
    """Return a sentence on the tables of a run, or of several, of which `summary` is one."""
    return "" if answerless(summary) else _READING


def run_tables(summary: Summary) -> Iterator[str | Table]:
    """Yield the scores by type, then by protocol and by answer key where there are several, each
    after the sentence that introduces it; of a run without answers, the scores of its rankings.
    """
    if answerless(summary):
        table = of_rankings(summary)
        yield table
        yield _UNANSWERED if set(table.header) - _OF_CONTEXTS else "Nobody answered the questions."
        yield from estimate_sentences(summary)
        return
    yield by_type(summary)
    if summary["judge"] and (note := summary["judge"].get("note")):
        score = summary["judge"]["score"]
        yield (
            f"{BY_RULE}: {note}. Verdicts are `scores.{score}` of records.jsonl; `python -m eval "
            f"compare RUN RUN --score {score}` compares runs by them."
        )
    if len(summary["protocols"]) > 1:
        yield "The same answers under each protocol:"
        yield by_protocol(summary)
    if about_key := key_sentences(summary):
        yield " ".join(about_key)
    if summary["key"] is not None:
        yield "The same answers under both answer keys:"
        yield by_key(summary)
    yield from estimate_sentences(summary)


def as_text(
    parts: Iterable[str | Table],
    table: Callable[[Table], str] = Table.text,
    text: Callable[[str], str] = sentence,
) -> str:
    """Join sentences and tables with an empty line between them; `table` and `text` render them,
    by default for the terminal.
    """
    return "\n\n".join(text(part) if isinstance(part, str) else table(part) for part in parts)


def report_md(manifest: Manifest, summary: Summary, files: Sequence[str]) -> str:
    """Return the text of a run's report.md; `files` are the other files of the folder."""
    answered = not answerless(summary)
    protocol = f"F1 is that of the protocol {summary['scoring'][0]}. " if answered else ""
    parts = [
        f"# {summary['strategy']} on {summary['dataset']}",
        f"Run {summary['run_id']}: `{manifest['command']}`",
        f"Made with: {head(manifest)}",
        as_text(run_tables(summary), Table.markdown, str),
        f"Scores are 0 to 1 with a 95% interval ({summary['interval']}). "
        f"{protocol}{summary['errors']} of {summary['n']} questions failed and are in no mean.",
        *_other_evidence(manifest),
        *_unjudged(summary),
        *(f"Warning: {warning}" for warning in summary["warnings"]),
        f"Files: {', '.join(files)}",
    ]
    return "\n\n".join(parts) + "\n"


def _other_evidence(manifest: Manifest) -> Iterator[str]:
    if used := manifest.get("evidence"):
        yield (
            f"Retrieval is scored by another evidence key than the data set's: {used['name']}, as "
            f"listed in {used['overlay']['name']} (data/README.md)."
        )


def _unjudged(summary: Summary) -> Iterator[str]:
    judge = summary["judge"] or {}
    if failed := judge.get("errors"):
        yield (
            f"The judge failed on {failed} of {judge['n'] + failed} answers. They are in no mean "
            "of its score; judge_errors_as_zero in summary.json counts them as 0."
        )

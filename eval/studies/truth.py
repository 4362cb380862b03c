"""`python -m eval.studies.truth RUN`: how true the relations are that a run put before its reader.

For runs on dataset=synthetic, where all that was told is known. docs/kept.md has what it shows.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence

from eval.cli import code_of
from eval.datasets.synthetic.dataset import Synthetic
from eval.datasets.synthetic.reading import read, triple
from eval.records.run import Run, load_run
from eval.rendering.numbers import interval
from eval.rendering.tables import plain as as_table
from eval.report.texts import load_dataset
from eval.summary.sample import Sample
from memsys.errors import InputError
from memsys.facts.base import plain

Triple = tuple[str, ...]  # source, relation, destination, in plain letters
Told = tuple[set[Triple], set[Triple]]  # of a conversation: what holds in the end, and all
_HEADER = ["run", "relations shown", "hold in the end", "held before", "never told"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; returns the exit code: 2 for wrong input, 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.studies.truth",
        description="Of the relations that runs on dataset=synthetic put before the reader: the "
        "shares that hold in the end, held before, or were never told, with 95% intervals over "
        "conversations. For strategies whose relations have their words for an id: mem0_graph and "
        "mem0ai_graph.",
    )
    parser.add_argument("runs", nargs="+", metavar="RUN", help="a run folder or id")
    names: list[str] = parser.parse_args(arguments).runs
    return code_of(lambda: print(as_table(_HEADER, [row(load_run(name)) for name in names])))


def row(run: Run) -> list[str]:
    """A line of the table. Raises InputError where the run's data set is not made from a seed, or
    no relation was shown.
    """
    told = _told(run)
    shown = list(_shown(run))
    if not shown:
        raise InputError(
            f"{run.label}: no relation was shown whose id has its words; use runs of mem0_graph or "
            "mem0ai_graph"
        )
    of = [conversation for conversation, _ in shown]
    holds = [one in told[conversation][0] for conversation, one in shown]
    known = [one in told[conversation][1] for conversation, one in shown]
    before = [was and not now for was, now in zip(known, holds, strict=True)]
    shares = (holds, before, [not was for was in known])
    return [
        run.label,
        f"{len(shown):,}",
        *(interval(Sample([float(one) for one in hits], of, run.seed).share()) for hits in shares),
    ]


def _told(run: Run) -> Mapping[str, Told]:
    """By conversation. The data set is made again from its dials."""
    told = run.manifest["config"].get("dataset") or {}
    if told.get("_target_") != f"{Synthetic.__module__}.{Synthetic.__name__}":
        raise InputError(f"{run.label}: not of dataset=synthetic; what was told is not known")
    dataset = load_dataset(run.manifest)
    found = {}
    for conversation in dataset.conversations:
        last: dict[tuple[str, str], Triple] = {}
        ever: set[Triple] = set()
        for session in conversation.sessions:
            for turn in session.turns:
                for language, fact in read(turn.text, session.time.date()):
                    words = tuple(map(plain, triple(language, fact)))
                    last[fact.subject, fact.relation] = words
                    ever.add(words)
        found[conversation.id] = set(last.values()), ever
    return found


def _shown(run: Run) -> Iterator[tuple[str, Triple]]:
    """Conversation and words of every relation that was shown, a question after the other."""
    for record in run.counted:
        for id_, *_ in record["retrieved"] or ():
            parts = id_[2:].split("|") if id_.startswith("r:") else id_.split(" -- ")
            if len(parts) == 3:
                yield record["conversation"], tuple(map(plain, parts))


if __name__ == "__main__":
    sys.exit(main())

"""`python -m eval.studies.truth RUN`: share of the relations shown to the reader that are true.

For runs on dataset=synthetic, whose facts are known.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence

from eval.cli import add_runs, code_of, parser
from eval.datasets.reload import load_original
from eval.datasets.synthetic.dataset import Synthetic
from eval.datasets.synthetic.reading import read, triple
from eval.records.run import Run, load_run
from eval.rendering.numbers import interval
from eval.rendering.terminal import plain as as_table
from eval.summary.sample import Sample
from memsys.core.errors import InputError
from memsys.knowledge.facts.fact import plain

Triple = tuple[str, ...]  # source, relation, destination, normalised
Stated = tuple[set[Triple], set[Triple]]  # facts of a conversation: true at its end, and all
_HEADER = ["run", "relations shown", "true at the end", "true before", "never stated"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table; return the exit code: 2 for bad input, 130 after Ctrl-C."""
    options = parser(
        "studies.truth",
        "Print, for the relations that runs on dataset=synthetic showed to the reader, the shares "
        "that are true at the end of the conversation, were true before, or were never stated, "
        "with 95% intervals over conversations. For strategies whose relation ids contain the "
        "relation's words: mem0_graph and mem0ai_graph.",
    )
    add_runs(options)
    names: list[str] = options.parse_args(arguments).runs
    return code_of(lambda: print(as_table(_HEADER, [row(load_run(name)) for name in names])))


def row(run: Run) -> list[str]:
    """Return the table row of a run. Raises InputError for other data sets, or if no relation was
    shown.
    """
    stated = _stated(run)
    shown = list(_shown(run))
    if not shown:
        raise InputError(
            f"{run.label}: no relation was shown whose id contains its words; use runs of "
            "mem0_graph or mem0ai_graph"
        )
    conversations = [conversation for conversation, _ in shown]
    at_end = [one in stated[conversation][0] for conversation, one in shown]
    ever = [one in stated[conversation][1] for conversation, one in shown]
    before = [was and not now for was, now in zip(ever, at_end, strict=True)]
    shares = (at_end, before, [not was for was in ever])
    return [
        run.label,
        f"{len(shown):,}",
        *(
            interval(Sample([float(one) for one in hits], conversations, run.seed).share())
            for hits in shares
        ),
    ]


def _stated(run: Run) -> Mapping[str, Stated]:
    """Facts of each conversation of the data set, which is generated again from its parameters."""
    config = run.manifest["config"].get("dataset") or {}
    if config.get("_target_") != f"{Synthetic.__module__}.{Synthetic.__name__}":
        raise InputError(
            f"{run.label}: not a run on dataset=synthetic, whose facts are known; use one"
        )
    dataset = load_original(run.manifest)
    facts = {}
    for conversation in dataset.conversations:
        last: dict[tuple[str, str], Triple] = {}
        ever: set[Triple] = set()
        for session in conversation.sessions:
            for turn in session.turns:
                for language, fact in read(turn.text, session.time.date()):
                    words = tuple(map(plain, triple(language, fact)))
                    last[fact.subject, fact.relation] = words
                    ever.add(words)
        facts[conversation.id] = set(last.values()), ever
    return facts


def _shown(run: Run) -> Iterator[tuple[str, Triple]]:
    """Yield conversation and words of every relation shown, question by question."""
    for record in run.counted:
        for id_, *_ in record["retrieved"] or ():
            parts = id_[2:].split("|") if id_.startswith("r:") else id_.split(" -- ")
            if len(parts) == 3:
                yield record["conversation"], tuple(map(plain, parts))


if __name__ == "__main__":
    sys.exit(main())

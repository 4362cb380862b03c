"""What a run says on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.datasets.types import Dataset
from eval.records.jsonl import Record
from eval.rendering.tables import answered, by_key, by_protocol, by_type, key_sentences, plain
from eval.summary.subset_score import sentences


def show_start(manifest: Mapping[str, Any], dataset: Dataset) -> None:
    """What is about to run."""
    print(
        f"{manifest['strategy']} on {dataset.name}: {len(dataset.conversations)} conversations, "
        f"{len(dataset.questions)} questions"
    )
    if dataset.repairs:
        print(f"{len(dataset.repairs)} repairs to the data (see repairs in the manifest)")


def show_one_of_many(experiment: str | None) -> None:
    """Whoever forgot the -m of an experiment gets one run of it, and is told."""
    if experiment is not None:
        print(
            f"note: experiment={experiment} is a sweep, and this is one run of it; all of them: "
            f"python -m eval.run -m experiment={experiment}",
            file=sys.stderr,
        )


def show_end(folder: Path, summary: Mapping[str, Any], records: Sequence[Record]) -> None:
    """The table, what to beware of and why the first question failed, if any did, where the files
    are, and what to do next.
    """
    print("\n" + plain(*by_type(summary)))
    if len(summary["protocols"]) > 1:
        print("\nThe same answers under each protocol:\n" + plain(*by_protocol(summary)))
    show_key(summary)
    for told in sentences(summary):
        print(f"\n{told}")
    adversarial, overall = summary["by_type"]["adversarial"], summary["by_type"]["overall"]
    if adversarial["abstained"] is not None and overall["abstained"] is not None:
        print(
            f"\nAbstained on {_share(adversarial)} of type 5 (right), "
            f"on {_share(overall)} of {answered(summary)} (false refusals)"
        )
    if summary["errors"]:
        print(f"{summary['errors']} of {summary['n']} questions failed; they are in no mean")
        first = next(record for record in records if record["status"] == "error")
        print(f"the first: {first['id']}: {first['error']['message']}")
        print(f"to ask them again: the same command with resume={summary['run_id']}")
    for warning in summary["warnings"]:
        print(f"warning: {warning}")
    print(f"\nRun folder: {folder}")
    print("Next: python -m eval.run -m strategy=vector_only,graph_expand,hybrid_rank,oracle")


def show_key(summary: Mapping[str, Any]) -> None:
    """The answer key: its known errors, and the scores under both keys where another was chosen."""
    told = key_sentences(summary)
    if told:
        print("\n" + " ".join(told))
    if summary["key"] is not None:
        print("The same answers under both keys:\n" + plain(*by_key(summary)))


def _share(cell: Mapping[str, Any]) -> str:
    low, high = cell["abstained_ci"]
    answered = cell["n"] - cell["errors"]
    return f"{cell['abstained']:.1%} [{low:.1%}, {high:.1%}] of the {answered} answered"


def show_stop(folder: Path, manifest: Mapping[str, Any]) -> None:
    """How to go on."""
    print(
        f"\nstopped; what was written stays. Go on with:\n  {manifest['command']} "
        f"resume={folder.name}",
        file=sys.stderr,
    )

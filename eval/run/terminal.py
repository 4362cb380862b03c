"""What a run says on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from eval.datasets.types import Dataset
from eval.records.run import error_of
from eval.records.schema import Manifest, Record, Summary
from eval.rendering.run_tables import as_text, run_tables
from eval.rendering.tables import answered, plain


def show_start(manifest: Manifest, dataset: Dataset) -> None:
    """What is about to run."""
    print(
        f"{manifest['strategy']} on {dataset.name}: {len(dataset.conversations)} conversations, "
        f"{len(dataset.questions)} questions"
    )
    if dataset.repairs:
        print(f"{len(dataset.repairs)} repairs to the data (see repairs in the manifest)")


def show_end(folder: Path, summary: Summary, records: Sequence[Record]) -> None:
    """The table, what to beware of and why the first question failed, if any did, where the files
    are, and what to do next.
    """
    print("\n" + as_text(run_tables(summary), plain))
    adversarial, overall = summary["by_type"]["adversarial"], summary["by_type"]["overall"]
    if adversarial["abstained"] is not None and overall["abstained"] is not None:
        print(
            f"\nAbstained on {_share(adversarial)} of type 5 (right), "
            f"on {_share(overall)} of {answered(summary)} (false refusals)"
        )
    if summary["errors"]:
        print(f"{summary['errors']} of {summary['n']} questions failed; they are in no mean")
        first = next(record for record in records if record["status"] == "error")
        print(f"the first: {first['id']}: {error_of(first)}")
        print(f"to ask them again: the same command with resume={summary['run_id']}")
    for warning in summary["warnings"]:
        print(f"warning: {warning}")
    print(f"\nRun folder: {folder}")
    print("Next: python -m eval.run -m strategy=vector_only,graph_expand,hybrid_rank,oracle")


def _share(cell: Mapping[str, Any]) -> str:
    low, high = cell["abstained_ci"]
    answered = cell["n"] - cell["errors"]
    return f"{cell['abstained']:.1%} [{low:.1%}, {high:.1%}] of the {answered} answered"


def show_stop(folder: Path, manifest: Manifest) -> None:
    """How to go on."""
    print(
        f"\nstopped; what was written stays. Go on with:\n  {manifest['command']} "
        f"resume={folder.name}",
        file=sys.stderr,
    )

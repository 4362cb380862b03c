"""`python data/evidence/build.py`: write the overlay of wrong citations from an audit's list."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from eval.cli import code_of
from eval.datasets.files import validate
from eval.datasets.locomo import FOLDER, Citation, EvidenceOverlay, LoCoMo
from eval.datasets.overlays import CITATION_ONLY, corrections, read_errors, write_overlay
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Write and count; return the exit code: 2 for bad input."""
    options = argparse.ArgumentParser(
        description="Write the overlay of LoCoMo's wrong citations, which has ids but no text, "
        "from a list of errors with correct_evidence, such as audit/errors_conv_*.json of "
        "dial481/locomo-audit.",
    )
    add = options.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="errors: JSON lines or a JSON list")
    add("--out", type=Path, default=FOLDER / "locomo.json", help="overlay (default: %(default)s)")
    for name in ("source", "commit", "licence"):
        add(f"--{name}", required=True, help=f"{name} of the list")
    return code_of(lambda: _write(options.parse_args(arguments)))


def _write(options: argparse.Namespace) -> None:
    dataset = LoCoMo(name="locomo").load()
    turns = {
        conversation.id: {turn.id for session in conversation.sessions for turn in session.turns}
        for conversation in dataset.conversations
    }
    cited = {question.id: question.evidence for question in dataset.questions}
    kinds: dict[str, str] = {}
    citations: list[Citation] = []
    changed: Counter[str] = Counter()
    for path in options.files:
        rows = _rows(path)
        for error, row in zip(corrections(path, rows, [*turns]).values(), rows, strict=True):
            place = f"{path}: {error.id}"
            if error.id not in cited:
                raise InputError(f"{place}: the data set has no such question")
            if error.id in kinds:
                raise InputError(f"{place}: is in an earlier file, too; remove one")
            place = f"{place}: correct_evidence"
            right = validate(tuple[str, ...], row.get("correct_evidence"), place, "list turn ids")
            kinds[error.id] = error.error_type
            changed[error.error_type] += set(right) != set(cited[error.id])
            if error.error_type == CITATION_ONLY:
                if unknown := set(right) - turns[error.id.rpartition("/")[0]]:
                    raise InputError(f"{place}: {min(unknown)!r} is no turn; correct it")
                citations.append(Citation(error.id, cited[error.id], right))
    given = options.source, options.commit, options.licence
    write_overlay(options.out, EvidenceOverlay(*given, dataset.files, tuple(citations)))
    print(f"wrote {options.out}: {len(citations)} wrong citations; other turns than are loaded:")
    totals = Counter(kinds.values())
    for kind, count in sorted(changed.items()):
        print(f"  {kind}: {count} of {totals[kind]}")


def _rows(path: Path) -> list[Any]:
    value, _ = read_errors(path)
    return value if isinstance(value, list) else [value]


if __name__ == "__main__":
    sys.exit(main())

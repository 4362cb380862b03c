"""`python data/overlays/build.py`: check errors in an answer key, and write their overlay."""

import argparse
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from eval.cli import code_of
from eval.datasets.locomo import LoCoMo
from eval.datasets.overlays import (
    AnswerOverlay,
    Gold,
    corrections,
    is_overlay,
    read_errors,
    read_overlay,
    write_overlay,
)
from eval.datasets.types import TYPES, Dataset
from memsys.core.errors import InputError


def main(arguments: Sequence[str] | None = None) -> int:
    """Check, count and write; return the exit code: 2 for bad input."""
    options = argparse.ArgumentParser(
        description="Check a list of errors in an answer key against its data set, count them by "
        "type, and write an overlay of it, which has ids and hashes but no text and may be "
        "redistributed. data/README.md describes both formats.",
    )
    add, dataset = options.add_argument, "data set of the answer key (default: locomo)"
    out = "overlay to write; gold answers and source of an existing one are preserved"
    add("file", type=Path, help="errors (JSON lines or a JSON list), or an overlay to check")
    add("--dataset", default="locomo", metavar="locomo|PATH", help=dataset)
    add("--out", type=Path, help=out)
    add("--source", help="address of the source of the error list")
    add("--commit", help="version of the source")
    add("--licence", help="licence of the source")
    add("--show", action="store_true", help="print each gold answer and its correction")
    given = options.parse_args(arguments)
    return code_of(lambda: _overlay(given))


def _overlay(options: argparse.Namespace) -> None:
    value, file = read_errors(options.file)
    if is_overlay(value) and options.out is not None:
        raise InputError(f"{options.file}: is already an overlay; use --out with a list of errors")
    original = _load(options.dataset)
    if options.out is not None:
        conversations = [conversation.id for conversation in original.conversations]
        errors = corrections(options.file, value, conversations)
        old = read_overlay(AnswerOverlay, options.out)[0] if options.out.exists() else None
        before = old.entries if old else ()
        golds: dict[Any, Gold] = {(entry.id, entry.correct_sha256): entry.gold for entry in before}
        new = AnswerOverlay(
            source=_option(options, old, "source"),
            commit=_option(options, old, "commit"),
            licence=_option(options, old, "licence"),
            data=original.files,
            texts=file,
            entries=tuple(
                replace(error, gold=golds.get((error.id, error.correct_sha256), "text"))
                for error in errors.values()
            ),
        )
        _load(options.dataset, "excluded", options.file)  # before anything is written
        write_overlay(options.out, new)
        print(f"wrote {options.out}")
        overlay = options.out
    else:
        overlay = options.file
    _report(_load(options.dataset, "excluded", overlay), original)
    if options.show:
        _show(_load(options.dataset, "corrected", overlay))


def _option(options: argparse.Namespace, old: AnswerOverlay | None, name: str) -> str:
    """Value of an option, by default that of the existing overlay."""
    value = getattr(options, name)
    return str(value if value is not None else getattr(old, name, ""))


def _load(dataset: str, key: str = "original", key_file: Path | None = None) -> Dataset:
    """Load all questions of the data set named on the command line."""
    path = None if dataset == "locomo" else dataset
    file = None if key_file is None else str(key_file)
    return LoCoMo(name=Path(dataset).stem, path=path, key=key, key_file=file).load()


def _report(excluded: Dataset, original: Dataset) -> None:
    wrong = set(excluded.key.wrong)
    asked = [question for question in original.questions if question.gold is not None]
    print(f"{len(wrong):,} of {len(asked):,} gold answers are wrong, by type:")
    for name in TYPES.values():
        of_type = [question for question in asked if question.type == name]
        if n := len(of_type):
            bad = sum(question.id in wrong for question in of_type)
            print(f"  {name:<12} {bad:>4,} of {n:>5,}; right: {1 - bad / n:.2%}")
    changes = [q.key_change for q in excluded.questions if q.key_change is not None]
    for kind, count in Counter(change.error_type for change in changes).most_common():
        print(f"  {kind}: {count}")


def _show(corrected: Dataset) -> None:
    for question in corrected.questions:
        if question.key_change is not None:
            gold = "(left out: no answer)" if question.gold is None else question.gold
            print(f"{question.id} {question.key_change.error_type}: {question.text}")
            print(f"    {question.key_change.original_gold}\n    {gold}")


if __name__ == "__main__":
    sys.exit(main())

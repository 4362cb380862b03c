"""Whether runs may be compared at all."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eval.records.answer_key_views import key_name
from eval.records.run import Run
from eval.summary.measures import F1, JUDGE, Measure

_FIRST = 3  # ids that a message names


def objections(runs: Sequence[Run], measures: Sequence[Measure], names: Sequence[str]) -> list[str]:
    """Why the runs should not be compared, a sentence each with its remedy; none if they may be.

    `names`: of the scores as they were asked for. Golds are compared themselves as well: two lists
    of errors may both be called corrected.
    """
    first, found = runs[0], []
    for run in runs[1:]:
        pair = f"{first.label} and {run.label}"
        if _data(first) != _data(run):
            files = " and ".join(_files(one) for one in (first, run))
            found.append(f"{pair} answered different data ({files}); run both on the same files")
        keys = [key_name(one.manifest) for one in (first, run)]
        golds = _other_golds(first, run)
        if keys[0] != keys[1]:
            found.append(
                f"{pair} were scored by different answer keys ({keys[0]}, {keys[1]}); score one "
                f"anew by python -m eval.rescore {run.folder} --key {keys[0]}"
            )
        elif golds:
            found.append(
                f"{pair} were scored by different gold answers to {len(golds)} questions "
                f"({', '.join(golds[:_FIRST])}{', ...' if len(golds) > _FIRST else ''})"
            )
        if (not names or F1 in names) and first.own_f1 != run.own_f1:
            found.append(
                f"f1 is {first.own_f1} in {first.label} and {run.own_f1} in {run.label}; "
                f"name one by --score, as --score {first.own_f1}"
            )
        judges = [_judge(one) for one in (first, run)]
        if any(measure.key == JUDGE for measure in measures) and judges[0] != judges[1]:
            found.append(
                f"{pair} have different judges ({_named(judges[0])}; {_named(judges[1])}); "
                f"leave the verdicts out by --score {first.own_f1}"
            )
    return found


def _data(run: Run) -> set[str]:
    return {file["sha256"] for file in run.manifest["data"]}


def _files(run: Run) -> str:
    return ", ".join(f"{file['name']} {file['sha256'][:12]}" for file in run.manifest["data"])


def _other_golds(first: Run, run: Run) -> list[str]:
    """Ids of questions with the same text whose gold answer differs."""
    return [
        key
        for key, one in first.records.items()
        if (other := run.records.get(key)) is not None
        and one["question"] == other["question"]
        and one.get("gold") != other.get("gold")
    ]


def _judge(run: Run) -> tuple[Any, ...]:
    """What the verdicts depend on: model, prompt, settings, and whose verdicts they are."""
    sources = {
        record.get("judge_source")
        for record in run.records.values()
        if record["scores"].get(JUDGE) is not None
    }
    manifest = run.manifest
    named = manifest["models"].get(JUDGE)
    settings = manifest["config"].get(JUDGE)
    return named, manifest["prompts"].get(JUDGE), settings, tuple(sorted(map(str, sources)))


def _named(judge: tuple[Any, ...]) -> str:
    name, prompt, _, sources = judge
    parts = [str(name), *(source for source in sources if source not in {"None", name})]
    return ", ".join([*parts, *([f"prompt {str(prompt)[:12]}"] if prompt else [])])

"""What a run prints at its start and end, and the commands that make sense next."""

import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from eval.cli import FAILED
from eval.records.head import head
from eval.records.manifest import load_manifest, resume_command
from eval.records.run import error_of
from eval.records.schema import Cell, Manifest, Record, Summary
from eval.rendering.tables import answered, answerless, as_text, how_to_read, run_tables, scope_note
from eval.rendering.terminal import command_lines, sentence
from eval.run.build import Built
from eval.run.failures import LOG
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST, in_runs

_SEARCHED = 50  # newest runs that may be one to compare with
# Arguments that name a strategy and its settings, or this one run.
_OF_THE_RUN = ("strategy=", "strategy.", "resume=", "hydra.run.dir=")
_RECOMMENDED, _BASELINE = "auto", "vector_only"


def show_start(manifest: Manifest, built: Built, notes: Iterable[str]) -> None:
    """Print the strategy, the data and the models, on stderr `notes` and warnings."""
    dataset = built.dataset
    print(
        f"{manifest['strategy']} on {dataset.name}: {len(dataset.conversations)} conversations, "
        f"{len(dataset.questions)} questions"
    )
    print(sentence(head(manifest)))
    if dataset.repairs:
        print(f"{len(dataset.repairs)} repairs to the data (see repairs in the manifest)")
    warnings = [
        f"warning: no price is known for {model}, so its cost is unknown; give one by pricing=FILE"
        for model in built.models.unpriced
    ]
    for line in (*notes, *warnings, *(f"warning: {warning}" for warning in built.models.warnings)):
        print(sentence(line), file=sys.stderr)


def show_stop(folder: Path, manifest: Manifest, cache: str | None) -> None:
    """Print how to resume a run that was stopped. `cache`: where the answers of models are
    recorded, if any were paid for.
    """
    _show_place(cache)
    print(
        "\nstopped; the records written so far remain. Resume by:\n"
        + command_lines(in_place(resume_command(manifest), folder)),
        file=sys.stderr,
    )


def show_end(
    folder: Path,
    manifest: Manifest,
    summary: Summary,
    records: Iterable[Record],
    cache: str | None,
) -> None:
    """Print the tables, warnings, the first failure and the run folder; unless it is a run of a
    sweep, also how to read the tables and what to do next. `cache`: as of show_stop.
    """
    _show_place(cache)
    alone = manifest["sweep"] is None
    reading = how_to_read(summary) if alone else ""
    print("\n" + as_text(run_tables(summary)))
    if notes := [note for note in (reading, scope_note([summary]).strip()) if note]:
        print("\n" + "\n".join(map(sentence, notes)))
    adversarial, overall = summary["by_type"]["adversarial"], summary["by_type"]["overall"]
    if adversarial["abstained"] is not None and overall["abstained"] is not None:
        text = (
            f"Abstained on {_share(adversarial)} questions of type 5, where that is right, and on "
            f"{_share(overall)} of {answered(summary['by_type'])}, where it is a false refusal."
        )
        print("\n" + sentence(text))
    first = None
    if summary["errors"]:
        print(f"{summary['errors']} of {summary['n']} questions failed; they are in no mean")
        first = next(record for record in records if record["status"] == "error")
        print(f"the first: {first['id']}: {error_of(first)}")
    if pending := unjudged(summary):
        print(f"{pending} answers could not be judged; they count in all scores but the judge's")
    for warning in summary["warnings"]:
        print(sentence(f"warning: {warning}"))
    print(f"\nRun folder: {folder}")
    again = [in_place(resume_command(manifest), folder)] if first or pending else []
    if first and summary["errors"] == summary["n"]:
        show_next(after_failure(folder, manifest, first))
    elif alone:
        show_next([*again, *after_run(folder, manifest, summary)])
    else:
        show_next(again)


def show_failure(failed: int, questions: int, tolerated: float) -> None:
    """Print that a run fails in which `failed` of `questions` failed."""
    how_many = (
        "every question failed"
        if failed == questions
        else f"{failed} of {questions} questions failed, more than "
        f"failures.tolerated={tolerated} allows"
    )
    print(f"failed: {how_many} (exit code {FAILED})", file=sys.stderr)


def unjudged(summary: Summary) -> int:
    """Return the number of answers without a verdict because the judge failed."""
    return int(summary["by_type"]["overall"]["judge_errors"])


def after_run(folder: Path, manifest: Manifest, summary: Summary) -> list[str]:
    """Return commands that compare the run with the newest other one on the same data, or run
    another strategy with the same settings, and that show it.
    """
    run = _name(folder)
    if answerless(summary):
        return [f"python -m eval retrieval {run}"] if manifest["retrieval"] else []
    other = _newest_other(folder, manifest)
    if other is None:
        return [
            *_another_strategy(manifest),
            f"python -m eval report {run}",
            f"python -m eval browse {run}",
        ]
    both = f"{_name(other)} {run}"
    return [
        f"python -m eval compare {both}",
        f"python -m eval report {both}",
        f"python -m eval browse {run}",
    ]


def after_sweep(runs: Sequence[tuple[Path, Manifest]], *, answered: bool = True) -> list[str]:
    """Return the commands that compare and show the complete `runs` on each data set."""
    groups: dict[str, list[str]] = {}
    for folder, manifest in runs:
        groups.setdefault(str(manifest["data"]), []).append(_name(folder))
    commands = ("compare", "report", "browse") if answered else ("retrieval",)
    return [
        f"python -m eval {command} {' '.join(names)}"
        for names in groups.values()
        for command in (commands if len(names) > 1 else commands[-2:])
    ]


def after_failure(folder: Path, manifest: Manifest, first: Record) -> list[str]:
    """Return what to mend in a run of which `first` failed, and the command that resumes it."""
    error = first["error"]
    if error is not None and "traceback" in error:
        remedy = f"correct the code that {folder / LOG} names, and resume the run:"
    elif manifest["llm"] or manifest["judge"]:
        remedy = "check llm.base_url, llm.model and the key of the endpoint, and resume the run:"
    else:
        remedy = "correct the cause, and resume the run:"
    return [remedy, in_place(resume_command(manifest), folder)]


def show_next(steps: Sequence[str]) -> None:
    """Print the steps, each command apart, so that it can be copied: of the console script, if that
    was started, since a folder with a file `eval.py` has no other. A step that ends with a colon
    introduces the next.
    """
    if steps:
        shown = (f"  {step}" if step.endswith(":") else command_lines(step) for step in steps)
        print("\n".join(["\nNext:", *shown]))


def in_place(command: str, folder: Path) -> str:
    """Return `command` with the folder of its run, if that is not the usual one."""
    own = f"hydra.run.dir={folder}"
    if in_runs(folder) or own in shlex.split(command):
        return command
    return f"{command} {shlex.quote(own)}"


def _another_strategy(manifest: Manifest) -> list[str]:
    """Return the command that repeats the run with another strategy and its default settings."""
    arguments = shlex.split(manifest["command"])
    if any(argument.startswith("from=") for argument in arguments):
        return []  # such a run has the strategy of another
    rest = [argument for argument in arguments if not argument.lstrip("+~").startswith(_OF_THE_RUN)]
    others = [_RECOMMENDED, _BASELINE]
    if any(argument.startswith(("graph=", "index=")) for argument in rest):
        others.remove(_RECOMMENDED)  # not every graph and index suits it
    different = [strategy for strategy in others if strategy != manifest["strategy"]]
    return [shlex.join([*rest, f"strategy={strategy}"]) for strategy in different[:1]]


def _newest_other(folder: Path, manifest: Manifest) -> Path | None:
    """Return the newest complete run beside `folder` on the same questions with other settings."""
    names = sorted((path.name for path in folder.parent.iterdir() if path.is_dir()), reverse=True)
    for path in (folder.parent / name for name in names[:_SEARCHED] if name != folder.name):
        if not (path / MANIFEST).is_file():
            continue
        try:
            other = load_manifest(path)
        except InputError:
            continue
        if other["status"] == "complete" and _comparable(manifest, other):
            return path
    return None


def _comparable(manifest: Manifest, other: Manifest) -> bool:
    mine, others = manifest["config"], other["config"]
    return manifest["config_sha256"] != other["config_sha256"] and (
        all(manifest.get(name) == other.get(name) for name in ("data", "key", "scoring"))
        and all(mine.get(name) == others.get(name) for name in ("dataset", "questions", "only"))
        and (manifest["judge"] is None) == (other["judge"] is None)
    )


def _name(folder: Path) -> str:
    """Return what a command calls the run: its id, or its folder elsewhere than in RUNS."""
    return shlex.quote(folder.name if in_runs(folder) else str(folder))


def _show_place(cache: str | None) -> None:
    if cache is not None:
        print(f"answers of models are recorded in {cache}", file=sys.stderr)


def _share(cell: Cell) -> str:
    low, high = cell["abstained_ci"]
    count = cell["n"] - cell["errors"]
    return f"{cell['abstained']:.1%} [{low:.1%}, {high:.1%}] of {count}"

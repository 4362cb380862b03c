"""The scores of a card, computed from answers and rankings alone, the same for all who do so; and
the data set behind it, under each of its answer keys.
"""

import json
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

from eval.cards.card.schema import ANSWERS, DIGITS, RANKINGS, CardFile, Role, Score, is_absolute
from eval.cards.card.sources import Answers, Rankings, file_entry
from eval.cards.scores import (
    BLEU1,
    TOKENS,
    Column,
    Mean,
    Scores,
    of_protocols,
    of_records,
    under_keys,
)
from eval.datasets.answer_key import KEYS
from eval.datasets.reload import config_of, load_dataset_of
from eval.datasets.types import Dataset, Question
from eval.metrics.protocols import PROTOCOLS
from eval.metrics.stats.interval import RESAMPLES
from eval.records.answer_key_views import ORIGINAL, evidence_name, key_name, left_out
from eval.records.schema import Manifest, Record
from eval.summary import retrieval
from eval.summary.closing import unanswered
from eval.summary.measures import ABSTAINED, JUDGE
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError

SEED = 0  # of all intervals of cards, whatever the seed of the run
REPORTED = (JUDGE, TOKENS)  # by the file of answers
_DEFAULT = "locomo"


def settings_of(manifest: Manifest) -> dict[str, Any]:
    """Return the configuration that loads the data set of a run, under the run's keys.

    An import names its data set in its command.
    """
    config = dict(manifest["config"].get("dataset") or {})
    key, evidence = key_name(manifest), evidence_name(manifest)
    if "_target_" not in config:
        name = option_of(manifest, "--dataset") or _DEFAULT
        config = config_of(name, key, option_of(manifest, "--key-file"), evidence)
    if "key" in config or "key_file" in config:
        config["key"] = key
    return {
        name: value for name, value in config.items() if name == "key_file" or value is not None
    }


def option_of(manifest: Manifest, name: str) -> str | None:
    """Return the value of the option `name` in the command of a run; None if it has none."""
    words = shlex.split(manifest["command"])
    return words[words.index(name) + 1] if name in words[:-1] else None


def published(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return `config` without the folders of this machine: an absolute path becomes its name."""
    return {
        name: Path(value).name if isinstance(value, str) and is_absolute(value) else value
        for name, value in config.items()
    }


def named(config: Mapping[str, Any], dataset: str | None, key_file: str | None) -> dict[str, Any]:
    """Return `config` with the files that the options `--dataset` and `--key-file` name. A path
    is of a file in the format that `config` says.
    """
    found = dict(config)
    if dataset is not None:
        given = config_of(dataset, ORIGINAL, None)
        chosen = ("path",) if given.get("path") == dataset else ("_target_", "path")
        found.pop("path", None)
        found |= {name: given[name] for name in chosen if given.get(name) is not None}
    return found | ({} if key_file is None else {"key_file": key_file})


def load_keys(config: Mapping[str, Any]) -> tuple[dict[str, Dataset], dict[str, str]]:
    """Return the data set by answer key, that of `config` first, and why others cannot be loaded.

    A data set without known errors has one key. Raises InputError if the data set itself cannot
    be loaded.
    """
    own = str(config.get("key") or ORIGINAL)
    try:
        first = _load(json.dumps(dict(config), sort_keys=True))
    except InputError as error:
        raise InputError(f"{error} (--dataset says where the data set is)") from error
    found, missing = {own: first}, dict[str, str]()
    if first.key.overlay is None:
        return found, missing
    for key in KEYS:
        if key != own:
            try:
                found[key] = _load(json.dumps({**config, "key": key}, sort_keys=True))
            except InputError as error:
                missing[key] = str(error)
    return found, missing


def files_of(datasets: Mapping[str, Dataset]) -> list[CardFile]:
    """Return the files of the data set, its answer keys, its evidence key and its subset.

    The list of errors of the answer key fixes each corrected answer by its hash, in whatever file
    the texts are.
    """
    first = next(iter(datasets.values()))
    listed = [("data", file) for file in first.files]
    listed += [("key", first.key.overlay)] if first.key.overlay else []
    listed += [("evidence", first.evidence.overlay)] if first.evidence else []
    listed += [("subset", first.subset.file)] if first.subset else []
    return [file_entry(role, file) for role, file in listed]


@lru_cache(maxsize=len(KEYS))  # cards of one data set are mostly verified together
def _load(config: str) -> Dataset:
    return load_dataset_of(json.loads(config))


@dataclass(frozen=True)
class Computed:
    """What a card says that follows from the files: the means, the counts `rows` and the `files` of
    answers and rankings by role.
    """

    means: list[Mean]
    rows: dict[str, int]
    files: Mapping[Role, CardFile]


def exact(one: Mean) -> dict[str, float]:
    """Return the numbers of a Score by name, unrounded, without those that are not determined."""
    found = one.mean
    numbers = {"n": found.n, "mean": found.value, "low": found.low, "high": found.high}
    return {name: number for name, number in numbers.items() if not math.isnan(number)}


def rounded(one: Mean) -> Score:
    """Return the entry of a card."""
    protocol, measure, key = one.column
    what = {"key": key, "protocol": protocol or None, "type": one.type, "measure": measure}
    numbers = {name: round(number, DIGITS) for name, number in exact(one).items()}
    return Score.model_validate({**what, **numbers, "reported": measure in REPORTED})


def compute(
    datasets: Mapping[str, Dataset], answers: Answers | None, rankings: Rankings | None
) -> Computed:
    """Return all scores of a card: of answers under each protocol and key, of verdicts, rankings.

    `datasets`: by answer key, the run's first. Under it every protocol and type has scores; under
    the others, each protocol has its overall F1.
    """
    own, dataset = next(iter(datasets.items()))
    rows = [] if answers is None else list(answers.records)
    means = _of_answers(datasets, rows) if rows else []
    if rankings is not None and not rows:
        asked = (one for one in dataset.questions if one.id in rankings.run.rankings)
        rows = [cast(Record, unanswered(question)) for question in asked]
    counted = [row for row in rows if row["status"] == "ok" and not left_out(row)]
    files: dict[Role, CardFile] = {}
    if answers is not None:
        files[ANSWERS] = answers.card_file
    if rankings is not None:
        means += _of_rankings(own, counted, rankings)
        files[RANKINGS] = rankings.card_file(row["id"] for row in counted)
    counts = {
        "questions": len(dataset.questions),
        "matched": len(rows),
        "conversations": len({row["conversation"] for row in rows}),
        "errors": sum(row["status"] != "ok" for row in rows),
    }
    return Computed(means, counts | (dict(answers.read) if answers is not None else {}), files)


def _of_answers(datasets: Mapping[str, Dataset], rows: Sequence[Record]) -> list[Mean]:
    """Return the means by answer key, protocol, type and measure."""
    own, dataset = next(iter(datasets.items()))
    columns: dict[Column, Mapping[str, float]] = {}
    for key, records in under_keys(rows, datasets).items():
        columns |= of_protocols(records, key)
        for measure in (ABSTAINED, JUDGE, TOKENS) if key == own else ():
            columns |= of_records(records, key, measure)
    table = Scores.of({"": columns}, dataset.questions)
    means = [
        mean
        for mean in table.means(SEED)
        if mean.type == OVERALL or (mean.column.key == own and mean.column.measure != TOKENS)
        if mean.column.key == own or mean.column.measure != BLEU1
    ]
    keys, protocols, types = [*datasets], [*PROTOCOLS, ""], [*table.order, OVERALL]

    def place(one: Mean) -> tuple[int, int, int]:
        column = one.column
        return keys.index(column.key), protocols.index(column.protocol), types.index(one.type)

    return sorted(means, key=place)


def _of_rankings(key: str, rows: Sequence[Record], rankings: Rankings) -> Iterator[Mean]:
    of_store = [_in_store(row, rankings.questions[row["id"]]) for row in rows]
    run, measures = rankings.measured(of_store)
    if not measures or not run.counted:
        return
    by_type, _ = retrieval.by_type(run, measures, SEED, RESAMPLES)
    for type_, means in by_type.items():
        for measure, mean in means.items():
            yield Mean(Column("", measure, key), type_, "", mean)


def _in_store(row: Record, question: Question) -> Record:
    """Return `row` with the evidence of `question`, whose ids are those of the ranked store."""
    named: dict[str, Any] = {} if question.store is None else {"store": question.store}
    sessions = question.evidence_sessions
    named |= {} if sessions is None else {"evidence_sessions": list(sessions)}
    return cast(Record, row | {"evidence": list(question.evidence), **named})

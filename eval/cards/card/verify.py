"""Verification of a score card: every number is computed again from the files that it names."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from eval.answers.layout import Layout
from eval.answers.match import normalise
from eval.cards.card.make import files_of, kind_of, load_keys, named, weights_of
from eval.cards.card.schema import ANSWERS, DIGITS, RANKINGS, Card, CardFile, Role, Score
from eval.cards.card.sources import Answers, Rankings, answers_from, is_of_rankings, rankings_from
from eval.cards.scores import REPORTED, Computed, Mean, compute, exact, rounded
from eval.datasets.files import check_there
from eval.datasets.types import Dataset
from eval.imports.rescore.account import COPIED
from eval.records.run import Run
from memsys.core.errors import InputError

_ROUNDING = 0.5 * 10**-DIGITS + 1e-9  # 1e-9: the order of sums differs between machines
_SHOWN = 16  # characters of a hash in a message
_OF_DATA: tuple[Role, ...] = ("data", "key", "evidence", "subset")
_WITH_TEXTS = "corrected"  # the answer key that needs texts besides the list of errors
_OF_FILE = ("rows", "unmatched")  # counts that depend on the layout of the file
_NOT_SHOWN = "kind: run on the card, which only its run folder shows"


@dataclass(slots=True)
class Verification:
    """What a verification found.

    `equal` of the `compared` numbers are equal; `differences` has a line for each other one, and
    for each file and count that differs. `unverified`: number of numbers on the card by the reason
    why they cannot be recomputed. `assumed`: what the card says of the system and the given files
    do not show, a line each. `notes`: what a reader should know.
    """

    compared: int = 0
    equal: int = 0
    differences: list[str] = field(default_factory=list)
    unverified: Counter[str] = field(default_factory=Counter)
    assumed: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def refused(self, *, complete: bool = False) -> list[str]:
        """Return the reasons to refuse the card, a line each. `complete`: these include what cannot
        be verified.
        """
        open_ = [f"{n:,} numbers are not verified: {why}" for why, n in self.unverified.items()]
        return self.differences + (self.assumed + open_ if complete else [])


def verify(
    card: Card,
    *,
    answers: Path | None = None,
    rankings: Path | None = None,
    layout: Layout | None = None,
    dataset: str | None = None,
    key_file: str | None = None,
) -> Verification:
    """Compute all scores of `card` again, without a model, and compare hashes, counts and scores.

    `layout`: how to read a file of answers that is not the card's own, None to find out. `dataset`,
    `key_file`: where the data set and the list of errors of its answer key are, if not
    where the card's configuration says. Raises InputError if a file cannot be read, or the card
    needs one that is not given.
    """
    for name, path, needed in (
        ("answers", answers, bool(card.of_role(ANSWERS))),
        ("rankings", rankings, answers is None),
    ):
        if path is not None:
            check_there(path, f"correct --{name}")
        elif needed:
            raise InputError(f"--{name}: the card is of {name}; name their file or run folder")
    config = named(card.dataset, dataset, key_file)
    datasets, missing = load_keys(config)
    tally = Verification()
    datasets = _wanted(card, datasets, tally)
    first = next(iter(datasets.values()))
    given = None if answers is None else answers_from(answers, first, card, layout)
    run = None if given is None else given.run
    path = rankings or (answers if run is not None and run.rankings else None)
    given = given if given is not None and given.records else None
    ranked = None if path is None else rankings_from(path, config, first)
    computed = compute(datasets, given, ranked)
    for role in _OF_DATA:
        tally.differences += _of_files(card, files_of(datasets), role)
    for role, file in computed.files.items():
        _compare_rows(card, role, file, tally)
    if run is not None:
        tally.differences += _of_run(card, run)
    elif card.kind == "imported":
        tally.differences += _of_files(card, [], "weights")
    else:
        tally.assumed.append(_NOT_SHOWN)
    if given is not None and card.kind == "imported":
        tally.differences += _of_golds(given, first)
    if given is not None or ranked is not None:
        tally.differences += _of_counts(card, computed.rows, given)
    _compare_scores(card, computed, missing, ranked, given, tally)
    if tally.differences and card.code.version:
        tally.notes.append(f"the scores of the card were computed by memsys {card.code.version}")
    return tally


def _wanted(card: Card, datasets: Mapping[str, Dataset], tally: Verification) -> dict[str, Dataset]:
    """Return the data sets by key, without the corrected one if the card has no score under it:
    its maker may not have had the texts.
    """
    scored = {score.key for score in card.scores}
    kept = {}
    for key, dataset in datasets.items():
        apart = dataset.key.texts is not None and dataset.key.texts != dataset.key.overlay
        if key != _WITH_TEXTS or key == card.key or key in scored or not apart:
            kept[key] = dataset
        else:
            tally.notes.append(f"the card has no scores under the key {key}")
    return kept


def _of_files(card: Card, here: Sequence[CardFile], role: Role) -> Iterator[str]:
    """Yield the files of a role that the card and this machine do not share."""
    there = {(file.sha256, file.bytes): file for file in card.of_role(role)}
    files = {(file.sha256, file.bytes): file for file in here if file.role == role}
    for identity, file in files.items():
        if identity not in there:
            yield f"{role}: {_file_text(file)} is not a file of the card"
    for identity, file in there.items():
        if identity not in files:
            yield f"{role}: {_file_text(file)} of the card is not what was read here"


def _compare_rows(card: Card, role: Role, here: CardFile, tally: Verification) -> None:
    """Compare the hash of the rows of answers or rankings, which does not depend on the layout."""
    there = next(iter(card.of_role(role)), None)
    if there is None:
        if role == ANSWERS:
            tally.differences.append(f"{role}: the card names no file of {role}")
    elif here.rows_sha256 != there.rows_sha256:
        tally.differences.append(
            f"{role}: not those of the card: rows_sha256 {_short(there.rows_sha256)} on the card, "
            f"{_short(here.rows_sha256)} recomputed from {here.name}"
        )
    elif here.sha256 != there.sha256:
        tally.notes.append(f"{role}: {_file_text(here)} is another file with the same rows")
    elif here.bytes != there.bytes:
        tally.differences.append(
            f"{role}: bytes: {there.bytes:,} on the card, {here.bytes:,} of {here.name}"
        )


def _of_run(card: Card, run: Run) -> Iterator[str]:
    """Yield what the card says of a run otherwise than its manifest."""
    manifest = run.manifest
    for name, there, here in (
        ("config_sha256", card.config_sha256, manifest["config_sha256"]),
        ("system", card.system, manifest["strategy"]),
        ("kind", card.kind, kind_of(manifest)),
    ):
        if there != here:
            text = _short if name == "config_sha256" else str
            yield f"{name}: {text(there)} on the card, {text(here)} of the run"
    yield from _of_files(card, weights_of(manifest), "weights")


def _of_golds(answers: Answers, dataset: Dataset) -> Iterator[str]:
    """Yield a line if hardly any answer differs from the gold answer: these are no answers."""
    golds = {question.id: question.original_gold for question in dataset.questions}
    pairs = [
        (record["answer"], gold)
        for record in answers.records
        if record["answer"] is not None and (gold := golds[record["id"]]) is not None
    ]
    same = sum(normalise(answer) == normalise(gold) for answer, gold in pairs)
    if same > COPIED * len(pairs):
        yield (
            f"answers: {same:,} of {len(pairs):,} are the gold answer word for word; name the "
            "column of the answers"
        )


def _of_counts(card: Card, here: Mapping[str, int], answers: Answers | None) -> Iterator[str]:
    same_file = _is_own(card, answers)
    for name in dict.fromkeys([*card.rows, *here]):
        if name in _OF_FILE and not (same_file and name in here):
            continue
        if card.rows.get(name) != here.get(name):
            yield f"rows: {name}: {card.rows.get(name)} on the card, {here.get(name)} recomputed"


def _is_own(card: Card, answers: Answers | None) -> bool:
    """Return True if `answers` are from the very file that the card names."""
    there = next((file.sha256 for file in card.of_role(ANSWERS)), None)
    return answers is not None and answers.file.sha256 == there


def _compare_scores(
    card: Card,
    computed: Computed,
    missing: Mapping[str, str],
    rankings: Rankings | None,
    answers: Answers | None,
    tally: Verification,
) -> None:
    """Compare all numbers; a card has to have all scores that follow from its files."""
    here = {rounded(mean).identity: mean for mean in computed.means}
    scored = {mean.column.measure for mean in computed.means}
    for score in card.scores:
        mean = here.pop(score.identity, None)
        if mean is not None:
            _compare(score, mean, tally)
        elif is_of_rankings(score.measure) and rankings is None and card.of_role(RANKINGS):
            tally.unverified["rankings are not given"] += len(_numbers(score))
        elif (
            score.reported
            and score.measure in REPORTED
            and score.measure not in scored
            and not _is_own(card, answers)
        ):
            reason = f"the answers given contain no {score.measure}"
            tally.unverified[reason] += len(_numbers(score))
        elif score.key in missing:
            tally.unverified[missing[score.key]] += len(_numbers(score))
        else:
            tally.differences.append(f"{score.label}: on the card, and does not follow from files")
    for mean in here.values():
        value = f"{mean.mean.value:.{DIGITS}f}"
        tally.differences.append(f"{rounded(mean).label}: left out of the card, recomputed {value}")


def _compare(score: Score, mean: Mean, tally: Verification) -> None:
    computed, unrounded = rounded(mean), exact(mean)
    there, here = _numbers(score), _numbers(computed)
    for name in dict.fromkeys([*there, *here]):
        tally.compared += 1
        number, other = there.get(name), unrounded.get(name)
        if number is not None and other is not None and abs(number - other) <= _ROUNDING:
            tally.equal += 1
        else:
            tally.differences.append(
                f"{score.label}: {name}: {number} on the card, {here.get(name)} recomputed"
            )
    if score.reported != computed.reported:
        tally.differences.append(
            f"{score.label}: reported: {score.reported} on the card, {computed.reported} recomputed"
        )


def _numbers(score: Score) -> dict[str, float]:
    """Return the numbers of a score by their names, without those that it lacks."""
    return score.model_dump(include={"n", "mean", "low", "high"}, exclude_none=True)


def _file_text(file: CardFile) -> str:
    return f"{file.name} (sha256 {_short(file.sha256)}, {file.bytes:,} bytes)"


def _short(sha256: str | None) -> str:
    return "none" if sha256 is None else f"{sha256[:_SHOWN]}..."

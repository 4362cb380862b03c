"""Published retrieval figures beside the same measure of recorded runs, recomputed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from eval.datasets.pooled import POOLED
from eval.datasets.types import ADVERSARIAL
from eval.metrics.retrieval import Judged
from eval.metrics.retrieval.registry import Measure
from eval.metrics.stats.interval import ClusterBootstrap, Interval
from eval.records.answer_key_views import evidence_name, key_name
from eval.records.manifest import load_manifest
from eval.records.rankings import session_of
from eval.records.run import Run, load_run
from eval.records.schema import Manifest, Record
from eval.studies.published_claims import Claim, Figure
from eval.summary.retrieval import evidence_of, values
from memsys.core.errors import InputError
from memsys.core.places import MANIFEST, RUNS

STRATEGY = "hybrid_rank"
_DATA = {  # start of the name of its file, and the overrides that choose it, by data set
    "locomo": ("locomo", "dataset=locomo"),
    "longmemeval_s": (
        "longmemeval_s",
        "dataset=longmemeval dataset.path=data/longmemeval_s_cleaned.json",
    ),
}
_CHOICES = {"memory": "turns", "embedder": "minilm"}
_OF_DATA = {  # settings of a data set under which all of it counts, unchanged
    **dict.fromkeys(("conversations", "types", "limit", "subset")),
    **{"key": "original", "evidence": "original", "captions": True, "owner_filter": False},
}

Key = tuple[str, bool]  # data set, and whether all conversations share a store


@dataclass(frozen=True, slots=True)
class Row:
    """A published figure and the same measure of `run`; `here` is None where there is none."""

    claim: Claim
    figure: Figure
    run: Run | None
    here: Interval | None


def runs_of(names: Sequence[str | Path]) -> dict[Key, Run]:
    """Return the runs to recompute from, by data set and store: those named, else the newest under
    results/runs of hybrid_rank with default settings on all questions.

    Raises InputError for a run without rankings, of another data set, of a part of its questions or
    under another key, or beside one of the same.
    """
    found: dict[Key, Run] = {}
    for run in [load_run(name) for name in names] or _newest():
        key = _key(run.manifest)
        if key is None:
            raise InputError(f"{run.label}: no figure was published on its data and store")
        if other := _other_definition(run.manifest):
            raise InputError(
                f"{run.label}: {other}: published figures are on all questions and unchanged data; "
                "name a run without it"
            )
        if not run.rankings:
            raise InputError(f"{run.label}: no rankings; run it again with retrieval.depth=100")
        if key in found:
            raise InputError(
                f"{run.label}: {found[key].label} is of the same data and store; name one of them"
            )
        found[key] = run
    return found


def _newest() -> list[Run]:
    latest: dict[Key, tuple[str, Path]] = {}
    for path in sorted(RUNS.glob(f"*/{MANIFEST}")) if RUNS.is_dir() else ():
        try:
            manifest = load_manifest(path.parent)
        except InputError:
            continue  # of an earlier version, or torn
        key = _key(manifest)
        if key and _is_default(manifest):
            latest[key] = max(latest.get(key, ("", path)), (manifest["started"], path.parent))
    return [load_run(folder) for _, folder in latest.values()]


def _is_default(manifest: Manifest) -> bool:
    choices = manifest["choices"]
    alike = all(choices.get(group, name) == name for group, name in _CHOICES.items())
    ranked = manifest["strategy"] == STRATEGY and manifest["retrieval"] is not None
    return ranked and alike and _other_definition(manifest) is None


def _other_definition(manifest: Manifest) -> str | None:
    """Return the first setting under which questions or data are not those of publications."""
    if manifest["status"] != "complete":
        return f"status={manifest['status']}"
    config = manifest["config"]
    data = {**(config.get("dataset") or {})}
    data |= {"key": key_name(manifest), "evidence": evidence_name(manifest)}
    for name, value in _OF_DATA.items():
        if data.get(name, value) != value:
            return f"dataset.{name}={data[name]}"
    return next((f"{one}={config[one]}" for one in ("questions", "only") if config.get(one)), None)


def _key(manifest: Manifest) -> Key | None:
    names, pooled = [file["name"] for file in manifest["data"]], POOLED in manifest["stores"]
    if pooled and (manifest["config"].get("dataset") or {}).get("owner_filter"):
        return None
    for dataset, (start, _) in _DATA.items():
        if any(name.startswith(start) for name in names):
            return dataset, pooled
    return None


def command(key: Key) -> str:
    """Return the command of a run that figures on `key` are compared with."""
    overrides = _DATA[key[0]][1] + " dataset.pooled=true" * key[1]
    return f"python -m eval.run strategy={STRATEGY} {overrides}"


def rows_of(claims: Sequence[Claim], runs: Mapping[Key, Run]) -> list[Row]:
    """Return a row for each published figure; raises InputError as eval.summary.retrieval does."""
    pairs = [(claim, figure) for claim in claims for figure in claim.figures]
    scored = {
        key: _scores(run, [figure for claim, figure in pairs if key_of(claim) == key])
        for key, run in runs.items()
    }
    rows = []
    for claim, figure in pairs:
        run, here = None, None
        if figure.measure is not None and (run := runs.get(key_of(claim))):
            here = _mean(run, figure, scored[key_of(claim)][figure.measure, figure.within])
        rows.append(Row(claim, figure, run, here))
    return rows


def key_of(claim: Claim) -> Key:
    """Return the data set and the kind of store that a run must have for `claim`."""
    return claim.dataset, claim.pooled is True


Scores = Mapping[tuple[str, int | None], Mapping[str, float | None]]


def _scores(run: Run, figures: Sequence[Figure]) -> Scores:
    """Return scores by question id, by measure and number of turns that sessions are taken from."""
    measures = {f.measure: f.parsed for f in figures if f.measure}
    whole = values(run, list(measures.values()))
    found: dict[tuple[str, int | None], Mapping[str, float | None]] = {}
    for figure in figures:
        if figure.measure and figure.within is None:
            found[figure.measure, None] = whole[figure.measure]
        elif figure.measure and figure.within:
            measure = measures[figure.measure]
            found[figure.measure, figure.within] = {
                record["id"]: _score_within(run, record, measure, figure.within)
                for record in run.counted
            }
    return found


def _score_within(run: Run, record: Record, measure: Measure, turns: int) -> float | None:
    """Return the score of the sessions of the best `turns` turns; None without evidence."""
    evidence = evidence_of(record, "session")
    ranked = run.rankings[record["id"]].turns
    if not evidence or ranked is None:
        return None
    sessions = tuple(dict.fromkeys(session_of(turn) for turn in ranked.ids[:turns]))
    return measure.score(Judged(sessions, evidence))


def _mean(run: Run, figure: Figure, scores: Mapping[str, float | None]) -> Interval | None:
    rows = [record for record in run.counted if _is_of(record, figure.types or "")]
    if not rows:
        return None
    bootstrap = ClusterBootstrap([row["conversation"] for row in rows], run.seed)
    mean = bootstrap.mean([scores.get(row["id"]) for row in rows])
    return None if mean is None else mean.within()


def _is_of(record: Record, types: str) -> bool:
    if types == "1-5":
        return True
    return record["category"] != ADVERSARIAL if types == "1-4" else record["type"] == types

"""The Python interface: run experiments, and read run folders as data frames and charts.

from eval import api
run = api.run("strategy=bm25", "dataset=locomo")
run.table()                                         # a row a question type, with intervals
api.compare([run, api.run("strategy=graph_expand", "dataset=locomo")])
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import pandas as pd
from hydra.errors import HydraException
from matplotlib.axes import Axes

from eval.analyse.compare.comparable import compared
from eval.analyse.retrieval import score as of_rankings
from eval.datasets.types import ADVERSARIAL
from eval.metrics.registry import columns
from eval.records import run as run_folders
from eval.records.answer_key_views import left_out
from eval.records.folder import claim, discard_if_empty
from eval.records.manifest import load_manifest
from eval.records.prices import SYSTEM, of_records, pricing_of
from eval.records.schema import Record, Summary
from eval.rendering import palette, plots
from eval.rendering.contrasts import comma_separated
from eval.rendering.errors import configuration_errors
from eval.run.composing import check_flags, ordered
from eval.run.jobs import execute
from eval.summary.sample import Sample
from eval.summary.summarise import OVERALL, summarise
from memsys.core.errors import InputError, check_choice
from memsys.core.places import MANIFEST, RUNS, SHIPPED

__all__ = [
    "InputError", "LoadedRun", "compare", "curves", "dots", "frames", "front", "load",
    "load_all", "load_runs", "looks", "means", "on_front", "plot", "retrieval", "run",
    "score_rankings", "scores", "shares", "table", "tables", "texts",
]  # fmt: skip
_RESULTS = SHIPPED / "results"
_SETTING = r"(?P<name>\S+?)=(?P<value>\S+)"
_COLUMNS = (
    *("id", "conversation", "category", "type", "question", "gold", "answer", "status"),
    *("abstained", "k", "context_tokens", "answer_tokens", "latency_source"),
)
_TABLE = (  # columns of a table that is not asked for every one
    *("run", "type", "n", "f1", "f1_low", "f1_high", "bleu1", "judge", "evidence_recall"),
    *("evidence_recall_low", "evidence_recall_high", "abstained", "context_tokens_mean"),
    *("cost_usd", "retrieve_ms_p95", "total_ms_p95"),
)

retrieval, score_rankings = of_rankings.retrieval, of_rankings.score_rankings
plot, dots, curves, shares, front = plots.plot, plots.dots, plots.curves, plots.shares, plots.front
on_front, looks = plots.on_front, palette.looks


class LoadedRun(run_folders.Run):
    """A finished run; see eval.records.run.Run for `label`, `manifest` and `records`."""

    @cached_property
    def summary(self) -> Summary:
        """The summary, computed from the records."""
        return summarise(list(self.records.values()), self.manifest, self.seed)

    def frame(self, *, trace: bool = False) -> pd.DataFrame:
        """Return one row per question, with numbers as numbers and unknown values as None or NaN.

        Columns: the plain fields of a record; each score by its name; `retrieve_ms`, `answer_ms`,
        `total_ms`; `cost_usd` of the system; `retrieved`: the memory ids, best first; `evidence`,
        `direct`, `expanded`: numbers of evidence turns in all, found directly, found only by
        expansion; `gate_open`, `gate_rule`; `counted`: answered and not excluded by the answer key.
        With `trace` also the record's trace, a dictionary of some 1,000 characters.
        """
        pricing = pricing_of(self.manifest)

        def row(record: Record) -> dict[str, Any]:
            evidence, parts = record["evidence_found"], cast(Mapping[str, Any], record["trace"])
            gate = parts.get("gate") or {}
            return {
                **{name: record.get(name) for name in _COLUMNS},
                **record["scores"],
                **{f"{phase}_ms": ms for phase, ms in record["latency_ms"].items()},
                "cost_usd": of_records([record], SYSTEM, pricing),
                "retrieved": record["retrieved"] and [row[0] for row in record["retrieved"]],
                "evidence": len(set(record["evidence"])),
                "direct": evidence and len(set(evidence["direct"])),
                "expanded": evidence and len(set(evidence["expanded"]) - set(evidence["direct"])),
                "gate_open": gate.get("open"),
                "gate_rule": gate.get("rule"),
                **({"trace": record["trace"]} if trace else {}),
                "counted": record["status"] == "ok" and not left_out(record),
            }

        frame = pd.DataFrame([row(record) for record in self.records.values()])
        return frame.assign(run=self.label)

    def table(self, *, every: bool = False) -> pd.DataFrame:
        """Return one row per question type that has questions: the main scores, context tokens,
        dollars of a question and p95 latencies, as far as the run has them. `every`: all columns of
        the summary's cells, each interval as `<score>_low` and `<score>_high`.
        """
        rows = []
        for name, cell in self.summary["by_type"].items():
            if cell["n"]:
                flat = {key: value for key, value in cell.items() if not key.endswith("_ci")}
                for key in (key for key in cell if key not in flat):
                    low, high = cell[key] or (None, None)
                    flat |= {f"{key[:-3]}_low": low, f"{key[:-3]}_high": high}
                rows.append({"run": self.label, "type": name, **flat})
        frame = pd.DataFrame(rows)
        if every:
            return frame
        own = [name for name in self.summary["metrics"] if name not in columns()]
        shown = [name for name in (*_TABLE, *own) if name in frame and frame[name].notna().any()]
        return frame[shown]

    def plot(self, score: str = "f1") -> Axes:
        """Draw a score by question type as bars with 95% intervals; see the function `plot`."""
        return plot(self.table(every=True), score)


def run(*overrides: str, quiet: bool = False) -> LoadedRun:
    """Run one experiment as `python -m eval.run OVERRIDES` does, and return it. `quiet`: print
    nothing, neither tables nor warnings; the run folder has them.

    Writes the same run folder under results/runs. Raises InputError on an unusable setting, and
    KeyboardInterrupt after the run was marked as interrupted; `resume=last` or
    `resume=<run_id>` resumes it.
    """
    if quiet:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            return run(*overrides)
    check_flags(overrides)
    with configuration_errors(), ordered(overrides) as order:
        folder = order.folder
        resume = None if order.config.resume is None else folder.name
        claim(folder)
        try:
            execute(order, folder, resume)
        except (HydraException, InputError):
            discard_if_empty(folder)
            raise
    return load(folder)


def load(name: Path | str) -> LoadedRun:
    """Load the finished run of a folder or of an id under results/runs; see load_run."""
    (loaded_run,) = load_runs([name])
    return loaded_run


def load_runs(names: Sequence[Path | str]) -> list[LoadedRun]:
    """Load finished runs, in order, each with a unique label; see records.run.load_runs."""
    return [
        LoadedRun(source.label, source.folder, source.manifest, source.records)
        for source in run_folders.load_runs(names)
    ]


def load_all(folder: Path | str = RUNS) -> list[LoadedRun]:
    """Load the newest complete run of each configuration under `folder`, in order of their start.

    If there are runs on LoCoMo, only these are loaded. Raises InputError if there is no complete
    run.
    """
    rows = []
    for path in Path(folder).expanduser().rglob(MANIFEST):
        manifest = load_manifest(path.parent)
        if manifest["status"] == "complete" and manifest.get("kind") != "imported":
            key = manifest["config_sha256"]
            rows.append((manifest["dataset"] == "locomo", manifest["started"], path.parent, key))
    newest: dict[str, Path] = {}
    for of_locomo, _, path, key in sorted(rows):
        if of_locomo == max(rows)[0]:
            newest.pop(key, None)  # inserted again as the last
            newest[key] = path
    if not newest:
        raise InputError(f"{folder}: holds no complete run; make some by api.run")
    return load_runs(list(newest.values()))


def table(name: str) -> pd.DataFrame:
    """Return a table of the shipped results: NAME.csv of results/tables, which docs/findings.md
    describes, or of results, such as `leaderboard/scores`.

    Where runs are named by their settings, each setting has a column, such as `strategy` or
    `dataset`. Raises InputError on an unknown name.
    """
    paths = {path.stem: path for path in (_RESULTS / "tables").glob("*.csv")}
    paths |= {f"leaderboard/{path.stem}": path for path in (_RESULTS / "leaderboard").glob("*.csv")}
    check_choice("table", name, sorted(paths))
    read = pd.read_csv(paths[name])
    settings = read["run"].str.extractall(_SETTING) if "run" in read else pd.DataFrame()
    for setting, rows in settings.groupby("name", sort=False) if len(settings) else ():
        values = rows["value"].droplevel("match")
        numbers = pd.to_numeric(values, errors="coerce")
        read[str(setting)] = values if numbers.isna().any() else numbers
    return read


def scores(table: pd.DataFrame, names: Sequence[str], by: str | list[str] = "run") -> pd.DataFrame:
    """Return n and the columns `names` of a table, each with the ends of its interval beside it, if
    they have its name (`f1_low`, `f1_high`); a row for each value of the column or columns `by`.

    `table`: see tables, means, compare and table.
    """
    named = [each for name in names for each in (name, f"{name}_low", f"{name}_high")]
    return table.set_index(by)[[column for column in ("n", *named) if column in table]]


def compare(runs: Sequence[run_folders.Run], scores: Sequence[str] = ()) -> pd.DataFrame:
    """Compare every run with the first, paired by question: the rows of `memsys compare --out` but
    those of the first run, whose mean is `reference_mean`, without columns that have no value.

    `scores`: as its --score. Raises InputError if the runs may not be compared.
    """
    contrasts = compared(runs, scores, None)
    if contrasts.against:
        raise InputError("; ".join(contrasts.against))
    rows = pd.read_csv(io.StringIO(comma_separated(contrasts.tables(seed=0), runs)))
    is_first = rows["run"] == rows["reference"]
    rows["reference_mean"] = rows["mean"].where(is_first).ffill()
    return rows[~is_first].dropna(axis="columns", how="all").reset_index(drop=True)


def frames(runs: Sequence[LoadedRun], *, trace: bool = False) -> pd.DataFrame:
    """Return the rows of all runs, see LoadedRun.frame, with the column `run`."""
    return pd.concat([loaded.frame(trace=trace) for loaded in runs], ignore_index=True)


def tables(runs: Sequence[LoadedRun], *, every: bool = False) -> pd.DataFrame:
    """Return the summary rows of all runs, see LoadedRun.table, with the column `run`."""
    return pd.concat([loaded.table(every=every) for loaded in runs], ignore_index=True)


def means(
    frame: pd.DataFrame, column: str, by: Sequence[str], *, bounded: bool = True
) -> pd.DataFrame:
    """Return n, mean, low and high (its 95% interval, see eval.metrics.stats) of `column` in
    the counted rows of a frame.

    One row for each combination of the columns `by`, in order of appearance; with `type` among
    them also `overall`, types 1 to 4. `bounded`: clip intervals to 0 to 1.
    """
    counted = frame[frame["counted"]]
    if "type" in by:
        answered = counted[counted["category"] != ADVERSARIAL]
        counted = pd.concat([counted, answered.assign(type=OVERALL)])
    rows = []
    for key, group in counted.groupby(list(by), sort=False):
        values = [None if pd.isna(value) else float(value) for value in group[column]]
        sample = Sample(values, group["conversation"].tolist(), 0)
        mean = sample.score() if bounded else sample.mean()
        if mean is not None:
            named: Mapping[str, Any] = dict(zip(by, key, strict=True))
            rows.append(
                {**named, "n": mean.n, "mean": mean.value, "low": mean.low, "high": mean.high}
            )
    return pd.DataFrame(rows, columns=[*by, "n", "mean", "low", "high"])


def texts(table: pd.DataFrame, score: str = "mean", form: str = ".3f") -> pd.Series:
    """Return each row's `score` with its interval as text ("0.250 [0.200, 0.300]"), "-" if unknown.

    `table`: see tables, means and compare; `form`: format of each number.
    """
    ends = table[[score, *plots.ends(table, score)]].itertuples(index=False)
    return pd.Series(
        [
            "-" if pd.isna(v) else f"{v:{form}} [{low:{form}}, {high:{form}}]"
            for v, low, high in ends
        ],
        table.index,
        dtype=object,
    )


def __dir__() -> list[str]:
    return [*__all__]

"""Run folders as data frames, for notebooks and for programs of one's own.

eval.api_figures has means and differences of them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from eval.compare.runs import load_runs as load_labelled
from eval.diagnose.runs import load_run as load_finished
from eval.pricing.prices import SYSTEM, of_records, pricing_of
from eval.records.answer_key_views import left_out
from eval.records.jsonl import MANIFEST, SUMMARY, Record
from eval.records.manifest import load_manifest
from memsys.errors import InputError
from memsys.llm.pricing import Pricing

_AS_THEY_ARE = (
    *("id", "conversation", "category", "type", "question", "gold", "answer", "status"),
    *("abstained", "k", "context_tokens", "answer_tokens", "latency_source", "trace"),
)


class Loaded(NamedTuple):
    """A finished run; `records` has a row a question, see `load_run`."""

    manifest: Mapping[str, Any]
    summary: Mapping[str, Any]
    records: pd.DataFrame


def load_run(folder: Path | str) -> Loaded:
    """The finished run of `folder`.

    Columns of its records: those of docs/records.md that hold one value; every score by its own
    name (`locomo_f1`, `evidence_recall`, ...); `retrieve_ms`, `answer_ms`, `total_ms`; `cost_usd`
    of the system; `evidence`, `direct`, `expanded`: how many evidence turns there are, came
    directly, came only by expansion; `gate_open`, `gate_rule`; and `counted`: answered, and not
    left out by the answer key. Unknown is None or NaN. Raises InputError as eval.diagnose does.
    """
    run = load_finished(str(folder))
    path = Path(folder) / SUMMARY
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(
            f"{path}: cannot be read ({error}); make it by python -m eval.rescore {folder}"
        ) from error
    pricing = pricing_of(run.manifest)
    rows = [_row(record, pricing) for record in run.records.values()]
    return Loaded(run.manifest, summary, pd.DataFrame(rows))


def load_runs(folders: Sequence[Path | str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Records and summary cells of two or more runs, each with a column `run` that names it.

    Names are those of eval.compare. A cell's intervals are `<score>_low` and `<score>_high`.
    """
    records, cells = [], []
    labels = [run.label for run in load_labelled([str(folder) for folder in folders])]
    for label, folder in zip(labels, folders, strict=True):
        run = load_run(folder)
        records.append(run.records.assign(run=label))
        cells += [{"run": label, "type": name} | _flat(cell) for name, cell in _cells(run)]
    return pd.concat(records, ignore_index=True), pd.DataFrame(cells)


def find_runs(root: Path | str) -> list[Path]:
    """The newest complete run of each configuration under `root`, in the order of their start.

    Of LoCoMo alone, where there is one. Raises InputError without any.
    """
    found = []
    for path in Path(root).expanduser().rglob(MANIFEST):
        manifest = load_manifest(path.parent)
        if manifest["status"] == "complete" and manifest.get("kind") != "imported":
            found.append((manifest["dataset"] == "locomo", manifest["started"], path.parent))
    newest: dict[str, Path] = {}
    for of_locomo, _, folder in sorted(found):
        if of_locomo == max(found)[0]:
            sha = load_manifest(folder)["config_sha256"]
            newest.pop(sha, None)  # to be put last
            newest[sha] = folder
    if not newest:
        raise InputError(f"{root}: holds no complete run; make some by python -m eval.run")
    return list(newest.values())


def _cells(run: Loaded) -> list[tuple[str, Mapping[str, Any]]]:
    return [(name, cell) for name, cell in run.summary["by_type"].items() if cell["n"]]


def _flat(cell: Mapping[str, Any]) -> dict[str, Any]:
    flat = {name: value for name, value in cell.items() if not name.endswith("_ci")}
    for name, value in cell.items():
        if name.endswith("_ci"):
            low, high = value or (None, None)
            flat |= {f"{name[:-3]}_low": low, f"{name[:-3]}_high": high}
    return flat


def _row(record: Record, pricing: Pricing) -> dict[str, Any]:
    found = record["evidence_found"]
    direct = None if found is None else set(found["direct"])
    gate = (record["trace"] or {}).get("gate") or {}
    return {
        **{name: record.get(name) for name in _AS_THEY_ARE},
        **record["scores"],
        **{f"{phase}_ms": record["latency_ms"].get(phase) for phase in record["latency_ms"]},
        "cost_usd": of_records([record], SYSTEM, pricing),
        "evidence": len(set(record["evidence"])),
        "direct": None if direct is None else len(direct),
        "expanded": None if direct is None else len(set(found["expanded"]) - direct),
        "gate_open": gate.get("open"),
        "gate_rule": gate.get("rule"),
        "counted": record["status"] == "ok" and not left_out(record),
    }

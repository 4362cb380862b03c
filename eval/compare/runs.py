"""Finished runs as a comparison needs them: found, read, named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eval.records.finished import find_folder, load_checked, load_records
from eval.records.jsonl import Record
from memsys.errors import InputError

_NEEDED = {"id", "conversation", "category", "type", "question", "status", "abstained", "scores"}
_TOLD = 2  # differing settings that a label may list


@dataclass(frozen=True, slots=True)
class Run:
    """One run. `label` names it in tables, and no other; `records` are by question id, in order."""

    label: str
    folder: Path
    manifest: Mapping[str, Any]
    records: Mapping[str, Record]


def load_runs(names: Sequence[str]) -> list[Run]:
    """The runs of two or more folders or ids under results/runs, in order.

    Raises InputError if one cannot be read, is there twice, or was written by another version.
    """
    if len(names) < 2:
        raise InputError("RUN: one run; name two or more to compare")
    folders = [find_folder(name) for name in names]
    for name, count in Counter(folder.resolve() for folder in folders).items():
        if count > 1:
            raise InputError(f"{name}: named {count} times; a run is compared with other runs")
    manifests = [load_checked(folder) for folder in folders]
    labels = _labels(folders, manifests)
    return [
        Run(label, folder, manifest, load_records(folder, _NEEDED))
        for label, folder, manifest in zip(labels, folders, manifests, strict=True)
    ]


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """Top-level settings (`strategy`, `k`, ...) in which two manifests' configurations differ."""
    first, second = one["config"], other["config"]
    return [key for key in {**first, **second} if first.get(key) != second.get(key)]


def _labels(folders: Sequence[Path], manifests: Sequence[Mapping[str, Any]]) -> list[str]:
    """Strategy, with the settings that tell runs of one strategy apart; else folder, else path."""
    labels = [_label(manifest, manifests) for manifest in manifests]
    for finer in ([folder.name for folder in folders], [str(folder) for folder in folders]):
        seen = Counter(labels)
        labels = [
            other if seen[label] > 1 else label for label, other in zip(labels, finer, strict=True)
        ]
    return labels


def _label(manifest: Mapping[str, Any], manifests: Sequence[Mapping[str, Any]]) -> str:
    alike = [dict(_leaves(m["config"])) for m in manifests if m["strategy"] == manifest["strategy"]]
    own = dict(_leaves(manifest["config"]))
    told: dict[str, Any] = {}  # `strategy.k` says no more than the `k` it was made from
    for path in sorted(own, key=lambda path: path.count(".")):
        if any(other.get(path) != own[path] for other in alike):
            told.setdefault(path.rpartition(".")[2], own[path])
    strategy = str(manifest["strategy"])
    if not told or len(told) > _TOLD:
        return strategy
    return " ".join([strategy, *(f"{name}={value}" for name, value in told.items())])


def _leaves(config: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in config.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, f"{path}{key}.")
        elif not key.startswith("_"):
            yield f"{path}{key}", value

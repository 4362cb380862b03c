"""`python -m eval.studies.growth`: from runs of any kind to tables and a picture."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.exchange.merge.__main__ import main as merge
from eval.studies.growth.__main__ import main
from memsys.strategies.strategy import Strategy
from tests.eval.commands import Run, runs_in, small_sample
from tests.eval.factory import FILE, error, ingest_line, record, write_rankings, write_run

NAMES = ("ash", "beech", "cedar", "dogwood", "elm")
GROWN = "eval.datasets.grown.Grown"
TIMED = ("retrieve_ms_p50", "retrieve_ms_p95", "ingestion_s")


def rows(folder: Path, name: str = "growth") -> dict[tuple[str, ...], dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    return {(one["strategy"], one["unrelated"], one["measure"]): one for one in lines}


def study(folder: Path, *runs: Path, options: tuple[str, ...] = ()) -> int:
    places = ("--out", str(folder), "--pictures", str(folder))
    return main([*map(str, runs), *places, *options])


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    """A run in which `found` of the four questions of each conversation find their evidence."""

    def make(name: str, unrelated: int, found: int, **fields: Any) -> Path:
        asked = [f"{one}/{i}" for one in NAMES for i in range(4)]
        lines = [record(id_, evidence=["D1:1"]) for id_ in asked]
        lines += [record(f"{one}/9", 5, evidence=["D1:1"]) for one in NAMES]
        size = {"memories": 100 * 2**unrelated, "bytes": 3_000_000}
        steps = [
            one
            for name in NAMES
            for one in (
                ingest_line(name, latency_ms=1500.0, memories=100 * 2**unrelated),
                ingest_line(name, None, latency_ms=500.0, memories=0, store=size),
            )
        ]
        config = {
            "strategy": {"name": name},
            "dataset": {"_target_": GROWN, "of": "small", "unrelated": unrelated, "seed": 0},
        } | fields.pop("config", {})
        run = tmp_path / f"{name}-{unrelated}-{len(list(tmp_path.iterdir()))}"
        write_run(run, lines, name, steps, **{"config": config, **fields})
        other = [f"D9:{i}" for i in range(12)]
        ranked = {id_: (["D1:1", *other] if int(id_[-1]) < found else other) for id_ in asked}
        return write_rankings(run, ranked | {f"{one}/9": other for one in NAMES})

    return make


def test_a_half_life_is_that_of_the_runs(made, tmp_path, capsys):
    runs = [made("plain", 0, 4), made("plain", 1, 2), made("plain", 2, 1)]
    runs += [made("same", 0, 3), made("same", 2, 3)]
    out = tmp_path / "out"
    assert study(out, *reversed(runs)) == 0
    found = rows(out)
    assert float(found["plain", "2", "half_life_doublings"]["value"]) == pytest.approx(1, abs=1e-3)
    assert ("same", "2", "half_life_doublings") not in found
    assert float(found["same", "2", "recall"]["value"]) == 0.75
    recall = found["plain", "1", "recall"]
    assert (recall["value"], recall["n"], recall["conversations"]) == ("0.5", "20", "5")
    assert float(found["plain", "2", "ingestion_s"]["value"]) == 2.0
    assert float(found["plain", "2", "memories"]["value"]) == 400
    text = capsys.readouterr().out
    assert "| 2.0 | 0.0% [0.0%, 0.0%] | not reached | 0.00 |" in text
    assert "| 2.0 | 50.0% [50.0%, 50.0%] | 1.0 [1.0, 1.0] | 0.00 |" in text
    assert "| plain | 2 | 400 | 0.25 [0.25, 0.25] |" in text
    assert "intervals over conversations" in text
    assert (out / "growth.png").read_bytes().startswith(b"\x89PNG")
    assert "<svg" in (out / "growth.svg").read_text(encoding="utf-8")
    # the largest stores may be left out
    assert study(out, *runs, options=("--largest", "1")) == 0
    assert {key[1] for key in rows(out)} == {"0", "1"}


def test_questions_that_failed_are_counted_where_they_failed(made, tmp_path, capsys):
    runs = [made("plain", 0, 4), made("plain", 1, 4), made("same", 0, 3), made("same", 1, 3)]
    path = runs[1] / "records.jsonl"
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    failed = [one | error() if one["conversation"] == "ash" else one for one in lines]
    path.write_text("".join(json.dumps(one) + "\n" for one in failed), encoding="utf-8")
    out = tmp_path / "out"
    assert study(out, *runs) == 0
    found = {key[:2]: row["value"] for key, row in rows(out).items() if key[2] == "errors"}
    assert found == {
        ("plain", "0"): "0",
        ("plain", "1"): "4",
        ("same", "0"): "0",
        ("same", "1"): "0",
    }
    ends = [
        (line.split(" | ")[0], line.split(" | ")[-2:])
        for line in capsys.readouterr().out.splitlines()
        if line.startswith(("| plain", "| same"))
    ]
    half_lives, sizes = ends[:2], ends[2:]
    assert half_lives == [("| plain", ["16", "4 |"]), ("| same", ["20", "0 |"])]
    assert [end for _, end in sizes] == [["16", "0 |"], ["16", "4 |"], *[["20", "0 |"]] * 2]


def test_runs_that_do_not_belong_together_are_refused_in_one_line(made, tmp_path, capsys):
    first, other = made("plain", 0, 4), made("plain", 1, 4)
    lines = (other / "records.jsonl").read_text().splitlines()
    (other / "records.jsonl").write_text("\n".join(lines[1:]) + "\n")
    locomo = {"config": {"dataset": {"_target_": "eval.datasets.locomo.LoCoMo"}}}
    for second, said in (
        (made("plain", 1, 4, data=[FILE | {"sha256": "6" * 64}]), "are on different data"),
        (made("plain", 1, 4, config={"k": 3}), "in k; only strategy and dataset.unrelated may"),
        (made("plain", 1, 4, **locomo), "dataset=grown"),
        (other, "asked different questions"),
        (made("plain", 0, 4), "both of plain with 0 unrelated sessions; name one"),
    ):
        assert study(tmp_path / "out", first, second) == 2
        (line,) = capsys.readouterr().err.splitlines()
        assert said in line
    assert study(tmp_path / "out", first, options=("--largest", "-1")) == 2
    assert "--largest: -1" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.fixture
def data(tmp_path: Path) -> tuple[str, ...]:
    path = tmp_path / "small.json"
    path.write_text(json.dumps([small_sample(name) for name in NAMES]))
    chosen = ("dataset=grown", f"dataset.of={path}", "reader=none", "strategy=bm25", "k=2")
    return (*chosen, "dataset.sample=4")


def untimed(folder: Path) -> dict[tuple[str, ...], dict[str, str]]:
    return {key: row for key, row in rows(folder).items() if key[2] not in TIMED}


def test_parts_merge_and_a_stopped_run_resumes_to_the_same_figures(
    start, data, tmp_path, monkeypatch
):
    assert start("-m", *data, "dataset.unrelated=0,12").code == 0
    whole = runs_in(tmp_path)
    assert study(tmp_path / "whole", *(one.folder for one in whole)) == 0

    halves = "dataset.conversations=[cedar,ash],[beech,elm,dogwood]"
    assert start("-m", *data, "dataset.unrelated=12", halves).code == 0
    parts = [str(one.folder) for one in runs_in(tmp_path) if one not in whole]
    assert merge([*parts, "--out", str(tmp_path / "merged")]) == 0
    assert study(tmp_path / "of_parts", whole[0].folder, tmp_path / "merged") == 0
    assert untimed(tmp_path / "of_parts") == untimed(tmp_path / "whole")

    stopped = tmp_path / "stopped"
    command = (*data, "dataset.unrelated=12", f"hydra.run.dir={stopped}")
    retrieve, calls = Strategy.retrieve, iter(range(8))

    def interrupted(self: Strategy, query: Any) -> Any:
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return retrieve(self, query)

    with monkeypatch.context() as patch:
        patch.setattr(Strategy, "retrieve", interrupted)
        assert start(*command).code == 130
    assert 0 < len(Run(stopped).records) < 20
    assert study(tmp_path / "early", whole[0].folder, stopped) == 2
    assert start(*command, f"resume={stopped}").code == 0
    assert study(tmp_path / "resumed", whole[0].folder, stopped) == 0
    assert untimed(tmp_path / "resumed") == untimed(tmp_path / "whole")
    # invalid parameters
    ended = start(*data, "dataset.unrelated=-1")
    assert ended.code == 2
    assert "dataset.unrelated: -1; use a whole number of 0 or more" in ended.err

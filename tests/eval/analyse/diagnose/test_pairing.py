"""Which runs may stand beside which, and why others may not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.analyse.diagnose.pairing import memory_ids, pair_with_direct, pair_with_expanded
from eval.records.run import Run
from memsys.core.errors import InputError
from tests.eval.analyse.diagnose.made_runs import FILE, expanded, gated, imported, made_run, record
from tests.eval.factory import error

DIRECT = [record("a/1", "a", "axy"), record("a/2", "b", "xyz")]
ALWAYS = [expanded("a/1", "a", "ax", "p"), expanded("a/2", "b", "xy", "b")]
GATED = [gated("a/1", "a", "axy"), gated("a/2", "b", "xy", "b", rule="similarity")]
EXCLUDED = {"kind": "excluded", "error_type": "X", "original_gold": "gold"}
Make = Callable[..., Run]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    def call(rows: list[dict], strategy: str, **more: Any) -> Run:
        folder = tmp_path / f"{strategy}{len(list(tmp_path.iterdir()))}"
        return made_run(folder, rows, strategy, **more)

    return call


def change(rows: list[dict], **fields: Any) -> list[dict]:
    """The rows with fields of the second replaced."""
    return [rows[0], rows[1] | fields]


def test_counterparts_are_paired_by_question(make):
    run, direct = make(GATED, "hybrid_gate"), make(DIRECT[::-1], "vector_only")
    pairs = pair_with_direct(run, direct)
    assert [(mine["id"], theirs["id"]) for mine, theirs in pairs] == [
        *(("a/1", "a/1"), ("a/2", "a/2"))
    ]
    assert pairs[1][0]["trace"]
    assert not pairs[1][1]["trace"]
    always = pair_with_expanded(run, make(ALWAYS, "graph_expand"))
    assert [theirs["trace"].keys() for _, theirs in always] == [{"expansion"}, {"expansion"}]
    assert memory_ids(ALWAYS[0]) == {"ma", "mx", "mp"}
    assert memory_ids(ALWAYS[0], "direct") == {"ma", "mx"}
    assert memory_ids(ALWAYS[0], "expanded") == {"mp"}


def test_what_failed_or_is_left_out_is_in_no_pair(make):
    failed = error() | {"retrieved": []}
    run = make(ALWAYS, "graph_expand")
    assert len(pair_with_direct(run, make(change(DIRECT, **failed), "vector_only"))) == 1
    left_out = {"key": EXCLUDED, "scores": {}}
    run = make(change(ALWAYS, **left_out), "graph_expand")
    assert len(pair_with_direct(run, make(DIRECT, "vector_only"))) == 1
    with pytest.raises(InputError, match="no question was answered in"):
        pair_with_direct(run, make([DIRECT[0] | failed, DIRECT[1]], "vector_only"))


def test_reader_scoring_and_key_may_differ(make):
    run = make(ALWAYS, "graph_expand")
    # a budget that passed one memory over may have taken another
    short = change(DIRECT, **record("a/2", "b", "xz"))
    assert len(pair_with_direct(run, make(short, "vector_only"))) == 2
    other = {"config": {"reader": "llm"}, "scoring": ["strict"]}
    corrected = change(DIRECT, gold="another", key=EXCLUDED | {"kind": "corrected"})
    assert len(pair_with_direct(run, make(corrected, "vector_only", **other))) == 2


@pytest.mark.parametrize(
    ("rows", "more", "told"),
    [
        (DIRECT, {"data": [FILE | {"sha256": "6" * 64}]}, "differs from .* in data"),
        (DIRECT[:1], {}, r"differs from .* in 1 questions .*the first: a/2"),
        (change(DIRECT, question="Else?"), {}, "in 1 questions"),
        (change(DIRECT, evidence=["x"]), {}, "in 1 questions"),
        (DIRECT, {"config": {"memory": {"name": "windows"}}}, "differs from .* in memory.name"),
        (DIRECT, {"config": {"k": 4}}, "differs from .* in k; run both"),
        (DIRECT, {"config": {"strategy": {"k": 4}}}, "differs from .* in strategy.k"),
        (ALWAYS, {}, r"expands as well \(the first: a/1\)"),
        (change(DIRECT, **record("a/2", "b", "xzw")), {}, "found other memories .*first: a/2"),
        ([record("a/1", "a", "a"), record("a/2", "b")], {"config": {"strategy": {}}}, "first: a/1"),
        ([imported(row) for row in DIRECT], {}, "imported answers do not include"),
    ],
)
def test_another_direct_run_is_refused(make, rows, more, told):
    with pytest.raises(InputError, match=f"^--direct .*{told}"):
        pair_with_direct(make(ALWAYS, "graph_expand"), make(rows, "vector_only", **more))


def test_another_graph_or_another_kept_memory_is_refused_for_the_gate_alone(make):
    strange = [gated("a/1", "a", "ax"), GATED[1]]  # a subset, but nothing was added
    with pytest.raises(InputError, match=r"found other memories directly .*first: a/1"):
        pair_with_direct(make(strange, "hybrid_gate"), make(DIRECT, "vector_only"))
    run, graph = make(GATED, "hybrid_gate"), {"config": {"graph": {"name": "llm"}}}
    assert len(pair_with_direct(run, make(DIRECT, "vector_only", **graph))) == 2
    with pytest.raises(InputError, match=r"differs from .* in graph\.name"):
        pair_with_expanded(run, make(ALWAYS, "graph_expand", **graph))


def test_another_expanded_run_is_refused_and_a_run_without_a_trace(make):
    run, direct, always = (
        make(GATED, "hybrid_gate"),
        make(DIRECT, "vector_only"),
        make(ALWAYS, "graph_expand"),
    )
    other = make(change(ALWAYS, **expanded("a/2", "b", "xy", "q")), "other")
    for beside, told in (
        (direct, "does not always expand"),
        (run, "does not always expand"),
        (other, "retrieved other memories .*first: a/2"),
    ):
        with pytest.raises(InputError, match=f"^--expanded .*{told}"):
            pair_with_expanded(run, beside)
    with pytest.raises(InputError, match=r"have no trace\.expansion"):
        pair_with_direct(direct, direct)
    with pytest.raises(InputError, match=r"have no trace\.gate"):
        pair_with_expanded(always, always)

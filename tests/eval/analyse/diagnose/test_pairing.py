"""Which runs may stand beside which, and why others may not."""

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
    assert [[one["id"] for one in pair] for pair in pairs] == [["a/1"] * 2, ["a/2"] * 2]
    assert [bool(one["trace"]) for one in pairs[1]] == [True, False]
    always = pair_with_expanded(run, make(ALWAYS, "graph_expand"))
    assert [theirs["trace"].keys() for _, theirs in always] == [{"expansion"}, {"expansion"}]
    found = [memory_ids(ALWAYS[0], *how) for how in ((), ("direct",), ("expanded",))]
    assert found == [{"ma", "mx", "mp"}, {"ma", "mx"}, {"mp"}]


def test_what_failed_or_is_left_out_is_in_no_pair(make):
    failed = error() | {"retrieved": []}
    left_out = change(ALWAYS, key=EXCLUDED, scores={})
    for rows, others in ((ALWAYS, change(DIRECT, **failed)), (left_out, DIRECT)):
        pairs = pair_with_direct(make(rows, "graph_expand"), make(others, "vector_only"))
        assert len(pairs) == 1
    none = make([DIRECT[0] | failed, DIRECT[1]], "vector_only")
    with pytest.raises(InputError, match="no question was answered in"):
        pair_with_direct(make(left_out, "graph_expand"), none)


def test_reader_scoring_and_key_may_differ(make):
    # a budget that passed one memory over may have taken another
    short = change(DIRECT, **record("a/2", "b", "xz"))
    other = {"config": {"reader": "llm"}, "scoring": ["strict"]}
    corrected = change(DIRECT, gold="another", key=EXCLUDED | {"kind": "corrected"})
    for rows, more in ((short, {}), (corrected, other)):
        beside = make(rows, "vector_only", **more)
        assert len(pair_with_direct(make(ALWAYS, "graph_expand"), beside)) == 2


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
    run, direct = make(GATED, "hybrid_gate"), make(DIRECT, "vector_only")
    always = make(ALWAYS, "graph_expand")
    other = make(change(ALWAYS, **expanded("a/2", "b", "xy", "q")), "other")
    for pair, one, beside, told in (
        (pair_with_expanded, run, direct, "^--expanded .*does not always expand"),
        (pair_with_expanded, run, run, "^--expanded .*does not always expand"),
        (pair_with_expanded, run, other, "^--expanded .*other memories .*first: a/2"),
        (pair_with_direct, direct, direct, r"have no trace\.expansion"),
        (pair_with_expanded, always, always, r"have no trace\.gate"),
    ):
        with pytest.raises(InputError, match=told):
            pair(one, beside)

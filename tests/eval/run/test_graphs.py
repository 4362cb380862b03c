"""Runs over the graphs that rules make."""

from __future__ import annotations

import pytest

from tests.eval.commands import runs_in


@pytest.mark.parametrize("strategy", ["graph_walk", "graph_expand"])
def test_every_kind_of_node_serves_the_walk_and_the_expansion(strategy, start, small, tmp_path):
    sizes = {}
    for graph in ("titles", "everything"):
        ended = start(f"strategy={strategy}", f"graph={graph}", "reader=none", *small)
        assert ended.code == 0, ended.err
        run = next(one for one in runs_in(tmp_path) if one.manifest["choices"]["graph"] == graph)
        sizes[graph] = run.ingests[-1]["store"]["edges"]
    assert sizes["everything"] > sizes["titles"] > 0

"""The stores are measured in one run; a server that is not there ends it as wrong input."""

import socket

from eval.studies.bench_stores import main

SMALL = ["--nodes=30", "--relations=40", "--dimension=8", "--questions=3"]


def test_prints_a_line_for_each_store(capsys):
    assert main(SMALL) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "two owners, each 30 x 8, 40 relations; medians of 3 questions" in lines
    for name in ("faiss", "faiss, path", "qdrant_edge", "networkx", "networkx, path"):
        assert any(line.startswith(f"{name}  ") for line in lines), name
    (own,) = [line for line in lines if line.startswith("faiss  ")]
    assert own.split()[-1] == "1.0"  # against itself


def test_no_server_there(capsys, monkeypatch):
    monkeypatch.setenv("NEO4J_PASSWORD", "any")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"bolt://127.0.0.1:{taken.getsockname()[1]}"
        assert main([*SMALL, f"--bolt={url}"]) == 2
    assert f"relation_store.url={url}" in capsys.readouterr().err

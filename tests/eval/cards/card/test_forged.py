"""A card whose numbers do not follow from its files is refused, whatever was changed in it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from eval.cards.card import __main__ as command
from eval.cards.card.schema import load_card
from memsys.core.errors import InputError
from tests.eval.cards.card.conftest import made_card, ranked_ids, rows_of, write_rows
from tests.eval.commands import Run

Json = dict[str, Any]
OTHER = "0" * 64


def of(card: Json, **fields: str) -> Json:
    """The first score of the card with these fields."""
    return next(s for s in card["scores"] if all(s.get(k) == v for k, v in fields.items()))


def entry(card: Json, role: str) -> Json:
    return next(file for file in card["files"] if file["role"] == role)


def forged(published: Path, folder: Path, forge: Callable[[Json], object]) -> Path:
    """The path of a copy of the published card that `forge` has changed."""
    card = json.loads((published / "card.json").read_text(encoding="utf-8"))
    forge(card)
    path = folder / "card.json"
    path.write_text(json.dumps(card), encoding="utf-8")
    return path


def more(score: Json, name: str) -> None:
    score[name] = round(score[name] + 0.000002, 6)


def add_row(card: Json) -> None:
    card["scores"].append(of(card, protocol="mem0", type="overall") | {"type": "cognitive"})


def without(**fields: str) -> Callable[[Json], None]:
    """Leave out the scores with these fields."""

    def forge(card: Json) -> None:
        scores = card["scores"]
        card["scores"] = [s for s in scores if any(s.get(k) != v for k, v in fields.items())]

    return forge


def as_reported(card: Json) -> None:
    score = of(card, measure="f1")
    score["mean"], score["reported"] = 0.99, True


def exchange_keys(card: Json) -> None:
    other = {"original": "excluded", "excluded": "original"}
    for score in card["scores"]:
        score["key"] = other.get(score["key"], score["key"])


FORGED: dict[str, tuple[Callable[[Json], object], str]] = {
    "mean": (lambda c: more(of(c, protocol="strict", measure="f1"), "mean"), "f1: mean: "),
    "no interval": (
        lambda c: [of(c, protocol="mem0", type="overall").pop(name) for name in ("low", "high")],
        "low: None on the card",
    ),
    "n": (lambda c: of(c, measure="f1").update(n=20), "f1: n: 20 on the card, 6 recomputed"),
    "judge": (lambda c: of(c, measure="judge").update(mean=0.9), "judge: mean: 0.9 on the card"),
    "added row": (add_row, "mem0 cognitive f1: on the card, and does not follow"),
    "reported": (as_reported, "reported: True on the card, False recomputed"),
    "left out type": (
        without(type="temporal", protocol="mem0"),
        "original mem0 temporal f1: left out of the card",
    ),
    "left out key": (without(key="excluded"), "excluded mem0 overall f1: left out of the card"),
    "data": (lambda c: entry(c, "data").update(sha256=OTHER), "data: small.json"),
    "no data": (lambda c: c["files"].remove(entry(c, "data")), "is not a file of the card"),
    "added data": (
        lambda c: c["files"].append(entry(c, "data") | {"sha256": OTHER}),
        "of the card is not what was read here",
    ),
    "answer key": (lambda c: entry(c, "key").update(sha256=OTHER), "key: errors.jsonl"),
    "other key": (lambda c: c["dataset"].update(key="excluded"), "left out of the card"),
    "exchanged keys": (exchange_keys, "on the card"),
    "answers' rows": (
        lambda c: entry(c, "answers").update(rows_sha256=OTHER),
        "answers: not those of the card",
    ),
    "no answers": (
        lambda c: c["files"].remove(entry(c, "answers")),
        "answers: the card names no file of answers",
    ),
    "matched": (lambda c: c["rows"].update(matched=20), "rows: matched: 20 on the card, 21"),
    "weights of nothing": (
        lambda c: c["files"].append(entry(c, "data") | {"role": "weights"}),
        "weights: small.json",
    ),
    "other counts": (lambda c: c["rows"].update(judged=3), "rows: judged: 3 on the card, None"),
    "fewer questions": (lambda c: c["dataset"].update(limit=2), "rows: questions: 21 on the card"),
}


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_card_is_refused(published, verified, tmp_path, name):
    forge, expected = FORGED[name]
    path = forged(published, tmp_path, forge)
    out = verified(path, "--answers", published / "answers.jsonl", code=1)
    assert expected in out
    assert ": differs: " in out


def test_imported_answers_are_not_accepted_as_a_run_of_this_project(published, verified, tmp_path):
    path = forged(published, tmp_path, lambda card: card.update(kind="run"))
    given = (path, "--answers", published / "answers.jsonl")
    expected = "kind: run on the card, which only its run folder shows"
    assert f"note: {expected}" in verified(*given)
    assert f"  {expected}" in verified(*given, "--complete", code=1)
    hidden = "\x9b2J\u202e"  # words of a card are printed without control characters
    path = forged(published, tmp_path, lambda card: card["scores"][0].update(type=hidden))
    out = verified(path, "--answers", published / "answers.jsonl", code=1)
    assert ("\\x9b2J\\u202e" in out, {*hidden} & {*out} <= {*"2J"}) == (True, True)


def test_a_pooled_store_on_a_card_is_no_crash(published, verified, keyed, tmp_path):
    rows = [row | {"sample_id": str(place)} for place, row in enumerate(rows_of(keyed["original"]))]
    answers = write_rows(tmp_path / "answers.jsonl", rows)
    path = forged(published, tmp_path, lambda card: card["dataset"].update(pooled=True))
    assert ": differs: " in verified(path, "--answers", answers, code=1)


@pytest.fixture
def own(keyed: dict[str, Run], tmp_path: Path) -> tuple[Run, Path, Json]:
    run, path = keyed["original"], tmp_path / "card.json"
    made_card(run.folder, path)
    return run, path, json.loads(path.read_text(encoding="utf-8"))


OF_RUN: dict[str, tuple[Callable[[Json], object], str]] = {
    "recall": (lambda c: more(of(c, measure="recall@10"), "mean"), "recall@10: mean: "),
    "left out mrr": (without(measure="mrr"), "mrr: left out of the card"),
    "left out rankings": (
        lambda c: (
            c["files"].remove(entry(c, "rankings")),
            [without(measure=name)(c) for name in ("recall@10", "ndcg@10", "mrr")],
        ),
        "recall@10: left out of the card",
    ),
    "rankings": (
        lambda c: entry(c, "rankings").update(rows_sha256=OTHER),
        "rankings: not those of the card",
    ),
    "configuration": (lambda c: c.update(config_sha256=OTHER), "config_sha256: 0000"),
    "system": (lambda c: c.update(system="graph_walk"), "system: graph_walk on the card, bm25"),
    "kind": (lambda c: c.update(kind="imported"), "kind: imported on the card, run of the run"),
    "weights": (
        lambda c: c["files"].append(entry(c, "data") | {"role": "weights"}),
        "weights: small.json",
    ),
}


@pytest.mark.parametrize("name", OF_RUN)
def test_a_forged_card_of_a_run_is_refused(own, verified, name):
    run, path, card = own
    forge, expected = OF_RUN[name]
    forge(card)
    path.write_text(json.dumps(card), encoding="utf-8")
    assert expected in verified(path, "--answers", run.folder, code=1)


def test_other_rankings_and_other_data_are_refused(own, verified, data, errors, tmp_path, said):
    run, path, _ = own
    other, copy = tmp_path / "ranked.json", tmp_path / "small.json"
    other.write_text(json.dumps({id_: ids[::-1] for id_, ids in ranked_ids(run).items()}))
    out = verified(path, "--answers", run.folder, "--rankings", other, code=1)
    assert "rankings: not those of the card" in out
    assert "ndcg@10: mean: " in out
    copy.write_bytes(data.read_bytes() + b"\n")
    given = ["--verify", path, "--answers", run.folder, "--dataset", copy, "--key-file", errors]
    assert "data: small.json (sha256 " in said(command.main, *given, code=1)


INVALID: dict[str, tuple[Callable[[Json], object], str]] = {
    "unknown field": (lambda c: c.update(rank=1), "rank: Extra inputs"),
    "a row twice": (lambda c: c["scores"].append(c["scores"][0]), "f1 occurs 2 times"),
    "two answers": (lambda c: c["files"].append(entry(c, "answers")), "several of answers"),
    "more digits": (lambda c: c["scores"][0].update(mean=0.1234567), "more than 6 digits"),
    "a number as text": (lambda c: c["scores"][0].update(mean="0.5"), "scores[0].mean"),
    "half an interval": (lambda c: c["scores"][0].pop("low"), "both ends, or none"),
    "no question": (lambda c: c["scores"][0].update(n=0), "scores[0].n"),
    "no scores": (lambda c: c.update(scores=[]), "scores: "),
    "version": (lambda c: c.update(version=2), "version 2 of score cards"),
    "hash": (lambda c: entry(c, "data").update(sha256="abc"), "sha256"),
    "no hash of rows": (lambda c: entry(c, "answers").pop("rows_sha256"), "have rows_sha256"),
    "a folder": (lambda c: entry(c, "data").update(name="/home/me/small.json"), "name"),
    "a path": (lambda c: c["dataset"].update(path="/etc/passwd"), "path outside of the project"),
    "a script": (lambda c: c.update(origin={"url": "javascript:alert(1)"}), "origin.url"),
    "too long": (lambda c: c.update(unknown=["x" * 900] * 20), "at most 20,000"),
    "a class": (lambda c: c["dataset"].update(_target_="os.system"), "is not trusted"),
}


@pytest.mark.parametrize("name", INVALID)
def test_an_invalid_card_is_refused_in_one_line(published, verified, tmp_path, name):
    forge, expected = INVALID[name]
    path = forged(published, tmp_path, forge)
    out = verified(path, "--answers", published / "answers.jsonl", code=2)
    assert (expected in out, out.count("\n")) == (True, 1), out


def test_no_number_and_a_field_twice_are_refused(published, tmp_path):
    text, path = (published / "card.json").read_text(encoding="utf-8"), tmp_path / "card.json"
    for new, says in (('"n":99,"n":', "occurs twice"), ('"n":NaN,"x":', "NaN|number")):
        path.write_text(text.replace('"n":', new, 1), encoding="utf-8")
        with pytest.raises(InputError, match=rf"card.json: .*({says})"):
            load_card(path)

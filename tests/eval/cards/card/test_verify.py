"""Cards verify from what they name: a run folder, its records, its rankings, published answers."""

import csv
import gzip
import json
from pathlib import Path

import pytest

from eval.cards.card import __main__ as command
from eval.cards.card.schema import Card, load_card
from eval.exchange.export import __main__ as export
from eval.metrics.protocols import PROTOCOLS
from eval.records.answer_key_views import left_out
from eval.records.run import load_run
from eval.summary.protocols import by_protocol
from tests.eval.cards.card.conftest import import_card, made_card, rows_of, write_rows
from tests.eval.commands import Run


@pytest.fixture(params=["plain", "original", "corrected", "excluded"])
def own(request: pytest.FixtureRequest, keyed: dict[str, Run], tmp_path: Path) -> tuple[Run, Path]:
    run, path = keyed[request.param], tmp_path / "card.json"
    made_card(run.folder, path)
    return run, path


def test_a_run_is_equal_to_its_card(own, verified, data):
    run, path = own
    capable = [str(path), "--answers", str(run.folder), "--dataset", str(data)]
    if run.manifest["key"]["overlay"] is None:
        assert command.main(["--verify", *capable]) == 0
        return
    out = verified(path, "--answers", run.folder)
    assert "cannot be recomputed" not in out
    count = _numbers(load_card(path))
    assert f"equal: {count} of {count} numbers equal" in out


def test_rankings_are_verified_where_they_are_given(own, data, errors, said, tmp_path):
    run, path = own
    records = tmp_path / "records.jsonl"
    records.write_bytes(run.files["records.jsonl"])
    listed = run.manifest["key"]["overlay"] is not None
    where = ["--dataset", str(data), *(["--key-file", str(errors)] if listed else [])]
    verify = ["--verify", str(path), "--answers", str(records), *where]
    trec = tmp_path / "trec"
    assert export.main([str(run.folder), "--to", "trec", "--out", str(trec)]) == 0
    assert "numbers cannot be recomputed: rankings are not given" in said(command.main, *verify)
    output = said(command.main, *verify, "--complete", code=1)
    assert "numbers are not verified: rankings are not given" in output
    out = said(command.main, *verify, "--rankings", trec / "run.trec")
    assert "cannot be recomputed" not in out
    assert "run.trec" in out
    assert "is another file with the same rows" in out
    jsonl = run.folder / "rankings.jsonl"
    assert "cannot be recomputed" not in said(command.main, *verify, "--rankings", jsonl)


def test_published_answers_verify_in_any_layout(published, verified, keyed, tmp_path):
    card, rows = published / "card.json", rows_of(keyed["original"])
    n = _numbers(load_card(card))
    output = verified(card, "--answers", published / "answers.jsonl")
    assert output == f"{card}: equal: {n} of {n} numbers equal\n"
    packed = tmp_path / "answers.jsonl.gz"
    packed.write_bytes(gzip.compress((published / "answers.jsonl").read_bytes()))
    table = tmp_path / "answers.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(reversed(rows))
    for answers in (packed, table, published / "run", published / "run" / "records.jsonl"):
        assert f"{n} of {n} numbers equal" in verified(card, "--answers", answers)


def test_verdicts_that_a_file_lacks_are_listed_as_such(published, verified, data, keyed, tmp_path):
    rows = [
        {name: row[name] for name in row if name not in ("judge", "context_tokens")}
        for row in rows_of(keyed["original"])
    ]
    bare = write_rows(tmp_path / "bare.jsonl", rows)
    out = verified(published / "card.json", "--answers", bare)
    assert "numbers cannot be recomputed: the answers given contain no judge" in out
    assert "numbers cannot be recomputed: the answers given contain no context_tokens" in out
    out = verified(published / "card.json", "--answers", bare, "--complete", code=1)
    assert "are not verified: the answers given contain no judge" in out
    # of the very file that the card names, they are refused
    path = import_card(bare, data)
    card, judged = (json.loads(one.read_text()) for one in (path, published / "card.json"))
    card["scores"].append(next(s for s in judged["scores"] if s["measure"] == "judge"))
    path.write_text(json.dumps(card))
    assert "judge: on the card, and does not follow" in verified(path, "--answers", bare, code=1)


def test_answers_are_read_as_they_were_for_the_card(published, data, keyed, tmp_path):
    names = {"answer": "out", "question": "asked", "judge": "ok", "sample_id": "who"}
    rows = [
        {names.get(name, name): value for name, value in row.items() if name != "qa_index"}
        | {"answer": "not this one"}
        for row in rows_of(keyed["plain"])
    ]
    answers = write_rows(tmp_path / "odd.jsonl", rows)
    columns = ("answer=out", "question=asked", "judge=ok", "conversation=who")
    layout = tmp_path / "odd.yaml"
    path = import_card(answers, data, "--columns", *columns, "--save-layout", str(layout))
    verify = ["--verify", str(path), "--dataset", str(data), "--answers"]
    assert command.main([*verify, str(answers)]) == 0
    other = write_rows(tmp_path / "other.jsonl", rows[::-1])
    assert command.main([*verify, str(other)]) != 0
    assert command.main([*verify, str(other), "--layout", str(layout)]) == 0


def test_several_cards_are_verified_with_their_answers(published, verified, keyed, tmp_path):
    one, other = published / "card.json", tmp_path / "other.json"
    made_card(keyed["corrected"].folder, other)
    answers = (published / "answers.jsonl", keyed["corrected"].folder)
    assert verified(one, other, "--answers", *answers).count(": equal: ") == 2
    out = verified(one, other, "--answers", *answers, answers[0], code=2)
    assert "--answers: 3 for 2 cards" in out


def test_means_and_intervals_are_those_of_the_summary(keyed, tmp_path):
    run = keyed["corrected"]
    card = made_card(run.folder, tmp_path / "card.json")
    assert card.key == "corrected"
    counted = [one for one in load_run(run.folder).records.values() if not left_out(one)]
    cells = by_protocol(counted, list(PROTOCOLS), 0)
    own = [score for score in card.scores if score.protocol and score.key == "corrected"]
    for score in own:
        cell = cells[str(score.protocol)]["by_type"][score.type]
        assert score.mean == round(cell[score.measure], 6)
        assert [score.low, score.high] == [round(end, 6) for end in cell[f"{score.measure}_ci"]]
    assert len(own) == sum(
        cell[measure] is not None
        for one in cells.values()
        for cell in one["by_type"].values()
        for measure in ("f1", "bleu1")
    )


def test_failed_questions_count_as_the_protocol_says(published, data, tmp_path, keyed):
    rows = rows_of(keyed["plain"])
    rows[0] |= {"error": "timeout", "answer": None}
    answers = write_rows(tmp_path / "failed.jsonl", rows)
    path = import_card(answers, data)
    card = load_card(path)
    counts = {"questions": 21, "matched": 21, "conversations": 3, "errors": 1}
    assert card.rows == {**counts, "rows": 21, "unmatched": 0}
    where = ["--answers", str(answers), "--dataset", str(data)]
    assert command.main(["--verify", str(path), *where]) == 0
    rows[0] |= {"error": None, "answer": ""}
    write_rows(answers, rows)
    assert command.main(["--verify", str(path), *where]) == 1


@pytest.mark.usefixtures("no_corrections")
def test_scores_under_a_key_that_is_not_here_are_listed_as_such(published, verified):
    verify = (published / "card.json", "--answers", published / "answers.jsonl")
    assert "16 numbers cannot be recomputed: dataset.key=corrected: " in verified(*verify)
    out = verified(*verify, "--complete", code=1)
    assert "16 numbers are not verified: dataset.key=corrected: " in out


def test_other_answers_are_refused_though_their_scores_are_equal_and_so_are_fewer(
    published, verified, keyed, tmp_path
):
    rows = rows_of(keyed["original"])
    fewer = write_rows(tmp_path / "fewer.jsonl", rows[:-2])
    out = verified(published / "card.json", "--answers", fewer, code=1)
    assert "rows: matched: 21 on the card, 19 recomputed" in out
    rows[0]["answer"] = rows[0]["answer"].swapcase()  # which no metric regards
    other = write_rows(tmp_path / "answers.jsonl", rows)
    out = verified(published / "card.json", "--answers", other, code=1)
    assert "answers: not those of the card: rows_sha256" in out
    assert ": mean: " not in out


def test_a_column_of_gold_answers_is_refused(published, keyed, data, errors, tmp_path, verified):
    golds = {record["id"]: record["gold"] for record in keyed["original"].records}
    rows = rows_of(keyed["original"])
    for row in rows:
        row["reference"] = golds[f"{row['sample_id']}/{row['qa_index']}"] or "nothing"
    answers = write_rows(tmp_path / "answers.jsonl", rows)
    listed = ("--key", "original", "--key-file", str(errors))
    card = import_card(answers, data, "--columns", "answer=reference", *listed)
    assert "are the gold answer word for word" in verified(card, "--answers", answers, code=1)


def _numbers(card: Card) -> int:
    return sum(2 + 2 * (score.low is not None) for score in card.scores)

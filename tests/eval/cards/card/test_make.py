"""A card says what a run was, in at most 20 kB, and nothing of the machine or of the texts."""

import json
from shutil import copytree

from eval.analyse.retrieval import __main__ as retrieval
from eval.cards.card import __main__ as command
from eval.cards.card.schema import MOST, is_absolute
from eval.records.files import write_lines
from tests.eval.cards.card.conftest import made_card, ranked_ids, rows_of, write_rows
from tests.eval.commands import runs_in
from tests.eval.factory import hashed


def test_a_card_names_no_folder_of_the_machine_and_no_text(keyed, published, tmp_path):
    run, path = keyed["corrected"], tmp_path / "card.json"
    card = made_card(run.folder, path)
    for text in (path.read_text("utf-8"), (published / "card.json").read_text("utf-8")):
        assert str(tmp_path.parent) not in text
        assert not [r for r in run.records if r["question"] in text]
        longer = [r["answer"] for r in run.records if len(r["answer"] or "") > 12]
        assert longer
        assert not [answer for answer in longer if answer in text]
    assert card.dataset["path"] == "small.json"
    assert card.dataset["key_file"] == "errors.jsonl"
    assert "dataset.path=small.json" in card.command
    assert not is_absolute(card.command)


def test_absolute_paths_are_recognised():
    paths = ("/data/x.json", "~/x.json", "~me/x.json", "C:\\x.json", "file:///x")
    for text in ("python -m eval.run out=/home/me/x", "--out '/srv/x y'", *paths):
        assert is_absolute(text), text
    urls = ("https://example.org/home/x", "llm.base_url=https://example.org/v1")
    for text in ("data/sample/x.json", "1/2", *urls):
        assert not is_absolute(text), text


def test_a_card_says_what_was_run(keyed, tmp_path):
    run = keyed["excluded"]
    card, manifest = made_card(run.folder, tmp_path / "card.json"), run.manifest
    assert (card.system, card.kind, card.key) == ("bm25", "run", "excluded")
    assert card.config_sha256 == manifest["config_sha256"]
    assert card.run_code is not None
    assert card.run_code.commit == manifest["git"]["commit"]
    assert card.run_code.version == manifest["packages"]["memsys"]
    assert card.models == {**manifest["models"], "llm": None, "judge": None}
    roles = [file.role for file in card.files]
    assert roles == ["data", "key", "answers", "rankings"]
    assert {score.key for score in card.scores} == {"original", "corrected", "excluded"}
    assert [file.sha256 for file in card.of_role("data")] == [manifest["data"][0]["sha256"]]


def test_what_is_known_of_published_answers_is_on_the_card(published, data, errors, tmp_path, said):
    path = tmp_path / "card.json"
    where = ("--dataset", str(data), "--key-file", str(errors))
    origin = ("--origin-repository", "some/one", "--origin-commit", "7b143c50")
    url = ("--answers-url", "https://example.org/answers.jsonl")
    models = ("--model", "reader=gpt-4.1-mini", "--model", "judge=gpt-4o-mini")
    unknown = ("--unknown", "Its version is not known.", "--unknown", "Nor is its prompt.")
    run = published / "run"
    card = made_card(run, path, *where, *origin, *url, *models, *unknown)
    assert card.origin is not None
    assert card.origin.model_dump(exclude_none=True) == {
        "repository": "some/one",
        "commit": "7b143c50",
        "url": "https://example.org/answers.jsonl",
    }
    known = {"reader": "gpt-4.1-mini", "judge": "gpt-4o-mini"}
    assert card.models == {**known, "embedder": None, "llm": None}
    assert card.unknown == ["Its version is not known.", "Nor is its prompt."]
    assert (card.kind, card.run_code) == ("imported", None)
    assert card.of_role("answers")[0].name == "answers.jsonl"
    reported = {score.measure for score in card.scores if score.reported}
    assert reported == {"judge", "context_tokens"}
    for wrong, says in (
        (("--model", "grader=x"), "--model: 'grader' is none of reader"),
        (("--answers-url", "javascript:1"), "url: "),
    ):
        assert says in said(command.main, run, "--out", path, *where, *wrong, code=2)


def test_a_card_is_made_of_the_files_that_others_have_and_is_small(keyed, data, tmp_path, said):
    run, path = keyed["plain"], tmp_path / "card.json"
    answers = write_rows(tmp_path / "answers.jsonl", rows_of(run))
    card = made_card(run.folder, path, "--answers", str(answers))
    assert card.of_role("answers")[0].name == "answers.jsonl"
    path.unlink()
    write_rows(answers, rows_of(run)[1:])
    other, copy = tmp_path / "ranked.json", tmp_path / "small.json"
    other.write_text(json.dumps({id_: ids[::-1] for id_, ids in ranked_ids(run).items()}))
    copy.write_bytes(data.read_bytes() + b"\n")
    for wrong, says in (
        (("--answers", answers), "contains other answers than"),
        (("--rankings", other), "contains other rankings than"),
        (("--dataset", copy), "answers small.json, not the files of small"),
        (("--unknown", "x" * 900) * 20, f"{MOST:,} are allowed"),
    ):
        assert says in said(command.main, run.folder, "--out", path, *wrong, code=2)
    assert not path.exists()


def test_scores_are_not_those_written_in_the_run_and_no_secret_is_on_a_card(
    keyed, tmp_path, monkeypatch
):
    run = keyed["plain"]
    folder = copytree(run.folder, tmp_path / "run")
    perfect = {name: 1.0 for name in run.records[0]["scores"] if name != "judge"}
    write_lines(folder / "records.jsonl", [row | {"scores": perfect} for row in run.records])
    manifest = run.manifest | {"command": "python -m eval.run llm.note=verysecretvalue"}
    (folder / "manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    monkeypatch.setenv("SOME_API_KEY", "verysecretvalue")
    forged = made_card(folder, tmp_path / "forged.json")
    own = made_card(run.folder, tmp_path / "card.json")
    assert forged.scores == own.scores
    assert forged.command == "python -m eval.run llm.note=$SOME_API_KEY"


def test_the_weights_of_a_ranking_are_on_the_card(start, tmp_path, small):
    from memsys.index.weights import WEIGHTS  # noqa: PLC0415 - of this test alone

    (tmp_path / "mine.yaml").write_bytes(WEIGHTS.read_bytes())
    assert start("strategy=fusion", "index.fusion=mine.yaml", *small).code == 0
    (run,) = runs_in(tmp_path)
    (file,) = made_card(run.folder, tmp_path / "card.json").of_role("weights")
    assert file.sha256 == run.manifest["weights"]["sha256"]


def test_rankings_alone_have_a_card(keyed, data, tmp_path, said):
    file, folder = tmp_path / "ranked.json", tmp_path / "run"
    file.write_text(json.dumps(ranked_ids(keyed["plain"])), encoding="utf-8")
    options = ["--dataset", str(data), "--run-folder", str(folder), "--measure", "mrr"]
    assert retrieval.main([str(file), *options]) == 0
    path = tmp_path / "card.json"
    card = made_card(folder, path)
    assert {score.measure for score in card.scores} == {"recall@10", "ndcg@10", "mrr"}
    assert [one.name for one in card.of_role("rankings")] == ["ranked.json"]
    verify = ["--verify", str(path), "--dataset", str(data)]
    assert "the card is of rankings" in said(command.main, *verify, code=2)
    assert command.main([*verify, "--rankings", str(file)]) == 0
    assert command.main([*verify, "--answers", str(folder)]) == 0


def test_a_selection_without_an_order_has_no_ranking_on_its_card(start, tmp_path, small):
    assert start("strategy=full_context", *small).code == 0
    (run,) = runs_in(tmp_path)
    card = made_card(run.folder, tmp_path / "card.json")
    assert not card.of_role("rankings")
    assert not [score for score in card.scores if score.measure == "recall@10"]


def test_a_verdict_counts_for_the_gold_answer_that_it_was_given_for(keyed, tmp_path):
    run = keyed["corrected"]
    counts = {}
    for name, judged in (("under its key", {}), ("under the original key", {"judge": 1.0})):
        folder = copytree(run.folder, tmp_path / name)
        rows = [
            row
            | {"scores": row["scores"] | {"judge": None if judged and row["key"] else 1.0}}
            | ({"scores_original": row["scores_original"] | judged} if row["key"] else {})
            for row in run.records
        ]
        write_lines(folder / "records.jsonl", rows)
        (folder / "manifest.json").write_text(json.dumps(hashed(run.manifest)), encoding="utf-8")
        card = made_card(folder, tmp_path / "card.json")
        counts[name] = {s.type: s.n for s in card.scores if s.measure == "judge"}["overall"]
    assert counts == {"under its key": 17, "under the original key": 16}


def test_bad_options_are_named(keyed, published, tmp_path, said):
    card, folder = str(published / "card.json"), str(keyed["plain"].folder)
    for arguments, expected in (
        ([], "name a RUN, or cards by --verify"),
        ([folder, "--complete"], "--complete and --layout: are for --verify"),
        ([folder, "--model", "x"], "write ROLE=NAME"),
        ([folder, "--answers", card, card], "--answers: 2 for 1 card; name one"),
        (["--verify", card, "--out", "x"], "--verify: leave out RUN"),
        (["--verify", card], "--answers: the card is of answers"),
        (["--verify", folder + "/manifest.json"], "no score card"),
        (["--verify", str(tmp_path / "none.json")], "none.json"),
        (["--verify", folder + "/records.jsonl"], "bytes; at most 20,000"),
        (["--verify", card, "--answers", str(tmp_path / "no.csv")], "no.csv"),
    ):
        err = said(command.main, *arguments, code=2)
        assert (expected in err, err.count("\n")) == (True, 1), err

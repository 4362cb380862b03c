"""The command: what it writes and prints, what it masks and shortens, and that it stays local."""

import json
import re
import socket
import stat
from pathlib import Path
from typing import Any, NoReturn

import pytest

from eval.datasets.locomo import LoCoMo
from eval.transcripts.__main__ import main
from eval.transcripts.formats import Tally
from eval.transcripts.importing import MASK, cleaned, split
from tests.eval.transcripts import exports


@pytest.fixture
def export(tmp_path: Path) -> Path:
    return exports.write_json(tmp_path / "conversations.json", exports.chatgpt())


def test_opens_no_connection_and_writes_the_same_bytes_for_the_same_seed(
    export, tmp_path, monkeypatch
):
    def refuse(*_: Any, **__: Any) -> NoReturn:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "create_connection", refuse)
    contents = []
    for name in ("a", "b"):
        assert main([str(export), "--out", str(tmp_path / name), "--seed", "3"]) == 0
        contents.append((tmp_path / name / "transcripts.json").read_bytes())
    assert contents[0] == contents[1]


def test_the_folder_loads_as_locomo(export, tmp_path):
    folder = tmp_path / "own"
    assert main([str(export), "--out", str(folder)]) == 0
    dataset = LoCoMo(name="own", path=str(folder)).load()
    assert not dataset.repairs
    assert [one.id for one in dataset.conversations] == ["chatgpt"]
    turns = {t.id: t.text for s in dataset.conversations[0].sessions for t in s.turns}
    for question in dataset.questions:
        assert question.gold is not None
        assert question.gold in turns[question.evidence[0]]


def test_says_what_was_left_out_and_what_comes_next(tmp_path, said):
    chat = [*exports.DEPLOY, ("user", "The key is sk-proj-abcdefghijklmnop1234", 97)]
    path = exports.write_json(tmp_path / "in" / "conversations.json", exports.chatgpt([chat]))
    exports.write_json(path.with_name("user.json"), {"id": "u"})
    path.with_name("notes.json").write_text("{", encoding="utf-8")
    folder = tmp_path / "own"
    given = [str(path.parent), "--out", str(folder), "--user", "Ines", "--questions", "2"]
    output = said(main, *given)
    for part in (
        "files: 1 of ChatGPT; 1 of no known format passed over",
        "1 not readable passed over: notes.json: not JSON",
        "1 conversations: chatgpt; 2 sessions, 7 turns",
        *("1 system messages", "1 secrets masked", "python -m eval compare"),
        "on this machine alone; compare strategies:",
        f"dataset=locomo dataset.path={folder} ",
    ):
        assert part in output
    (by_rule,) = re.findall(r"^2 questions by rule: (.*)", output, re.M)
    assert sum(int(one.rpartition(" ")[2]) for one in by_rule.split(", ")) == 2
    assert " 0" not in by_rule
    text = (folder / "transcripts.json").read_text(encoding="utf-8")
    assert "sk-proj" not in text
    assert json.loads(text)[0]["conversation"]["speaker_a"] == "Ines"
    assert len(json.loads(text)[0]["qa"]) == 2  # at most as many as are wanted
    # The folder is private, the file even in another one, and git ignores it wherever it is.
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o755)
    assert main(given) == 0
    assert stat.S_IMODE((folder / "transcripts.json").stat().st_mode) == 0o600
    assert (folder / ".gitignore").read_text() == "*\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--questions", "0"], "--questions: 0; use a whole number of 1 or more"),
        (["--characters", "20"], "--characters: 20; use a whole number of 100 or more"),
        (["--user", "Bot", "--assistant", "bot"], "must be two different names"),
        (["--out", "conversations.json"], "is a file; name a folder"),
        (["--out", "."], "has conversations.json, which a run would read, too"),
    ],
)
def test_refuses_wrong_arguments_in_one_line(arguments, problem, export, monkeypatch, refused):
    monkeypatch.chdir(export.parent)
    assert problem in refused(main, "conversations.json", *arguments)


def test_leaves_the_gitignore_of_another_folder(export, tmp_path, said):
    ignored = tmp_path / "own" / ".gitignore"
    ignored.parent.mkdir()
    ignored.write_text("build/\n", encoding="utf-8")
    message = said(main, export, "--out", ignored.parent, code=2)
    assert "has a .gitignore of its own; name another folder" in message
    assert ignored.read_text(encoding="utf-8") == "build/\n"
    assert [*ignored.parent.iterdir()] == [ignored]
    ignored.unlink()
    for _ in range(2):  # the one that the command writes is no reason
        assert main([str(export), "--out", str(ignored.parent)]) == 0


def test_refuses_a_broken_file_and_keeps_what_was_there(export, tmp_path, refused):
    folder = tmp_path / "own"
    assert main([str(export), "--out", str(folder)]) == 0
    before = (folder / "transcripts.json").read_bytes()
    export.write_text('[{"mapping": {}, "create_time": 1', encoding="utf-8")
    assert "conversations.json: not JSON" in refused(main, export, "--out", folder)
    assert (folder / "transcripts.json").read_bytes() == before
    # a history without a question
    chat = [("user", "你好", 0.0), ("assistant", "你好！", 0.1)]
    path = exports.write_json(tmp_path / "c.json", exports.claude([chat]))
    message = refused(main, path, "--out", tmp_path / "none")
    assert "too little text for a question; nothing is written" in message
    assert not (tmp_path / "none").exists()


def test_takes_conversations_in_locomos_layout(tmp_path):
    sample = Path(__file__).parents[3] / "data" / "sample"
    assert main([str(sample), "--out", str(tmp_path / "own"), "--questions", "9"]) == 0
    made = LoCoMo(name="own", path=str(tmp_path / "own")).load()
    given = LoCoMo(name="sample", path=str(sample)).load()
    english = [one for one in given.conversations if one.id != "teahouse"]  # no question of it
    assert [one.id for one in made.conversations] == [one.id for one in english]
    for one, other in zip(made.conversations, english, strict=True):
        for session, before in zip(one.sessions, other.sessions, strict=True):
            assert (session.time, session.turns) == (before.time, before.turns)


FAKE = "aB3dE6gH9jK2mN5pQ8sT1vW4xY7zC0fR"  # of no service


@pytest.mark.parametrize(
    "secret",
    [
        f"sk-proj-{FAKE}",
        f"ghp_{FAKE}",
        f"xoxb-{FAKE}",
        "AKIA" + "ABCDEFGH12345678",
        f"eyJhbGciOiJI.{FAKE}.{FAKE}",
        f"SG.{FAKE[:22]}.{FAKE}",
        f"ya29.{FAKE}",
        FAKE,
        f"{FAKE[:12]}/{FAKE[:20]}+KlMnOp",  # the form of a secret key of AWS
        f"-----BEGIN RSA PRIVATE KEY-----\n{FAKE}\n{FAKE}\n-----END RSA PRIVATE KEY-----",
    ],
)
def test_masks_and_counts_what_looks_like_a_key(secret):
    tally = Tally()
    text = cleaned(f"Use {secret} for the upload. It is {secret}.", tally)
    assert text == f"Use {MASK} for the upload. It is {MASK}."
    assert tally.changed["secrets masked"] == 2


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ('password = "tulip-orchard"', f'password = "{MASK}"'),
        ("API_KEY=tulip77", f"API_KEY={MASK}"),
        ("Authorization: Bearer tulip77", f"Authorization: Bearer {MASK}"),
        ("postgres://ines:tulip77@db/ops", f"postgres://ines:{MASK}@db/ops"),
        ("redis://:tulip77@db", f"redis://:{MASK}@db"),
        ("ftp://ines:t@p@db", f"ftp://ines:{MASK}@db"),
        ("password=t@lip!x9, then", f"password={MASK}, then"),
        ("password: Tulip1@orchard", f"password: {MASK}"),
        ('password: "tulips, and orchards"', f'password: "{MASK}"'),
        ("**Password:** tulip77", f"**Password:** {MASK}"),
        ("Password: `tulip77`", f"Password: `{MASK}`"),
        (r"{\"password\": \"tulip77\"}", rf"{{\"password\": \"{MASK}\"}}"),
        ("SECRET_KEY=tulip77", f"SECRET_KEY={MASK}"),
        ("private_key: tulip77", f"private_key: {MASK}"),
        ("AccountKey=tulip/77==;Suffix=x", f"AccountKey={MASK};Suffix=x"),
        ("Authorization: Basic dHVsaXBz", f"Authorization: Basic {MASK}"),
    ],
)
def test_masks_values_of_fields_named_like_secrets(text, masked):
    assert cleaned(text, Tally()) == masked


def test_masks_secrets_of_the_environment(monkeypatch):
    monkeypatch.setenv("BAKERY_API_KEY", "plain words")
    tally = Tally()
    assert cleaned("It says plain words here.", tally) == "It says $BAKERY_API_KEY here."
    assert tally.changed["secrets masked"] == 1


def test_leaves_hashes_paths_and_prose():
    for text in (
        "Commit 0f3a9c1d2e4b5a6978877665544332211ffeeddc is fine.",
        "See src/eval/studies/transcripts/Importing2/VeryLongFileNameOfThisProject.py now.",
        "Look in modules/bakery/src2/OvenController/v3/ry for it.",
        "The oven has 27 degrees; the token was lost.",
        "It answers at http://localhost:8080/loaves and needs basic knowledge2.",
    ):
        tally = Tally()
        assert cleaned(text, tally) == text
        assert not +tally.changed


def test_shortens_code_and_removes_blobs():
    code = "\n".join(f"line {n}" for n in range(50))
    tally = Tally()
    short = "```sh\nmake\n```"
    text = cleaned(f"{short}\nLook:\n```py\n{code}\n```\nEnd " + "x" * 300, tally)
    assert text.startswith(short)
    assert "line 19\n[30 more lines]\n```\nEnd [...]" in text
    assert "line 20" not in text
    assert tally.changed == {"secrets masked": 0, "blobs removed": 1, "blocks of code shortened": 1}


def test_splits_between_paragraphs_then_sentences_then_words():
    assert list(split("One.\n\nTwo.", 100)) == ["One.\n\nTwo."]
    assert list(split("One is here.\n\nTwo is here.", 15)) == ["One is here.", "Two is here."]
    assert list(split("One is here. Two is here.", 15)) == ["One is here.", "Two is here."]
    assert list(split("alpha beta gamma delta", 12)) == ["alpha beta", "gamma delta"]
    assert list(split("x" * 25, 10)) == ["x" * 10, "x" * 10, "x" * 5]
    text = " ".join(f"Sentence {n} has a few words." for n in range(90))
    parts = list(split(text, 200))
    assert max(map(len, parts)) <= 200
    assert " ".join(parts).split() == text.split()

"""Secrets are masked, code and blobs shortened, long messages split."""

import pytest

from eval.transcripts.formats import Tally
from eval.transcripts.importing import MASK, cleaned, split

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

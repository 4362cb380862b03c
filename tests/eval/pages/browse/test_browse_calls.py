"""Cards show the recorded calls behind an answer: prompts and replies, escaped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from eval.pages.browse.__main__ import main
from eval.pages.browse.questions import Questions, RecordedCalls
from eval.pages.browse.site import Site
from eval.pages.report.runs import ReportedRun
from eval.rendering.page import card_html
from memsys.core.errors import InputError
from memsys.llm.recording import RecordedAnswer, Recording
from tests.eval.pages.report.made_report import HOSTILE, MARKED, data_file, made, records, write_run
from tests.eval.pages.shown import Parsed

NOW = "2026-01-01T00:00:00+00:00"
CHAT, VECTORS = "/v1/chat/completions", "/v1/embeddings"


def key(number: int) -> str:
    return f"{number:064x}"


def said(text: Any) -> str:
    return json.dumps({"choices": [{"message": {"content": text}}]})


def answer(number: int, body: str, path: str = CHAT, status: int = 200) -> RecordedAnswer:
    return RecordedAnswer(key(number), path, "gpt-4o-mini", status, body, 1500.0, 1, 1, NOW)


def asked(*contents: Any) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": one} for one in contents]}


@pytest.fixture
def run(tmp_path: Path) -> ReportedRun:
    """A run whose question ash/0 made six calls; its records have hostile reasons."""
    rows = records()
    for row in rows:
        row["judge"] = {f"judge {HOSTILE}": [True, False]}
        row["judge_reasons"] = {f"judge {HOSTILE}": [f"since {HOSTILE}", MARKED]}
    rows[1] |= {
        "judge": None,
        "judge_error": {"phase": "judge", "kind": "LLMError", "message": f"late {HOSTILE}"},
    }
    folder = write_run(tmp_path / "judged", rows, "judged", data_file(tmp_path / "made.json"))
    phases = ("retrieve", "retrieve", "answer", "judge", "judge", "judge")
    lines = [{"key": key(n), "phase": phase, "question": "ash/0"} for n, phase in enumerate(phases)]
    lines += [{"key": key(2), "phase": "ingest s1", "conversation": "ash"}]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (folder / "calls.jsonl").write_text(text, encoding="utf-8")
    answers = [
        answer(0, '{"data": []}', VECTORS),
        # 1 is not recorded
        answer(2, said(f"reply {HOSTILE}")),
        answer(3, said(None)),
        answer(4, json.dumps({"error": {"message": "broken down"}}), status=500),
        answer(5, said("old")),
    ]
    requests = {key(2): asked(f"prompt {HOSTILE}", [{"type": "text", "text": "part"}])}
    requests |= {key(3): asked("why?"), key(4): asked("again?")}
    Recording(tmp_path / "cache").keep(answers, requests)
    return made(folder)[0]


def test_prompts_and_replies_of_a_question_in_order(run, tmp_path):
    first, second, failed, old = RecordedCalls(tmp_path / "cache").of(run, "ash/0")
    assert first.title == f"answer: gpt-4o-mini, 1.50 s, {NOW}"
    assert first.prompt.startswith(f"user:\nprompt {HOSTILE}\n\nuser:\n")
    assert '"part"' in first.prompt
    assert first.reply == f"reply {HOSTILE}"
    assert (second.prompt, second.reply) == ("user:\nwhy?", said(None))  # no text: the whole JSON
    assert failed.title.endswith(", failed (status 500)")
    assert "broken down" in failed.reply
    assert (old.prompt, old.reply) == (None, "old")  # requests were not always recorded
    assert RecordedCalls(tmp_path / "cache").of(run, "ash/1") == []
    assert RecordedCalls(tmp_path / "nowhere").of(run, "ash/0") == []
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize(
    ("id_", "folds", "words"),
    [
        (
            "ash/0",
            1 + 4,
            [
                *("4 calls to models", f"prompt {HOSTILE}", f"reply {HOSTILE}"),
                *("It was not recorded.", f"judge {HOSTILE}, run 1: right: since {HOSTILE}"),
                f"judge {HOSTILE}, run 2: wrong: {MARKED}",
            ],
        ),
        ("ash/1", 0, [f"no verdict: LLMError: late {HOSTILE}"]),
    ],
)
def test_calls_and_reasons_are_folded_and_escaped(run, tmp_path, id_, folds, words):
    questions = Questions([run], RecordedCalls(tmp_path / "cache"))
    page = Parsed(card_html(questions.card(id_)))
    assert page.open == []
    assert not {"script", "img", "b", "i"} & set(page.tags)
    assert ("open", None) not in page.attributes
    assert page.tags.count("details") == folds
    assert [one for one in words if one not in page.words] == []
    assert "calls to models" not in card_html(Questions([run]).card(id_))


def test_a_damaged_list_of_calls_is_named(run, tmp_path):
    for line in ("[]", '{"question": "ash/0"}', '{"question": "ash/0", "key": 5, "phase": "x"}'):
        (run.folder / "calls.jsonl").write_text(f"{line}\n", encoding="utf-8")
        site = Site(Questions([run], RecordedCalls(tmp_path / "cache")))
        with pytest.raises(InputError, match=r"calls\.jsonl"):
            site.card("ash/0")


def test_the_cache_is_an_option(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    assert "--cache FOLDER" in capsys.readouterr().out

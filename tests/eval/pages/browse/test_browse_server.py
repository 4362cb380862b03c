"""What the server of pages answers, and cards with the recorded calls behind an answer."""

import base64
import hashlib
import http.client
import json
import re
import shutil
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest

from eval.pages.browse import __main__ as browse
from eval.pages.browse.conversations import Questions
from eval.pages.browse.server import LOOPBACK, PageServer, has_display
from eval.pages.browse.site import Site
from eval.pages.report.runs import RecordedCalls, ReportedRun
from eval.rendering.page import render
from memsys.core.errors import InputError
from memsys.llm.recording import RecordedAnswer, Recording
from tests.eval.pages.report.conftest import (
    HOSTILE,
    MARKED,
    Parsed,
    data_file,
    made,
    records,
    write_run,
)


def _get(
    server: PageServer, target: str, method: str = "GET", host: str | None = None
) -> tuple[int, http.client.HTTPMessage, str]:
    """The target is sent as it is: a client would tidy up a path with dots."""
    port = server.server_address[1]
    connection = http.client.HTTPConnection(LOOPBACK, port, timeout=60)
    connection.putrequest(method, target, skip_host=True)
    connection.putheader("Host", host or f"{LOOPBACK}:{port}")
    connection.endheaders()
    reply = connection.getresponse()
    body = reply.read().decode("utf-8")
    connection.close()
    return reply.status, reply.headers, body


def test_only_this_machine_can_reach_it(server):
    assert server.server_address[0] == "127.0.0.1"
    for host in ("evil.example", "evil.example:80", "127.0.0.1", "127.0.0.1:1"):
        status, _, body = _get(server, "/", host=host)
        assert status == 403
        assert "<script" not in body
    port = server.server_address[1]
    assert _get(server, "/", host=f"localhost:{port}")[0] == 200


def test_no_file_is_served(server):
    outside = ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd")
    files = ("/manifest.json", "/records.jsonl", "/report.html/../manifest.json")
    for target in (*outside, *files, "/card?id=../../etc/passwd", "/card", "/card?id=%00"):
        status, _, body = _get(server, target)
        assert (status, json.loads(body)) == (404, {"error": "no such page"}), target


def test_pages_may_load_and_run_nothing_else(server):
    for target in ("/", "/report.html", "/data.html", "/conversation-1.html", "/card?id=ash/0"):
        status, headers, _ = _get(server, target)
        policy = headers["Content-Security-Policy"]
        assert status == 200
        assert policy.startswith("default-src 'none'")
        scripts = re.findall(r"script-src [^;]*", policy)
        assert [one[:19] for one in scripts] == ["script-src 'sha256-"] * (target == "/")
        assert "frame-ancestors 'none'" in policy
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert "Access-Control-Allow-Origin" not in headers


def test_the_page_of_questions_escapes_names_and_its_policy_allows_its_script(server):
    _, headers, page = _get(server, "/")
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}';" in headers["Content-Security-Policy"]
    assert f"sha256-{digest}" in page
    assert "<i>" not in page
    assert page.count("better&lt;i&gt;</option>") == 3
    assert "\\u003ci\\u003e" in page  # for the script
    assert "</details>" not in page.partition('id="rows">')[2].partition("</script>")[0]


def test_too_many_fields_and_other_methods_are_refused(server):
    many = "&".join(f"a{n}=1" for n in range(2000))
    assert _get(server, f"/?{many}")[0] == 400
    for method in ("POST", "PUT", "DELETE"):
        assert _get(server, "/", method)[0] == 501


def test_a_port_that_is_taken(server):
    with pytest.raises(InputError, match="use another, or 0"):
        PageServer(server.server_address[1])


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["x", "--port", "70000"], "0 to 65535"),
        (["--out", "out"], "name the runs"),
    ],
)
def test_wrong_input_is_one_line(arguments, expected, refused):
    assert expected in refused(browse.main, *arguments)


def test_a_browser_needs_a_display_and_a_terminal(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    for display, terminal in product(("", ":0"), (False, True)):
        monkeypatch.setattr(sys.stdout, "isatty", lambda terminal=terminal: terminal)
        monkeypatch.setenv("DISPLAY", display)
        assert has_display() == (bool(display) and terminal)


def test_ctrl_c_is_the_way_out(folders, monkeypatch, said):
    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(PageServer, "serve_forever", stop)
    assert said(browse.main, folders[0], "--port", "0").startswith("http://127.0.0.1:")


def test_the_address_comes_before_the_runs_are_read(folders, tmp_path, capsys):
    broken = tmp_path / "broken"
    shutil.copytree(folders[0], broken)
    (broken / "records.jsonl").write_text("{}\n")
    assert browse.main([str(broken), "--port", "0"]) == 2  # the server ends by itself
    output = capsys.readouterr()
    assert output.out.startswith("http://127.0.0.1:")
    (line,) = output.err.splitlines()
    assert "records.jsonl: line 1" in line


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
    page = Parsed(render("card.html.j2", card=questions.card(id_)))
    assert page.open == []
    assert not {"script", "img", "b", "i"} & set(page.tags)
    assert ("open", None) not in page.attributes
    assert page.tags.count("details") == folds
    assert [one for one in words if one not in page.words] == []
    assert "calls to models" not in render("card.html.j2", card=Questions([run]).card(id_))


def test_a_damaged_list_of_calls_is_named(run, tmp_path):
    for line in ("[]", '{"question": "ash/0"}', '{"question": "ash/0", "key": 5, "phase": "x"}'):
        (run.folder / "calls.jsonl").write_text(f"{line}\n", encoding="utf-8")
        site = Site(Questions([run], RecordedCalls(tmp_path / "cache")))
        with pytest.raises(InputError, match=r"calls\.jsonl"):
            site.card("ash/0")

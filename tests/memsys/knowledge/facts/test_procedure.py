"""A run's history becomes one numbered record; what it quotes is checked against the history."""

import json
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.knowledge.facts.procedure import ProcedureSettings, procedure
from memsys.llm.base import LLMError
from memsys.llm.prompt import load_prompt
from tests.memsys.llm import faults
from tests.memsys.llm.conftest import Make
from tests.memsys.llm.server import FaultyServer

PAGE = 'Ferry 14: 08:15, 9.50 €\n{"seats": 3}'
CALL = {"id": "1", "type": "function", "function": {"name": "timetable", "arguments": "{}"}}
RUN: list[dict[str, Any]] = [
    {"role": "user", "content": "Book me a seat on the first ferry."},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "1", "content": PAGE},
    {"role": "assistant", "content": [{"type": "text", "text": "There are 3 seats left."}]},
]


def row(action: str, result: str = "", **details: str) -> dict[str, str]:
    others = dict.fromkeys(("findings", "navigation", "errors", "context"), "")
    return {"action": action, "result": result, **others, **details}


def reply(*steps: dict[str, str], **own: str) -> str:
    around = {"objective": "Book a seat.", "progress": "", "next": "Pay for the seat."}
    return json.dumps({**around, **own, "steps": steps})


def asked(make: Make, text: str, run: Any = RUN, **own: Any) -> tuple[Any, Any]:
    """The record by a reply, and the request. `own`: settings, or a `prompt` in their place."""
    prompt = own.pop("instead", None)
    with FaultyServer(lambda _: faults.says(text)) as server:
        made = procedure(make(server, retries=0), run, ProcedureSettings(**own), prompt)
    (body,) = server.bodies
    return made, body


def test_steps_are_numbered_with_results_word_for_word_findings_errors_and_context(make):
    details = {"findings": "3 seats are left", "navigation": "from the menu to the timetable"}
    details |= {"errors": "the first call timed out", "context": "the seat is chosen"}
    step = row("Asked the timetable for ferry=14", PAGE, **details)
    made, _ = asked(make, reply(step, row("Waited"), progress="1 of 2 parts is done"))
    text, events = made
    assert text == (
        "Objective: Book a seat.\nProgress: 1 of 2 parts is done\n"
        f"1. Asked the timetable for ferry=14\n   Result: {PAGE}\n"
        "   Findings: 3 seats are left\n   Navigation: from the menu to the timetable\n"
        "   Errors: the first call timed out\n   Context: the seat is chosen\n"
        "2. Waited\nNext step: Pay for the seat."
    )
    (event,) = events
    assert (event["steps"], event.get("fault"), event["tokens"]["output_tokens"]) == (2, None, 2)


def test_the_messages_of_the_run_have_their_roles_between_prompt_and_request(make):
    _, body = asked(make, reply(row("x")))
    *before, request = body["messages"]
    assert before == [
        {"role": "system", "content": load_prompt("procedure", []).text},
        *RUN[:3],
        {"role": "assistant", "content": "There are 3 seats left."},
    ]
    assert request["role"] == "user"
    assert request["content"].startswith("Write the record of this run.")
    assert "response_format" in body


@pytest.mark.parametrize(
    "run",
    [
        [RUN[1], {"role": "user", "content": "Well?"}],
        [RUN[1], {"role": "tool", "tool_call_id": "2", "content": "9"}],
        [{**RUN[1], "tool_calls": [{"function": CALL["function"]}]}],
        [{**RUN[1], "tool_calls": [CALL, CALL]}, RUN[2]],
        [{"role": "tool", "content": "9"}],
        [{"role": "tool", "tool_call_id": "1", "content": "9"}, RUN[1]],
    ],
)
def test_calls_and_results_that_a_server_would_refuse_are_sent_as_text(make, run):
    _, *sent, _ = asked(make, reply(row("x")), run)[1]["messages"]
    assert {one["role"] for one in sent} <= {"user", "assistant"}
    assert not any("tool_calls" in one for one in sent)
    texts = [one["content"] for one in sent]
    assert ("assistant calls timetable({})" in "\n".join(texts)) == (RUN[1]["role"] in str(run))
    assert ("tool: 9" in texts) == any(one.get("content") == "9" for one in run)


def test_a_history_between_marks_may_take_the_place_of_the_messages(make):
    system, user = asked(make, reply(row("x")), messages="history")[1]["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert system["content"] == load_prompt("procedure", []).text
    shown, _, request = user["content"].partition("</history>")
    assert "[1] user: Book me a seat" in shown
    assert "[2] assistant calls timetable({})" in shown
    assert f"[3] tool: {PAGE}\n[4] assistant: There are 3 seats left." in shown
    assert request.startswith("\n\nWrite the record of this run.")


@pytest.mark.parametrize(
    ("limit", "own", "sent"), [(512, 8192, 8192), (9000, 8192, 9000), (512, None, 512)]
)
def test_a_record_has_a_limit_of_tokens_of_its_own(make, limit, own, sent):
    reasoning = {"max_tokens": None, "extra": {"max_completion_tokens": 512}}
    with FaultyServer(lambda _: faults.says(reply(row("x")))) as server:
        for settings in ({"max_tokens": limit}, reasoning, {"max_tokens": None}):
            procedure(make(server, **settings), RUN, ProcedureSettings(max_tokens=own))
    assert [body.get("max_tokens") for body in server.bodies] == [sent, None, None]
    assert server.bodies[1]["max_completion_tokens"] == max(512, own or 0)


def test_the_example_of_our_own_prompt_is_a_valid_record(make):
    example = load_prompt("procedure", []).text.partition("<example>\n")[2]
    lines = example.partition("\n</example>")[0].splitlines()
    history = [{"role": "tool", "content": line.partition("tool: ")[2]} for line in lines[:-1]]
    (text, (event,)), _ = asked(make, lines[-1], history)
    assert (event["steps"], event.get("fault")) == (2, None)
    assert all(f"   {label}: " in text for label in ("Findings", "Navigation", "Errors"))


@pytest.mark.parametrize(
    "changed", ["Ferry 14: 8:15", "9.5 €", '{"seats": 4}', "Ferry 14: 08:15, 9.50 € and 3 seats"]
)
def test_a_result_that_was_changed_is_a_fault_and_is_marked(make, changed):
    message = reply(row("Asked", "Ferry 14: 08:15, 9.50 €"), row("Looked again", changed))
    (text, events), _ = asked(make, message)
    (event,) = [one for one in events if "fault" in one]
    assert (event["fault"], event["detail"], event["number"]) == ("not_verbatim", changed, 2)
    # No progress, no line of it
    assert text.startswith("Objective: Book a seat.\n1. Asked\n   Result: Ferry 14")
    assert f"2. Looked again\n   Result (not verbatim): {changed}" in text


@pytest.mark.parametrize("text", ["Done.", "{}", reply()])
def test_without_a_step_there_is_no_record(make, text):
    with pytest.raises(LLMError):
        asked(make, text)


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "^messages: there is no text"),
        ([{"role": "user", "content": " "}], "^messages: there is no text"),
        (["Book"], r"^messages\[0\]: is no object; use the messages of OpenAI"),
        ([{"content": "Book"}], r"^messages\[0\]: lacks role"),
        ([{"role": "user", "content": 3}], r"^messages\[0\].content: is no string or array"),
        ([RUN[0], {"role": "assistant", "tool_calls": [{}]}], r"^messages\[1\].*lacks function"),
        ([{**RUN[1], "tool_calls": [{**CALL, "id": 5}]}], r"^messages\[0\].tool_calls\[0\].id: is"),
        ([{**RUN[2], "tool_call_id": [1]}], r"^messages\[0\].tool_call_id: is no string"),
        ([{"role": "assistant", "tool_calls": {}}], r"^messages\[0\].tool_calls: is no array"),
    ],
)
def test_what_is_no_history_is_refused_before_any_call(make, messages, message):
    with pytest.raises(InputError, match=message):
        asked(make, reply(row("x")), messages)


@pytest.mark.parametrize("text", ["Steps of: {history}", "Note the steps, {briefly}."])
@pytest.mark.parametrize(
    ("as_file", "output"),
    [
        (True, "OPEN, CLICK"),
        (False, "```text\nOPEN, CLICK\n```"),
        (False, "<think>Hm.</think>\nOPEN, CLICK "),
    ],
)
def test_a_prompt_of_one_s_own_replaces_the_whole_template(make, tmp_path, text, as_file, output):
    """Its reply is stored as it is, but for code fences."""
    path = tmp_path / "own.txt"
    path.write_text(text, encoding="utf-8")
    own = {"prompt": str(path)} if as_file else {"instead": text}
    (made, (event,)), body = asked(make, output, RUN[:1], **own)
    assert (made, "steps" in event) == ("OPEN, CLICK", False)
    assert "response_format" not in body
    expected = "Steps of: [1] user: Book me a seat on the first ferry."
    request = {"role": "user", "content": "Write the procedural memory of this run."}
    whole = [{"role": "system", "content": text}, RUN[0], request]
    has_place = "{history}" in text
    assert body["messages"] == ([{"role": "user", "content": expected}] if has_place else whole)


def test_a_record_that_was_cut_off_is_an_error_that_names_the_limit(make):
    with FaultyServer(lambda _: faults.says("OPEN, CL", "length")) as server:
        with pytest.raises(LLMError, match=r"cut off; raise procedure\.max_tokens"):
            procedure(make(server), RUN, ProcedureSettings(), "List verbs.")
        with pytest.raises(LLMError, match=r"raise llm\.max_tokens"):
            procedure(make(server), RUN, ProcedureSettings())

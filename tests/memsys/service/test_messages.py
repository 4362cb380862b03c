"""What an add accepts: one message, images, instructions, and the names of arguments in mem0."""

import json
from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.knowledge.facts import procedure
from memsys.knowledge.facts.extract import ExtractSettings
from memsys.llm.base import Completion, LLMError, instructed
from memsys.llm.client import ChatClient
from memsys.service.arguments import NoModelError
from memsys.service.setup import SearchWeights, load_setup
from tests.memsys.build import BagOfWords
from tests.memsys.knowledge.facts.models import Planned, call, completion, fact, facts
from tests.memsys.service.made import memory, texts

PNG = "https://images.example/kiln.png"
DATA = "data:image/png;base64,AA=="
STEP = dict.fromkeys(procedure._STEP, "") | {"action": "Heat"}
STEPS = {"objective": "Fire a bowl", "progress": "half", "steps": [STEP], "next": ""}


def image(url: str = PNG, **more: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url, **more}}


def words(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


class Seeing(Planned):
    """Describes images in turn, records a run in steps, and notes the messages of every call."""

    def __init__(self, *descriptions: str, **plans: Any) -> None:
        super().__init__(**plans)
        self.descriptions = list(descriptions)
        self.calls: list[Any] = []

    def complete(self, messages: Any, **more: Any) -> Completion:
        self.calls.append(messages)
        if isinstance(messages[-1]["content"], list):
            return completion(self.descriptions.pop(0), self.name)
        if (more.get("schema") or {}).get("title") == "procedure":
            return completion(json.dumps(STEPS), self.name)
        return super().complete(messages[-1:], **more)

    @property
    def details(self) -> list[str]:
        parts = (part for call in self.calls for part in call[-1]["content"])
        return [part["image_url"]["detail"] for part in parts if part["type"] == "image_url"]


def user(content: Any, **more: str) -> dict[str, Any]:
    return {"role": "user", "name": "Mara", "content": content, **more}


def test_one_message_is_wrapped_and_texts_of_parts_are_joined(store):
    store.add(user("The kiln is hot."), user_id="mara")
    store.add([user([words("One bowl."), words("Two bowls.")])], user_id="mara")
    stored = ["Mara: The kiln is hot.", "Mara: One bowl.\nTwo bowls."]
    assert texts(store.get_all(user_id="mara")) == stored
    parts = {"type": "text"}, {"type": "image_url"}, image(7)  # type: ignore[arg-type]
    for wrong, place in (
        *((one, "messages") for one in ({}, b"kiln", [7], user([]), user([{"type": "audio"}]))),
        *((user([part]), r"^messages\[0\].content: \[0\]\.") for part in parts),
    ):
        with pytest.raises(InputError, match=place):
            store.add(wrong, user_id="mara")


def test_images_become_descriptions_in_the_stored_text(tmp_path):
    llm = Seeing("A kiln  at night.", "A blue bowl.", "A cup.")
    settings = ExtractSettings(prompt="p", summary_prompt=None, image_detail="auto")
    with memory(tmp_path, llm=llm, facts=settings) as store:
        alone = store.add(user(image(detail="high"), id="D1:1"), user_id="mara", infer=False)
        several = [words("Look!"), image(DATA, detail="low"), image()]
        store.add([user(several)], user_id="mara", infer=False)
        both = "Mara: Look! [image: A blue bowl.] [image: A cup.]"
        assert texts(store.get_all(user_id="mara")) == ["Mara: [image: A kiln at night.]", both]
    assert llm.details == ["high", "low", "auto"]  # the last: the setting
    (event,) = alone.events
    assert (event["step"], event["shown"]) == ("image", "A kiln at night.")
    assert event["tokens"]["input_tokens"] == 100
    assert "Mara: Look!" in llm.calls[1][0]["content"][0]["text"]


def test_the_facts_and_the_procedure_of_a_message_with_an_image(tmp_path):
    llm = Seeing(*["A kiln of brick."] * 2, extract=[facts(fact("Mara has a kiln", "Mara", 1))])
    with memory(tmp_path, llm=llm) as store:
        added = store.add(user([words("Mine"), image()]), user_id="mara", infer=True)
        assert [one["step"] for one in added.events][:2] == ["image", "extract"]
        assert "Mara: Mine [image: A kiln of brick.]" in llm.asked["extract"][0]
        store.add(user(image()), user_id="mara", memory_type="procedural_memory")
        assert llm.calls[-1][1] == {"role": "user", "content": "[image: A kiln of brick.]"}


def test_an_image_that_nobody_describes_is_one_clear_error_and_stores_nothing(tmp_path):
    message = r"^messages\[0\].content: there is no model to desc"
    with memory(tmp_path) as store, pytest.raises(NoModelError, match=message):
        store.add(user(image()), user_id="mara")
    with memory(tmp_path, llm=Seeing(*[" "] * 9)) as store:
        with pytest.raises(LLMError, match=r"messages\[1\].content: the image was not described"):
            store.add([user("Look"), user(image())], user_id="mara", infer=False)
        system = {"role": "system", "content": [words("Be brief"), image()]}
        store.add([system, user("Look")], agent_id="guide", infer=False)
        assert texts(store.get_all(agent_id="guide")) == ["Mara: Look"]
        with pytest.raises(InputError, match=r"\(ftp: neither http") as caught:
            store.add(user(image("ftp://ana:secret@host/a.png")), user_id="mara", infer=False)
        assert "secret" not in str(caught.value)
        with pytest.raises(InputError, match=r"content: .*\.detail: "):
            store.add(user(image(detail="fine")), user_id="mara", infer=False)
        assert store.get_all(user_id="mara") == []


def test_instructions_and_the_prompt_of_a_call_are_in_the_system_prompt(tmp_path):
    llm = Seeing(extract=[facts(fact("Mara has a kiln", "Mara", 1))], decide=[(call("NOOP"),)])
    with memory(tmp_path, llm=instructed(llm, "Write in Norwegian.")) as store:
        store.add(user("My kiln"), user_id="mara", infer=True)
        assert len(llm.calls) >= 2
        assert {one[0]["content"] for one in llm.calls} == {"Write in Norwegian."}
        assert {tuple(m["role"] for m in one) for one in llm.calls} == {("system", "user")}
        del llm.calls[:]
        store.add(user("My kiln"), user_id="mara", infer=True, prompt="Only about pottery.")
        both = "Write in Norwegian.\n\nOnly about pottery."
        assert {one[0]["content"] for one in llm.calls} == {both}
        store.add(user("Heat"), user_id="mara", kind="procedural", infer=True, prompt="Be short.")
        system, run, _ = llm.calls[-1]
        assert system["content"] == "Be short.\n\nWrite in Norwegian."
        assert run == {"role": "user", "content": "Heat"}
        with pytest.raises(NoModelError, match=r"^prompt: no model writes these messages"):
            store.add("kiln", user_id="mara", infer=False, prompt="Be short.")
        with pytest.raises(InputError, match=r"^add: prompt: "):
            store.add("kiln", user_id="mara", infer=True, prompt=" ")


def test_a_configuration_has_instructions_but_not_that_of_a_run(tmp_path):
    chat = {"_target_": "memsys.llm.client.ChatSettings", "model": "m", "extra": {}}
    chat["base_url"] = "http://127.0.0.1:9/v1"
    config = {"llm": chat, "strategy": "bm25", "embedder": "wordllama", "instructions": "Be short."}
    assert load_setup(config).llm.instructions == "Be short."
    with pytest.raises(InputError, match=r"^instructions: 7; use text"):
        load_setup({**config, "instructions": 7})
    (tmp_path / "manifest.json").write_text(json.dumps({"config": config}))
    assert isinstance(load_setup(tmp_path).llm, ChatClient)


def test_memory_type_is_a_procedure_that_a_model_writes(tmp_path):
    with memory(tmp_path, llm=Seeing()) as store:
        procedure = {"agent_id": "cook", "memory_type": "procedural_memory"}
        run = [user("Heat it", id="m1"), {"role": "tool", "content": "Hot", "id": "t1"}]
        assert store.add(run, **procedure).faults == []  # type: ignore[arg-type]
        store.add([user("Heat it")], **procedure, infer=False)  # type: ignore[arg-type]
        recorded, said = store.get_all(agent_id="cook")
        assert recorded.memory == "Objective: Fire a bowl\nProgress: half\n1. Heat"
        assert (recorded.kind, recorded.turns) == ("procedural", ("m1", "t1"))
        assert (said.kind, said.memory) == ("procedural", "Mara: Heat it")
        with pytest.raises(InputError, match=r"^add: memory_type: "):
            store.add("x", user_id="mara", memory_type="semantic_memory")  # type: ignore[arg-type]
    with memory(tmp_path) as store, pytest.raises(NoModelError, match="or to record a run"):
        store.add("x", user_id="mara", memory_type="procedural_memory")


def test_parts_of_other_types_are_skipped_in_a_run_and_are_an_error_elsewhere(tmp_path):
    other = {"type": "tool_result", "content": "x"}
    with memory(tmp_path, llm=(llm := Seeing())) as store:
        store.add(
            user([words("Heat it"), other, "Cool it"]),
            user_id="mara",
            kind="procedural",
            infer=True,
        )
        sent = "\n".join(one["content"] for one in llm.calls[-1])
        assert "Heat it" in sent
        assert "Cool it" in sent
        for kind, infer in (("procedural", False), ("fact", True)):
            with pytest.raises(InputError, match=r"messages\[0\]\.content: .*'tool_result'"):
                store.add(user([words("Heat it"), other]), user_id="mara", kind=kind, infer=infer)


def test_other_names_of_arguments(store):
    for text in ("kiln", "bowl", "cup"):
        store.add(text, user_id="mara", version="v1.1")
    found = store.search("bowl", user_id="mara", limit=1)
    assert texts(found) == ["bowl"]
    id_ = found[0]["id"]
    for wrong, words in (
        (lambda: store.search("bowl", user_id="mara", limit=1, top_k=1), "^top_k: give it or"),
        (lambda: store.update(id_, "jug", data="mug"), "^text: give it or data, not both"),
        (lambda: store.search("bowl", user_id="mara", version="v2"), "^search: version: "),  # type: ignore[arg-type]
        (lambda: store.search("bowl", user_id="mara", limit=0), "^top_k: 0"),
        (lambda: store.add("bowl", user_id="mara", time=7), "^add: time: "),  # type: ignore[arg-type]
    ):
        with pytest.raises(InputError, match=words):
            wrong()
    with pytest.raises(KeyError):
        found["memories"]
    assert (found.get("memories", 7), found[:1]) == (7, [found[0]])
    assert found[0] in found


def test_recency_falls_with_the_time_of_the_query(tmp_path):
    weights = SearchWeights(relevance=0, recency=1, decay_per_day=0.01)
    with memory(tmp_path, weights=weights) as store:
        store.add("kiln", user_id="mara", time=datetime(2024, 1, 1))

        def score(*day: int) -> float:
            (found,) = store.search("kiln", user_id="mara", time=datetime(*day))  # type: ignore[arg-type]
            return found.score

        assert score(2024, 4, 10) == pytest.approx(0.3679, abs=1e-4)  # 100 days after it was said
        assert score(2024, 4, 10) == 1  # it was accessed on that day
        assert score(2025, 4, 10) == pytest.approx(0.0260, abs=1e-4)  # 365 days after the access
        assert score(2024, 4, 10) == pytest.approx(0.3679, abs=1e-4)  # no access of a later day
        store.search("kiln", user_id="mara")  # now
        assert score(2025, 4, 10) < 0.011  # 465 days after it was said


CHINESE = "我上周开始在柳树工作室上陶艺课,老师说我做的第{}个碗很好看。"
ENGLISH = "I started pottery lessons at the Willow studio, and bowl number {} is fine."


@pytest.mark.parametrize(
    ("languages", "text", "warned"),
    [({"en"}, CHINESE, 1), ({"en"}, ENGLISH, 0), (BagOfWords.languages, CHINESE, 0)],
)
def test_it_warns_once_if_the_language_is_not_known(tmp_path, caplog, languages, text, warned):
    embedder = BagOfWords()
    embedder.languages = languages
    with memory(tmp_path, embedder=embedder) as store:
        for number in range(60):
            store.add(text.format(number), user_id="mara")
            if number == 10:
                assert caplog.messages == []  # too few to say
    assert len([one for one in caplog.messages if "vectors mean little" in one]) == warned

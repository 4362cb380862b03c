import sys

import pytest

from eval.readers.llm import LLMReader, LLMReaderSettings, final_answer
from memsys.context.writers import Flat, Layered, Xml
from memsys.core.errors import InputError
from memsys.core.types import Retrieval, Usage
from memsys.llm.base import Completion, LLMError
from memsys.llm.prompt import PROMPTS, Prompt, load_prompt
from tests.eval.commands import run_main, runs_in
from tests.eval.examples import EXAMPLES, write_examples


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("a red canoe", "a red canoe"),
        (" a red\ncanoe ", "a red canoe"),
        ("She bought it in May.\nAnswer: a red canoe", "a red canoe"),
        ("Answer: a kite\nNo: that was Bea.\n**Answer:** a red canoe", "a red canoe"),
        ("Final answer: 3 May 2023", "3 May 2023"),
        ("<think>Answer: a kite</think>a red canoe", "a red canoe"),
        ("<think>cut off before its end", ""),
        ("The answer: it depends", "The answer: it depends"),
        ("她买了船。\nAnswer：红色的独木舟", "红色的独木舟"),
        ("Answer:", ""),
    ],
)
def test_the_last_answer_line_is_the_answer(reply, answer):
    assert final_answer(reply) == answer


@pytest.mark.parametrize("text", ["Answer:", "Hm.\nAnswer: **", "<think>hm</think>\nAnswer: "])
def test_a_reply_without_an_answer_is_no_abstention(text):
    class Silent:
        name = "m"

        def complete(self, *_: object, **__: object) -> Completion:
            return Completion(text, Usage(1), "m", "stop")

    reader = LLMReader(Silent(), load_prompt("short_answer", []))  # type: ignore[arg-type]
    with pytest.raises(LLMError, match="m: the reply has no answer"):
        reader.read("What?", Retrieval((), "", 0))


@pytest.mark.parametrize("name", ["short_answer", "chain_of_thought", "layered", "xml"])
def test_our_prompts_take_a_context_and_a_question(name):
    filled = load_prompt(name, ["context", "question"]).fill(context="C1", question="Q1")
    assert filled.count("C1") == 1
    assert filled.count("Q1") == 1
    assert "{" not in filled
    # What is filled in is not filled in again.
    prompt = Prompt("p", "{context} {question} {other} {}")
    assert prompt.fill(context="{question}", question="{x}") == "{question} {x} {other} {}"


def test_a_prompt_without_its_places_and_an_unknown_one_are_refused(tmp_path):
    own = tmp_path / "mine.txt"
    own.write_text("Say something about {context}.")
    with pytest.raises(InputError, match=r"mine\.txt: the place \{question\} is missing"):
        load_prompt(str(own), ["context", "question"])
    with pytest.raises(InputError, match=r"prompt nonesuch: .*short_answer"):
        LLMReaderSettings("nonesuch").open(None, Flat("flat"))  # type: ignore[arg-type]


@pytest.mark.parametrize("writer", [Flat("flat"), Xml("xml"), Layered("layered")])
def test_each_layout_has_a_shipped_prompt(writer, tmp_path):
    first = writer.prompts[0]
    assert LLMReaderSettings().loaded(writer).name == first
    for fitting in (None, *writer.prompts):
        assert LLMReaderSettings(fitting).misfit(writer) is None
    others = {"short_answer", "xml", "layered"} - {first}
    for other in others:
        warning = LLMReaderSettings(other).misfit(writer)
        assert warning is not None
        assert f"reader.prompt={other} does not describe context={writer.name}" in warning
    own = tmp_path / "mine.txt"
    own.write_text("{context} {question}")
    assert LLMReaderSettings(str(own)).misfit(writer) is None  # nobody knows what it describes


def test_a_prompt_is_known_by_the_hash_of_its_text():
    one = load_prompt("short_answer", [])
    assert one.sha256 == Prompt("other name", (PROMPTS / "short_answer.txt").read_text()).sha256
    assert one.sha256 != load_prompt("layered", []).sha256


def test_a_layout_without_a_prompt_of_its_own_needs_a_chosen_one():
    class Plain(Flat):
        prompts = ()

    with pytest.raises(InputError, match=r"reader\.prompt: context=plain names no"):
        LLMReaderSettings().loaded(Plain("plain"))
    assert LLMReaderSettings("short_answer").loaded(Plain("plain")).name == "short_answer"
    assert LLMReaderSettings("short_answer").misfit(Plain("plain")) is None


def test_own_reader_answers(tmp_path, cache, small, monkeypatch):
    files = ("first_memory.py", "conf/reader/first_memory.yaml")
    assert all(len(EXAMPLES[name].splitlines()) < 22 for name in files)
    write_examples(tmp_path, *files)
    monkeypatch.syspath_prepend(tmp_path)
    chosen = ("--config-dir", "conf", "reader=first_memory", "strategy=vector_only")
    ended = run_main(tmp_path, cache, *chosen, *small)
    sys.modules.pop("first_memory")
    assert ended.code == 0, ended.err
    (run,) = runs_in(tmp_path)
    assert run.manifest["models"]["reader"] == "first_memory"
    assert len(run.records) == 21
    assert all(record["answer"].startswith(("Ada: ", "Bo: ")) for record in run.records)
    assert not any(record["abstained"] for record in run.records)

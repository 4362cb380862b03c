"""What is added is found by its owner alone, can be changed and dropped, and leaves a history."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

import memsys
from memsys.core.errors import InputError
from memsys.service.memory import Memory
from memsys.stores.faiss_vectors import FaissVectors
from tests.memsys.service.made import memory, texts

TALK = [
    {"role": "user", "name": "Mara", "content": "The kiln is hot.", "id": "D1:1"},
    {"role": "system", "content": "Be polite."},
    {"role": "assistant", "content": "Mind the kiln."},
]


OWNED: dict[str, Any] = {"user_id": "mara"}


def one(store: Memory, text: str, **own: Any) -> str:
    """Add a text; its id."""
    (change,) = store.add(text, **(OWNED | own)).changes
    return change.id


def test_it_is_exported():
    assert memsys.Memory is Memory
    assert memsys.AsyncMemory.__name__ == "AsyncMemory"
    with pytest.raises(AttributeError, match="no attribute 'Memori'"):
        memsys.Memori  # noqa: B018


def test_a_text_stays_word_for_word_and_messages_have_the_names_of_their_speakers(store):
    one(store, "I sold a bowl.", time=datetime(2024, 3, 2, 10, 0))
    store.add(TALK, user_id="mara", metadata={"from": "chat"})
    bowl, kiln, mind = store.get_all(user_id="mara")
    stored = ["I sold a bowl.", "Mara: The kiln is hot.", "Mind the kiln."]
    assert texts([bowl, kiln, mind]) == stored
    assert (kiln.turns, kiln.speaker, kiln.metadata) == (("D1:1",), "Mara", {"from": "chat"})
    assert (bowl.time, bowl.speaker) == (datetime(2024, 3, 2, 10, 0), "user")
    assert mind.speaker == "assistant"  # a role is no name, and not in the text
    assert "Mara: The kiln is hot.\n" in mind.index_text  # matched with what it replies to


def test_search_ranks_by_cosine_and_takes_k_from_the_setup(store, tmp_path):
    for text in ("The kiln cracked a bowl.", "A bowl was sold.", "Tomato seedlings."):
        one(store, text)
    found = store.search("cracked bowl", user_id="mara", top_k=2)
    assert texts(found) == ["The kiln cracked a bowl.", "A bowl was sold."]
    assert found[0].score == found[0].relevance == pytest.approx(2 / 6**0.5, abs=1e-6)
    assert texts(store.search("cracked bowl", user_id="mara", threshold=0.9)) == []
    assert [each.accesses for each in store.get_all(user_id="mara")] == [1, 1, 0]
    with memory(tmp_path, k=1) as other:
        assert len(other.search("cracked bowl", user_id="mara")) == 1


def test_of_equals_the_older_is_first_however_many_there_are(store):
    ids = [one(store, "kiln") for _ in range(40)]
    found = store.search("kiln", user_id="mara", top_k=5)
    assert [f.record.id for f in found] == ids[:5]


def test_an_owner_sees_its_own_and_nothing_else(store):
    cook, run = {"agent_id": "cook"}, {"run_id": "7"}
    places = [OWNED, OWNED | cook, {"user_id": "theo"} | cook, cook, {"agent_id": "mara"}]
    places += [run, OWNED | run]
    for i, place in enumerate(places):
        store.add(f"kiln number{i}", **place)
    seen = {
        repr(asked): sorted(int(text[-1]) for text in texts(store.search("kiln", **asked)))
        for asked in places
    }
    assert list(seen.values()) == [[0, 1, 6], [1], [2], [1, 2, 3], [4], [5, 6], [6]]
    for asked in places:
        assert len(store.get_all(**asked)) == len(seen[repr(asked)])


def test_filters_are_equality_of_metadata(store):
    values = (1, True, "1", None, [1, 2])
    ids = [one(store, f"kiln {value}", metadata={"a": value, "b": "x"}) for value in values]
    for value, id_ in zip(values, ids, strict=True):
        (found,) = store.search("kiln", user_id="mara", filters={"a": value, "b": "x"})
        assert (found.record.id, found.record.metadata["a"]) == (id_, value)
    assert store.search("kiln", user_id="mara", filters={"c": None}) == []


def test_an_update_changes_what_is_found_and_keeps_what_it_was(store):
    id_ = one(store, "tomato seedlings", metadata={"a": 1})
    assert store.update(id_, "cracked bowl") is not None
    assert store.search("cracked bowl", user_id="mara")[0].score == pytest.approx(1)
    assert store.update(id_, metadata={"b": 2}, time=datetime(2024, 1, 1, tzinfo=UTC)) is not None
    record = store.get(id_)
    assert (record.memory, record.metadata) == ("cracked bowl", {"b": 2})
    assert record.time == datetime(2024, 1, 1)
    assert store.delete(id_) is not None
    assert (store.get(id_), store.search("bowl", user_id="mara")) == (None, [])
    assert (store.update(id_, "cup"), store.delete(id_), store.history("x")) == (None, None, [])
    assert [(c.event, c.old, c.new) for c in store.history(id_)] == [
        ("ADD", None, "tomato seedlings"),
        ("UPDATE", "tomato seedlings", "cracked bowl"),
        ("UPDATE", "cracked bowl", "cracked bowl"),
        ("DELETE", "cracked bowl", None),
    ]
    assert {c.owner.user_id for c in store.history(id_)} == {"mara"}


def test_delete_all_takes_one_owner_s_or_everybody_s_and_leaves_the_history(store):
    theo = one(store, "kiln", user_id="theo")
    ids = [one(store, "kiln"), one(store, "kiln", agent_id="cook")]
    assert [change.id for change in store.delete_all(user_id="mara")] == ids
    assert store.search("kiln", user_id="mara") == []
    assert [f.record.id for f in store.search("kiln", user_id="theo")] == [theo]
    ids = [theo, one(store, "kiln")]
    assert [change.id for change in store.delete_all(all=True)] == ids
    assert [len(store.history(id_)) for id_ in ids] == [2, 2]
    store.reset(all=True)
    assert [store.history(id_) for id_ in ids] == [[], []]
    again = one(store, "kiln")
    assert [f.record.id for f in store.search("kiln", user_id="mara")] == [again]


@pytest.mark.parametrize("kept", [True, False])
def test_the_reset_of_one_owner_leaves_the_others(tmp_path, kept):
    vectors = FaissVectors(str(tmp_path / "vectors.sqlite")) if kept else None
    with memory(tmp_path, vectors=vectors) as store, memory(tmp_path) as other:
        ids = [one(store, "kiln"), one(store, "kiln", agent_id="cook")]
        theo = one(store, "kiln", user_id="theo")
        store.update(ids[0], "bowl")
        store.delete(ids[1])
        assert len(other.search("kiln", user_id="mara")) == 1
        store.reset(user_id="mara")
        for open_ in (store, other):
            assert [open_.history(id_) for id_ in ids] == [[], []]
            assert open_.search("kiln", user_id="mara") == []
            assert [f.record.id for f in open_.search("kiln", user_id="theo")] == [theo]
            assert len(open_.history(theo)) == 1
        again = one(other, "kiln")
        assert [f.record.id for f in store.search("kiln", user_id="mara")] == [again]


def test_a_closed_memory_says_so(tmp_path):
    with memory(tmp_path) as store:
        one(store, "kiln")
    store.close()
    for use in (lambda: store.add("bowl", **OWNED), lambda: store.get("id")):
        with pytest.raises(InputError, match=r"memories\.sqlite: this memory is closed; open it"):
            use()


def test_a_record_has_its_accesses_and_its_time_in_utc_and_is_on_a_page(store):
    zone = timezone(timedelta(hours=8))
    ids = [one(store, f"kiln {i}", time=datetime(2024, 3, 2, 10, i, tzinfo=zone)) for i in range(5)]
    assert texts(store.get_all(user_id="mara", limit=2, offset=1)) == ["kiln 1", "kiln 2"]
    assert len(store.get_all(user_id="mara", offset=4)) == 1
    for _ in range(3):
        store.search("kiln", user_id="mara")
    record = store.get(ids[0])
    assert (record.accesses, record.as_json()["time"]) == (3, "2024-03-02T02:00:00Z")
    assert record.accessed is not None
    first = datetime.min.replace(tzinfo=zone)  # in UTC it would be before the year 1
    assert store.update(ids[0], time=first) is not None
    assert store.get_all(user_id="mara")[0].time == datetime.min


def nested(depth: int) -> dict[str, Any]:
    """Metadata of `depth` lists and objects."""
    value: Any = 1
    for _ in range(depth - 1):
        value = [value]
    return {"a": value}


NO_OWNER = (lambda s: s.add("kiln"), lambda s: s.search("kiln"), lambda s: s.get_all())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        *((use, "^owner: give at least one") for use in NO_OWNER),
        (lambda s: s.delete_all(), "^owner: give user_id, .* or all=true"),
        (lambda s: s.delete_all(all=True, **OWNED), "^owner: .*not both"),
        (lambda s: s.reset(user_id=None), "^owner: give user_id, .* or all=true"),
        (lambda s: s.reset(all=True, **OWNED), "^owner: .*not both"),
        (lambda s: s.reset(all="yes"), "^reset: all: .*valid boolean"),
        (lambda s: s.reset(user_id=""), "^reset: user_id: "),
        (lambda s: s.add("kiln", user_id=3), "^add: user_id: .*valid string"),
        (lambda s: s.add("kiln", run_id="x" * 257), "^add: run_id: .*at most 256"),
        (lambda s: s.add("kiln", user_id="half \ud800"), "^add: user_id: .*unicode"),
        (lambda s: s.add("", **OWNED), "^messages.0..content: use text"),
        (lambda s: s.add([], **OWNED), "^messages: give a text"),
        (lambda s: s.add([{"content": "x"}], **OWNED), "^messages.0.: role: Field required"),
        (lambda s: s.add([{"role": "user", "text": "x"}], **OWNED), "^messages.0.: text: Extra"),
        (lambda s: s.add([TALK[0] | {"tool_call_id": [1]}], **OWNED), "^messages.0..tool_call_id"),
        (lambda s: s.add("half \ud800", **OWNED), "^messages.0.: content: .*unicode"),
        (lambda s: s.add("kiln", metadata={"a": float("nan")}, **OWNED), "metadata: not a JSON"),
        (lambda s: s.add("kiln", metadata={1: 2}, **OWNED), "^add: metadata: not a JSON"),
        (lambda s: s.add("kiln", metadata=nested(21), **OWNED), "metadata: use .*nested 20 deep"),
        (lambda s: s.add("kiln", metadata=nested(20_000), **OWNED), "^add: metadata: not a JSON"),
        (lambda s: s.add("kiln", metadata={"a": "x" * 65_536}, **OWNED), "metadata: use .*65,536"),
        (lambda s: s.add("kiln", kind="dream", **OWNED), "^add: kind: "),
        (lambda s: s.add("kiln", infer=True, **OWNED), "^infer: there is no model"),
        (lambda s: s.add("kiln", infer="false", **OWNED), "^add: infer: .*valid boolean"),
        (lambda s: s.search("kiln", enable_graph=0, **OWNED), "^search: enable_graph: "),
        (lambda s: s.search("kiln", top_k=0, **OWNED), "^top_k: 0; use"),
        (lambda s: s.search("kiln", threshold="high", **OWNED), "^search: threshold: "),
        (lambda s: s.search("kiln", filters=[1], **OWNED), "^search: filters: not a JSON object"),
        (lambda s: s.update("x"), "^update: give text"),
        *((lambda s, w=w: s.get(w), "^get: memory_id: ") for w in (None, 5, "\ud800")),
        (lambda s: s.history(["a"]), "^history: memory_id: "),
        (lambda s: s.update(None, "new"), "^update: memory_id: "),
        (lambda s: s.delete(5), "^delete: memory_id: "),
        (lambda s: s.delete("x", history="no"), "^delete: history: "),
    ],
)
def test_wrong_input_is_named(store, call, message):
    with pytest.raises(InputError, match=message):
        call(store)
    assert store.get_all(user_id="mara") == []


def test_arguments_that_an_operation_does_not_have_are_refused(store):
    for given, named in ((("y",), {}), ((), {"memory_id": "y"}), ((), {"limit": 3})):
        with pytest.raises(TypeError, match="get"):
            store.get("x", *given, **named)
    with pytest.raises(InputError, match=r"^search: rerank: "):
        store.search("kiln", user_id="mara", rerank=True)  # type: ignore[call-arg]


@pytest.mark.parametrize("folder", [5, "a\0b", "~nobody-has-this-name/x"])
def test_a_folder_that_is_no_path_is_refused(folder):
    with pytest.raises(InputError, match=r"folder"):
        Memory(folder)
    if folder == 5:
        with pytest.raises(InputError, match="configuration: 5; use a path"):
            Memory.from_config(folder)


def test_an_update_sets_the_title_and_lexical_search_finds_it(tmp_path):
    with memory(tmp_path, start="lexical") as store:
        messages = "bowl", "cup", "seedlings"  # a word of one text in two has no weight
        first, other, _ = (store.add(text, user_id="mara").changes[0] for text in messages)
        titles = lambda: [one.title for one in store.get_all(user_id="mara")]  # noqa: E731
        assert titles() == list(messages)  # by rule
        assert store.search("pottery", user_id="mara", top_k=1)[0].relevance == 0
        change = store.update(other.id, title="Pottery")
        assert (change.old, change.new) == ("cup", "cup")
        assert texts(store.search("pottery", user_id="mara", top_k=1)) == ["cup"]
        store.update(other.id, "The mug", title="Pottery")
        assert texts(store.search("pottery", user_id="mara", top_k=1)) == ["The mug"]
        store.update(other.id, "Two mugs")
        assert titles() == ["bowl", "mugs", "seedlings"]
        assert store.search("pottery", user_id="mara", top_k=1)[0].relevance == 0
        store.update(other.id, title="")
        assert titles() == ["bowl", "", "seedlings"]
        for wrong in (7, "x" * 257, "\ud800"):
            with pytest.raises(InputError, match="title: "):
                store.update(first.id, title=wrong)  # type: ignore[arg-type]


def test_updates_of_text_and_title_at_once_lose_neither(store, monkeypatch):
    (one,) = store.add("Mara owns a kiln", user_id="mara").changes
    embedder, embed = store._writer.embedder, store._writer.embedder.documents

    def meanwhile(texts: Any) -> Any:
        monkeypatch.setattr(embedder, "documents", embed)
        store.update(one.id, "Mara sold the kiln")
        return embed(texts)

    monkeypatch.setattr(embedder, "documents", meanwhile)
    store.update(one.id, title="pottery", metadata={"app": 1})
    found = store.get(one.id)
    assert (found.memory, found.title) == ("Mara sold the kiln", "pottery")
    assert found.index_text == "pottery\nMara sold the kiln"
    assert store.search("sold", user_id="mara")[0].score > 0.4  # its vector is that of the text

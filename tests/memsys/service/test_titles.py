"""A memory's title: stored, changed, and found by its words."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from memsys.core.errors import InputError
from memsys.core.types import Memory as Unit
from memsys.service.writing import About
from tests.memsys.service.made import memory, texts


def test_a_unit_s_title_is_a_field_of_the_record_and_of_its_json(tmp_path):
    unit = Unit("u", "Mara fires bowls.", "", datetime(2024, 3, 2), "Mara", (), title="Pottery")
    with memory(tmp_path) as store:
        owner = store.add("I sold a bowl.", user_id="mara").changes[0].owner
        store._writer.add([unit], About(owner, {}, "fact", {}))
        plain, titled = store.get_all(user_id="mara")
    assert (plain.title, titled.title) == ("sold", "Pottery")
    assert titled.as_json()["title"] == "Pottery"


def test_an_update_sets_the_title_and_lexical_search_finds_it(tmp_path):
    with memory(tmp_path, start="lexical") as store:
        said = "bowl", "cup", "seedlings"  # a word of one text in two has no weight
        first, other, _ = (store.add(text, user_id="mara").changes[0] for text in said)
        titles = lambda: [one.title for one in store.get_all(user_id="mara")]  # noqa: E731
        assert titles() == list(said)  # by rule
        assert store.search("pottery", user_id="mara", top_k=1)[0].relevance == 0
        change = store.update(other.id, title="Pottery")
        assert change is not None
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


def test_updates_of_text_and_title_at_once_lose_neither(tmp_path, monkeypatch):
    with memory(tmp_path) as store:
        (one,) = store.add("Mara owns a kiln", user_id="mara").changes
        embedder, embed = store._writer.embedder, store._writer.embedder.documents

        def meanwhile(texts: Any) -> Any:
            monkeypatch.setattr(embedder, "documents", embed)
            store.update(one.id, "Mara sold the kiln")
            return embed(texts)

        monkeypatch.setattr(embedder, "documents", meanwhile)
        store.update(one.id, title="pottery", metadata={"app": 1})
        found = store.get(one.id)
        assert found is not None
        assert (found.memory, found.title) == ("Mara sold the kiln", "pottery")
        assert found.index_text == "pottery\nMara sold the kiln"
        assert store.search("sold", user_id="mara")[0].score > 0.4  # its vector is that of the text

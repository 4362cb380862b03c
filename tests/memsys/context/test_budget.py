"""No memories and no budget make a context longer than its budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memsys.context.writers import ContextWriter, Flat, Layered, Xml
from memsys.text.tokens import count_tokens
from memsys.types import Candidate
from tests.memsys.build import candidate

TEXT = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="我喜欢爬山的茶馆。，\n", max_size=60),
    st.text(alphabet="<>&'\"/memory \n\t\r[]", max_size=60),
    st.lists(st.sampled_from(["Mara:", "kiln", "\n", " ", "<|endoftext|>", "12:30", "…"])).map(
        "".join
    ),
)
FOUND = st.lists(
    st.builds(
        candidate,
        st.text(max_size=3),
        TEXT,
        st.integers(1, 28),
        st.sampled_from(["direct", "expanded"]),
    ),
    max_size=12,
)


@pytest.mark.parametrize(
    "writer", [Flat("flat"), Xml("xml"), Layered("layered")], ids=["flat", "xml", "layered"]
)
@given(found=FOUND, budget=st.integers(1, 400))
@settings(max_examples=120, deadline=None)
def test_the_text_never_exceeds_its_budget(
    writer: ContextWriter, found: list[Candidate], budget: int
) -> None:
    kept, text = writer.write(found, budget)
    assert count_tokens(text) <= budget
    ranks = iter(found)
    assert all(any(one is other for other in ranks) for one in kept)  # in rank order, each once
    assert text == writer.write(kept, None)[1]

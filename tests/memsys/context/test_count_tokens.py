from __future__ import annotations

import pytest

from memsys.text.tokens import count_tokens


# Counts of tiktoken's o200k_base, whose ranks these are.
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", 0),
        ("hello", 1),
        ("hello world", 2),
        ("tiktoken is great!", 6),
        ("antidisestablishmentarianism", 6),
        ("2 + 2 = 4", 7),
        ("\n", 1),
        ("お誕生日おめでとう", 8),
    ],
)
def test_exact_counts(text: str, expected: int) -> None:
    assert count_tokens(text) == expected


@pytest.mark.parametrize("mark", ["<|endoftext|>", "<|endofprompt|>"])
def test_a_special_mark_is_plain_text(mark: str) -> None:
    assert count_tokens(mark) > 1
    assert count_tokens(f"hello {mark}") >= count_tokens(mark)

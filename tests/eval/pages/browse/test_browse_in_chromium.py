"""The page of questions in a real browser: its script searches, and opens a card when asked."""

from __future__ import annotations

import re

from tests.eval.pages.shown import dump, needs_chromium

pytestmark = needs_chromium


def test_all_questions_are_listed(home, tmp_path):
    found = dump(home, tmp_path)
    assert "1 to 30 of 30 questions" in found
    assert len(re.findall(r'<details class="card"', found)) == 30
    assert found.count("<script") == 2  # the rows, and the page's own
    assert "<img" not in found


def test_an_address_filters_and_opens(home, tmp_path):
    found = dump(f"{home}#verdict=abstained&run=2&open=ash/1", tmp_path)
    assert "1 to 2 of 2 questions" in found
    card = re.search(r'<details class="card" data-id="ash/1".*?</details>', found, re.DOTALL)
    assert card is not None
    assert "open" in card[0].partition(">")[0]
    assert "I do not know." in card[0]  # loaded on demand
    assert 'class="hit"' in card[0]
    assert "&lt;img src=x" in card[0]
    other = re.search(r'<details class="card" data-id="ash/4".*?</details>', found, re.DOTALL)
    assert other is not None
    assert "Not mentioned." not in other[0]


def test_an_address_that_fits_nothing(home, tmp_path):
    found = dump(f"{home}#start=9999999999&type=spatial", tmp_path)
    assert "1 to 30 of 30 questions" in found
    assert "No question matches." in dump(f"{home}#q=nowhere", tmp_path)

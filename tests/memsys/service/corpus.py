"""A small corpus with queries and judgements, as mteb hands them to a search model."""

from __future__ import annotations

from typing import Any

CORPUS: list[dict[str, Any]] = [
    {"id": "d1", "title": "Bees", "text": "Honey bees dance to point at flowers."},
    {"id": "d2", "title": "", "text": "A lighthouse warns ships off the rocks at night."},
    {"id": "d 3", "title": "Tides", "text": "The moon pulls the sea twice a day."},
    {"id": "d4", "title": None, "text": "Clay pots crack in a kiln that cools too fast."},
    {"id": "d5", "text": "Rye bread needs a sour dough and a night of rest."},
    {"id": "d6", "title": "Moths", "text": "Moths circle the lighthouse lamp on warm nights."},
    {"id": "d7", "title": "", "text": ""},
]
QUERIES: list[dict[str, Any]] = [
    {"id": "q1", "text": "How do bees show where the flowers are?"},
    {"id": "q2", "text": "What moves the sea?"},
    {"id": "q3", "text": "What is drawn to the lighthouse at night?"},
]
QRELS = {"q1": {"d1": 1}, "q2": {"d 3": 2, "d2": 0}, "q3": {"d6": 1, "d2": 1, "d5": 1}}
POOLS = {"q1": ["d2", "d1", "d4"], "q2": ["d 3", "d2"], "q3": ["d4", "d2", "d6", "d7"]}

"""Made-up score cards."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from eval.cards.card.schema import Card, save_card

TYPES = {"multi_hop": 282, "temporal": 321, "open_domain": 96, "single_hop": 841}
ALL_TYPES = TYPES | {"adversarial": 446}
HALF = TYPES | {"single_hop": 400}
LEFT = {"corrected": 1514, "excluded": 1441}  # questions of types 1-4 under the other keys
DATA = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
LOCOMO = {"_target_": "eval.datasets.locomo.LoCoMo", "name": "locomo", "key": "original"}
HOSTILE = "Evil </script><script>alert(1)</script><img src=x onerror=alert(1)> \"'&"
Json = dict[str, Any]


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def score(key: str, protocol: str | None, type_: str, measure: str, n: int, mean: float) -> Json:
    ends = {"low": round(mean - 0.03, 6), "high": round(mean + 0.03, 6)}
    what = {"key": key, "protocol": protocol, "type": type_, "measure": measure}
    return {**what, "n": n, "mean": round(mean, 6), **ends}


def scores(f1: float, types: Mapping[str, int], verdicts: float | None) -> list[Json]:
    """Scores as of a run under the original key, and F1 alone under the other two."""
    made = []
    asked = {name: n for name, n in types.items() if name != "adversarial"}
    for place, protocol in enumerate(("locomo", "mem0", "memos", "strict")):
        counted = dict(types) if protocol == "locomo" else asked
        total, under = sum(counted.values()), f1 - 0.01 * place
        made.append(score("original", protocol, "overall", "f1", total, under))
        made.append(score("original", protocol, "overall", "bleu1", total, under * 0.8))
        for step, (name, n) in enumerate(counted.items(), 1):
            made.append(score("original", protocol, name, "f1", n, under - 0.02 * step))
        for key, left in LEFT.items():
            made.append(score(key, protocol, "overall", "f1", total - 1540 + left, under + 0.01))
    if verdicts is not None:
        n = sum(asked.values())
        judge = score("original", None, "overall", "judge", n, verdicts)
        made.append(judge | {"reported": True})
    return made


def card(
    system: str,
    f1: float = 0.4,
    *,
    types: Mapping[str, int] = TYPES,
    reader: str | None = "gpt-4.1-mini",
    verdicts: float | None = 0.6,
    data: str = DATA,
    kind: str = "imported",
    answers: str = "answers.json",
    url: str | None = "https://example.org/answers.json",
    dataset: Mapping[str, object] = LOCOMO,
    **more: object,
) -> Card:
    total = sum(types.values())
    of_answers = {"role": "answers", "name": answers, "bytes": 10, "sha256": sha(system)}
    fields = {
        "system": system,
        "kind": kind,
        "made_at": "2026-11-22T20:00:00+00:00",
        "command": f"python -m eval rescore answers.json --name {system}",
        "code": {"version": "0.2.0", "commit": "12c36f0"},
        "dataset": dataset,
        "models": {"reader": reader, "judge": "gpt-4o-mini" if verdicts else None},
        "origin": {"repository": "example/answers", "commit": "7b143c50", "url": url},
        "unknown": ["The embedder is not known."],
        "rows": {"questions": 1986, "matched": total, "errors": 0},
        "files": [
            {"role": "data", "name": "locomo10.json", "bytes": 2_805_274, "sha256": data},
            of_answers | {"rows_sha256": sha(f"rows of {system}")},
        ],
        "scores": scores(f1, types, verdicts),
        **more,
    }
    return Card.model_validate(fields)


def keyless(system: str, f1: float = 0.2) -> Card:
    return card(
        system, f1, types=ALL_TYPES, reader="extractive", verdicts=None, kind="run", origin=None
    )


def write(folder: Path, *cards: Card) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(cards):
        save_card(one, folder / f"{number}.json")
    return folder

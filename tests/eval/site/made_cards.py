"""Made-up score cards."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.card.schema import Card, CardFile, Origin, Score

TYPES = {"multi_hop": 282, "temporal": 321, "open_domain": 96, "single_hop": 841}
KEYS = {"original": 1540, "corrected": 1538, "excluded": 1441}
DATA = "79fa87e90f04081343b8c8debecb80a9a6842b76a7aa537dc9fdf651ea698ff4"
LOCOMO = {"_target_": "eval.datasets.locomo.LoCoMo", "name": "locomo", "key": "original"}
HOSTILE = "Evil </script><script>alert(1)</script><img src=x onerror=alert(1)> \"'&"


def sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def scores(
    f1: float, types: Mapping[str, int] = TYPES, verdicts: float | None = None
) -> list[Score]:
    """Scores as of a run under the original key, and F1 alone under the other two."""
    total = sum(n for name, n in types.items() if name != "adversarial")
    made = []
    for place, protocol in enumerate(("locomo", "mem0", "memos", "strict")):
        counted = (
            dict(types)
            if protocol == "locomo"
            else {name: n for name, n in types.items() if name != "adversarial"}
        )
        for step, (name, n) in enumerate([*counted.items(), ("overall", sum(counted.values()))]):
            mean = f1 - 0.01 * place - 0.02 * step
            interval = {"low": mean - 0.03, "high": mean + 0.03}
            made.append(
                Score(
                    key="original",
                    protocol=protocol,
                    type=name,
                    measure="f1",
                    n=n,
                    mean=mean,
                    **interval,
                )
            )
        for key in ("corrected", "excluded"):
            n = round(total * KEYS[key] / 1540)
            made.append(
                Score(
                    key=key,
                    protocol=protocol,
                    type="overall",
                    measure="f1",
                    n=n,
                    mean=f1 + 0.01,
                    low=f1,
                    high=f1 + 0.02,
                )
            )
    made.append(
        Score(
            key="original",
            protocol=None,
            type="overall",
            measure="bleu1",
            n=total,
            mean=f1 * 0.8,
            low=f1 * 0.7,
            high=f1 * 0.9,
        )
    )
    if verdicts is not None:
        made.append(
            Score(
                key="original",
                protocol=None,
                type="overall",
                measure="judge",
                n=total,
                mean=verdicts,
                low=verdicts - 0.02,
                high=verdicts + 0.02,
                reported=True,
            )
        )
    return made


def card(
    system: str,
    f1: float = 0.4,
    *,
    types: Mapping[str, int] = TYPES,
    reader: str | None = "gpt-4.1-mini",
    verdicts: float | None = 0.6,
    data: str = DATA,
    dataset: Mapping[str, object] = LOCOMO,
    url: str | None = "https://example.org/answers.json",
    kind: str = "imported",
    unknown: Sequence[str] = ("The embedder is not known.",),
    file: str = "answers.json",
) -> Card:
    total = sum(types.values())
    return Card(
        system=system,
        kind=kind,
        made_at="2026-11-22T20:00:00+00:00",
        command=f"python -m eval.card {system}",
        code={"version": "0.2.0", "commit": "12c36f0"},
        config_sha256=sha("config"),
        dataset=dataset,
        models={"reader": reader, "judge": "gpt-4o-mini" if verdicts else None},
        origin=Origin(repository="example/answers", commit="7b143c50", path=file, url=url),
        unknown=list(unknown),
        rows={"rows": total, "matched": total, "unmatched": 0, "errors": 0, "questions": 1986},
        files=[
            CardFile(role="data", name="locomo10.json", bytes=2_805_274, sha256=data),
            CardFile(
                role="answers",
                name=file,
                bytes=1_000_000,
                sha256=sha(system),
                rows_sha256=sha(f"rows {system}"),
            ),
        ],
        scores=scores(f1, types, verdicts),
    )


def write(folder: Path, *cards: Card) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for number, one in enumerate(cards):
        (folder / f"{number}.json").write_text(one.model_dump_json(), encoding="utf-8")
    return folder

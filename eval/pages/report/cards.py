"""Question cards from the records of several runs, and the verdict on an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from eval.analyse.diagnose.retrieval_vs_reading import Marking
from eval.datasets.types import ADVERSARIAL
from eval.metrics.evidence import RECORDED
from eval.pages.report.runs import ReportedRun, Texts
from eval.records.answer_key_views import left_out
from eval.records.rankings import Ranked, session_of
from eval.records.run import Run, error_of
from eval.records.schema import Record, store_of
from eval.rendering.blocks import Card, CardLine, ModelCall, Side
from eval.summary.retrieval import evidence_of, evidence_ranks

SHOWN = 12  # memories without evidence that a card shows of a context
RIGHT, WRONG, ERROR, UNSCORED = "right", "wrong", "error", "not scored"
_SCORES = ("evidence_recall", "judge")  # shown besides the score that decides


def verdict(record: Record, marking: Marking) -> str:
    """Return RIGHT, WRONG, ERROR or UNSCORED. On type 5 only abstaining is right; elsewhere the
    judge's verdict decides or, without a judge, whether the score reaches the marking's threshold.
    """
    if record["status"] != "ok":
        return ERROR
    if left_out(record):
        return UNSCORED
    if record["answer"] is None:
        return UNSCORED
    if record["category"] == ADVERSARIAL:
        return RIGHT if record["abstained"] else WRONG
    right = marking.right(record)
    return UNSCORED if right is None else RIGHT if right else WRONG


def question_card(
    id_: str,
    runs: Iterable[ReportedRun],
    calls: Callable[[ReportedRun], Sequence[ModelCall]] = lambda _: (),
) -> Card:
    """Return the card of a question with the answers of those `runs`, at least one, that asked it.

    Evidence, gold answer and type are those of the first of them; `calls` returns the calls to
    models that a run made for the question.
    """
    asked = [run for run in runs if id_ in run.records]
    first = asked[0].records[id_]
    return Card(
        id_,
        first["type"],
        first["question"],
        first["gold"],
        left_out(first),
        tuple(first["evidence"]),
        [
            replace(
                side(
                    run.label,
                    run.records[id_],
                    run.marking,
                    run.texts,
                    run.rankings.get(id_),
                ),
                ranks=ranks_of_evidence(run, id_),
                calls=calls(run),
            )
            for run in asked
        ],
    )


def side(
    label: str,
    record: Record,
    marking: Marking,
    texts: Texts | None,
    ranked: Ranked | None = None,
) -> Side:
    """Return the answer and the retrieval of one run: what was `ranked`, where no context is
    recorded. Without `texts`, memories have only ids.
    """
    failed = record["status"] != "ok"
    ranking = record["retrieved"] is None and ranked is not None
    lines = None if failed or record["retrieved"] is None else _lines(record, texts)
    if ranked is not None and ranking and not failed:
        lines = _ranked_lines(record, ranked, texts)
    shown = None if lines is None else _shown(lines)
    of_ranking = RECORDED if record["answer"] is None else ()
    names = dict.fromkeys((marking.score, *_SCORES, *of_ranking))
    scores = {} if failed else record["scores"]
    return Side(
        label,
        verdict(record, marking),
        bool(record["abstained"]),
        record["answer"],
        error_of(record) if failed else None,
        [(name, score) for name in names if (score := scores.get(name)) is not None],
        shown,
        len(lines or ()) - len(shown or ()),
        _missed(record, lines, texts),
        list(_judged(record)),
        ranking=ranking,
    )


def ranks_of_evidence(run: Run, id_: str) -> str:
    """Return the rank of each evidence turn (or session) of a question in the recorded ranking, as
    a sentence without a full stop; "" where no ranking is recorded or no evidence is given.
    """
    found = evidence_ranks(run, run.records[id_])
    if found is None:
        return ""
    if found.selected:
        places = [f"{one} {'not ' * (rank is None)}selected" for one, rank in found.ranks.items()]
        return f"Evidence {found.unit}s, of {found.listed} without an order: {', '.join(places)}"
    absent = "not ranked" if found.complete else f"not within {found.listed}"
    places = [
        f"{one} {absent if rank is None else f'at {rank}'}" for one, rank in found.ranks.items()
    ]
    return f"Evidence {found.unit}s in the ranking: {', '.join(places)}"


def _judged(record: Record) -> Iterator[str]:
    """Yield a line for each verdict of each judge, with its reason, or for the judge's error."""
    reasons = record.get("judge_reasons") or {}
    for name, verdicts in (record["judge"] or {}).items():
        given = reasons.get(name) or []
        for number, passed in enumerate(verdicts):
            run = f", run {number + 1}" if len(verdicts) > 1 else ""
            reason = given[number] if number < len(given) else ""
            yield f"{name}{run}: {RIGHT if passed else WRONG}{': ' * bool(reason)}{reason}"
    if error := record.get("judge_error"):
        yield f"no verdict: {error['kind']}: {error['message']}"


def _lines(record: Record, texts: Texts | None) -> list[CardLine]:
    evidence = set(record["evidence"])
    steps = {step["memory"]: step for step in record["trace"].get("expansion") or ()}
    lines = []
    for id_, turns, score, origin in record["retrieved"] or ():
        found = texts.memory(store_of(record), id_, turns) if texts else None
        text, time = found or (None, None)
        via = _via(steps.get(id_, {})) if origin == "expanded" else None
        hit = not evidence.isdisjoint(turns)
        lines.append(CardLine(id_, tuple(turns), text, time, score, origin, hit, via))
    return lines


def _ranked_lines(record: Record, ranked: Ranked, texts: Texts | None) -> list[CardLine]:
    """Return the recorded ranks of turns or sessions; the turns of a session are its evidence."""
    sessions = evidence_of(record, "session") if ranked.turns is None else ()
    lines = []
    for id_, score in ranked.memories:
        turns = [turn for turn in record["evidence"] if id_ in {turn, session_of(turn)}]
        found = texts.turn(ranked.store, id_) if texts else None
        text, time = found or (None, None)
        hit = bool(turns) or id_ in sessions
        lines.append(CardLine(id_, turns or [id_], text, time, score, "direct", hit))
    return lines


def _via(step: Mapping[str, Any]) -> str:
    if "seed" not in step:
        return "by expansion"
    return f"from {step['seed']} by {step.get('via', '?')}"


def _shown(lines: Sequence[CardLine]) -> list[CardLine]:
    """Return the lines with evidence, and the first SHOWN others."""
    shown, others = [], 0
    for line in lines:
        others += not line.evidence
        if line.evidence or others <= SHOWN:
            shown.append(line)
    return shown


def _missed(
    record: Record, lines: Sequence[CardLine] | None, texts: Texts | None
) -> list[CardLine]:
    if lines is None:
        return []
    retrieved = {turn for line in lines for turn in line.turns}
    missed = []
    for turn in dict.fromkeys(record["evidence"]):
        if turn not in retrieved:
            found = texts.turn(store_of(record), turn) if texts else None
            text, time = found or (None, None)
            missed.append(CardLine(turn, (turn,), text, time, None, "missed", evidence=True))
    return missed

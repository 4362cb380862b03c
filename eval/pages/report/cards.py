"""Question cards from the records of several runs: answers with verdicts, and the questions with
the largest gains and losses of a run against the first.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import count

from eval.analyse.compare.comparable import objections
from eval.analyse.diagnose.retrieval_vs_reading import Marking, evidence_ranks
from eval.datasets.types import ADVERSARIAL
from eval.metrics.evidence import RECORDED
from eval.metrics.retrieval.registry import parse
from eval.pages.report.runs import ReportedRun, Texts, missing_texts
from eval.records.answer_key_views import left_out
from eval.records.rankings import Ranked, session_of
from eval.records.run import Run, error_of
from eval.records.schema import Record, store_of
from eval.rendering.blocks import Block, Card, CardLine, Deck, ModelCall, Part, Side
from eval.rendering.numbers import signed
from eval.rendering.tables import answered
from eval.summary.measures import JUDGE, Measure, has_key, types_of, unanswered
from eval.summary.retrieval import evidence_of, unit_of
from memsys.core.errors import InputError

LARGEST = 10  # gains, and losses, that are shown
SHOWN = 12  # memories without evidence that a card shows of a context
RIGHT, WRONG, ERROR, UNSCORED = "right", "wrong", "error", "not scored"
_SCORES = ("evidence_recall", "judge")  # shown besides the score that decides


def verdict(record: Record, marking: Marking) -> str:
    """Return RIGHT, WRONG, ERROR or UNSCORED. On type 5 only abstaining is right; elsewhere the
    judge's verdict decides or, without a judge, whether the score reaches the marking's threshold.
    """
    if record["status"] != "ok":
        return ERROR
    if left_out(record) or record["answer"] is None:
        return UNSCORED
    if record["category"] == ADVERSARIAL:
        return RIGHT if record["abstained"] else WRONG
    right = marking.right(record)
    return UNSCORED if right is None else RIGHT if right else WRONG


def question_card(
    id_: str,
    runs: Iterable[ReportedRun],
    calls: Callable[[ReportedRun], Sequence[ModelCall]] = lambda _: (),
    change: str = "",
) -> Card:
    """Return the card of a question with the answers of those `runs`, at least one, that asked it.

    Evidence, gold answer and type are those of the first of them; `calls` returns the calls to
    models that a run made for the question, `change` is that of its score.
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
        [side(run, id_, calls(run)) for run in asked],
        change,
    )


def side(run: ReportedRun, id_: str, calls: Sequence[ModelCall] = ()) -> Side:
    """Return the answer and the retrieval of a question in one run: what was ranked, where no
    context is recorded. `calls`: as of Side.
    """
    record, texts, ranked = run.records[id_], run.texts, run.rankings.get(id_)
    failed = record["status"] != "ok"
    ranking = record["retrieved"] is None and ranked is not None
    lines = None if failed or record["retrieved"] is None else _lines(record, texts)
    if ranked is not None and ranking and not failed:
        lines = _ranked_lines(record, ranked, texts)
    shown = None
    if lines is not None:  # those with evidence, and the first others
        others = count(1)
        shown = [line for line in lines if line.evidence or next(others) <= SHOWN]
    of_ranking = RECORDED if record["answer"] is None else ()
    names = dict.fromkeys((run.marking.score, *_SCORES, *of_ranking))
    scores = {} if failed else record["scores"]
    return Side(
        run.label,
        verdict(record, run.marking),
        bool(record["abstained"]),
        record["answer"],
        error_of(record) if failed else None,
        [(name, score) for name in names if (score := scores.get(name)) is not None],
        shown,
        len(lines or ()) - len(shown or ()),
        _missed_lines(record, lines, texts),
        list(_verdicts(record)),
        ranks_of_evidence(run, id_),
        ranking,
        calls,
    )


def ranks_of_evidence(run: Run, id_: str) -> str:
    """Return the rank of each evidence turn (or session) of a question in the recorded ranking, as
    a sentence without a full stop; "" where no ranking is recorded or no evidence is given.
    """
    ranks = evidence_ranks(run, run.records[id_])
    if ranks is None:
        return ""
    if ranks.selected:
        places = [f"{name} {'not ' * (rank is None)}selected" for name, rank in ranks.ranks.items()]
        return f"Evidence {ranks.unit}s, of {ranks.listed} without an order: {', '.join(places)}"
    absent = "not ranked" if ranks.complete else f"not within {ranks.listed}"
    places = [
        f"{name} {absent if rank is None else f'at {rank}'}" for name, rank in ranks.ranks.items()
    ]
    return f"Evidence {ranks.unit}s in the ranking: {', '.join(places)}"


def _verdicts(record: Record) -> Iterator[str]:
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


def _lines(record: Record, texts: Texts) -> list[CardLine]:
    evidence = set(record["evidence"])
    steps = {step["memory"]: step for step in record["trace"].get("expansion") or ()}
    lines = []
    for id_, turns, score, origin in record["retrieved"] or ():
        text, time = texts.memory(store_of(record), id_, turns)
        via, step = None, steps.get(id_)
        if origin == "expanded":
            via = "by expansion"
            if step and "seed" in step:
                via = f"from {step['seed']} by {step.get('via', '?')}"
        hit = not evidence.isdisjoint(turns)
        lines.append(CardLine(id_, tuple(turns), text, time, score, origin, hit, via))
    return lines


def _ranked_lines(record: Record, ranked: Ranked, texts: Texts) -> list[CardLine]:
    """Return the recorded ranks of turns or sessions; the turns of a session are its evidence."""
    sessions = evidence_of(record, "session") if ranked.turns is None else ()
    lines = []
    for id_, score in ranked.memories:
        turns = [turn for turn in record["evidence"] if id_ in {turn, session_of(turn)}]
        text, time = texts.turn(ranked.store, id_)
        hit = bool(turns) or id_ in sessions
        lines.append(CardLine(id_, turns or [id_], text, time, score, "direct", hit))
    return lines


def _missed_lines(record: Record, lines: Sequence[CardLine] | None, texts: Texts) -> list[CardLine]:
    """Return the evidence that is not among the `lines` of a context, or of a ranking."""
    if lines is None:
        return []
    retrieved = {turn for line in lines for turn in line.turns}
    missed = [turn for turn in dict.fromkeys(record["evidence"]) if turn not in retrieved]
    return [
        CardLine(turn, (turn,), *texts.turn(store_of(record), turn), None, "missed", evidence=True)
        for turn in missed
    ]


def changes_block(runs: Sequence[ReportedRun]) -> Block | None:
    """Return the largest gains and losses of each run against the first; None with one run."""
    if len(runs) < 2:
        return None
    first, parts = runs[0], list[Part]()
    measure = score_of(runs)
    key = measure.key
    for run in runs[1:]:
        if objections([first, run], [measure], [key]):
            parts.append(f"{run.label}: not compared with {first.label} (see the differences).")
            continue
        changes = gains_and_losses(first, run, measure)
        for name, all_ in zip(("gains", "losses"), changes, strict=True):
            if not all_:
                parts.append(f"{run.label} has no {name} against {first.label} in {key}.")
                continue
            shown = all_[:LARGEST]
            ends = dict.fromkeys(signed(difference, 2) for _, difference in (shown[0], shown[-1]))
            title = f"{run.label} against {first.label}: {len(shown)} of {len(all_)} {name} in "
            title += f"{key} ({' to '.join(ends)})"
            cards = [
                question_card(id_, (first, run), change=signed(difference, 2))
                for id_, difference in shown
            ]
            parts.append(Deck(title, cards))
    parts.append(
        f"By {key} on {answered(types_of(runs))}; equal changes are in the order of the data set. "
        "These are examples, not statistics. Evidence is marked in the contexts."
    )
    parts += [f"{sentence}." for sentence in missing_texts(runs)]
    return Block("changes", "Largest gains and losses", parts)


def score_of(runs: Sequence[ReportedRun]) -> Measure:
    """Return the score that ranks changes: the judge's if all runs have it, else the first F1;
    recall of evidence, which records have for turns alone, where a run has no answers, or where
    there are neither gold answers nor verdicts.
    """
    unscored = not any(map(has_key, runs)) and not all(run.judged for run in runs)
    if unscored or not all(run.has_answers for run in runs):
        name = unanswered(runs)[0]
        return Measure(name, (), parse(name) if unit_of(runs) == "session" else None)
    return Measure(JUDGE if all(run.judged for run in runs) else runs[0].own_f1, ())


def score_in(run: Run, asked: Record, measure: Measure) -> float | None:
    """Return the score of a question in `run`; None if it did not ask it with the same text as the
    record `asked`, or has no score.
    """
    record = run.records.get(asked["id"])
    if record is None or record["question"] != asked["question"]:
        return None
    try:
        return measure.score(run, asked["id"])
    except InputError:  # the rankings do not determine it, as the differences say
        return None


def gains_and_losses(
    first: Run, run: Run, measure: Measure
) -> tuple[list[tuple[str, float]], list[tuple[str, float]]]:
    """Return all gains and all losses of types 1 to 4, each sorted from the largest: the id of a
    question, and its score in `run` minus that in the first run.
    """
    changes = []
    for id_, record in first.records.items():
        before, after = (score_in(source, record, measure) for source in (first, run))
        if record["category"] != ADVERSARIAL and before is not None and after is not None:
            changes.append((id_, after - before))
    gains = sorted((pair for pair in changes if pair[1] > 0), key=lambda pair: -pair[1])
    losses = sorted((pair for pair in changes if pair[1] < 0), key=lambda pair: pair[1])
    return gains, losses

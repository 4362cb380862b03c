"""Questions by rule whose answer and evidence are known, without a model.

A cue is a phrase of one or two words that occur together in one turn of the conversation only, so
that exactly one turn answers. Each rule has one wording; it repeats the words of the cue and
nothing else of the evidence.
"""

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, Final

from eval.transcripts.history import TABLE, Cue, History, Kind, Said, Value, values
from memsys.core.dates import write_day
from memsys.core.terms import terms
from memsys.core.types import Conversation

# LoCoMo's ids of the types.
_MULTI_HOP, _TEMPORAL, _SINGLE_HOP, _ADVERSARIAL = 1, 2, 4, 5
RULES: Final = ("who", "when", "value", "date", "reply", "twice", "session", "last", "absent")
_OFTEN = 3  # turns that contain each of two things that were mentioned together in one session
_PAIRED = 60  # things that a speaker spoke of in a session, of which pairs are made
_POOL = 20  # candidates of each rule among which a question is chosen
_NEAR = 3  # turns around a cue in which the other speaker may speak of the same
_NOUNS: Final[dict[Kind, str]] = TABLE["nouns"]
_ATTRIBUTES = tuple(map(re.compile, TABLE["attributes"]))


@dataclass(frozen=True, slots=True)
class Silver:
    """A question made by `rule`, with the ids of the turns that answer it.

    `answer`: None where abstaining is right; `wrong` is then the answer that the question suggests.
    `stale`: earlier values of the same attribute, oldest first.
    """

    rule: str
    category: int
    question: str
    answer: str | None
    evidence: tuple[str, ...]
    wrong: str | None = None
    stale: tuple[str, ...] = field(default=())

    def row(self) -> dict[str, Any]:
        """Return the question as an item of `qa`; `rule` and `stale` are ignored by loaders."""
        row = {
            "question": self.question,
            "answer": self.answer,
            "evidence": list(self.evidence),
            "category": self.category,
            "adversarial_answer": self.wrong,
            "rule": self.rule,
            "stale": list(self.stale) or None,
        }
        return {name: value for name, value in row.items() if value is not None}


def questions(conversation: Conversation, count: int, seed: int) -> list[Silver]:
    """Return at most `count` questions, of each rule about as many, in order of their evidence.

    The rules take turns; a turn is evidence of one question only, where a rule has others.
    """
    history = History(conversation)
    order = random.Random(f"{seed}/{conversation.id}")  # noqa: S311 - no secret
    pools: dict[str, list[Silver]] = {rule: [] for rule in RULES}
    totals = Counter[str]()
    for silver in _all(history):
        pool, most = pools[silver.rule], _POOL * count
        totals[silver.rule] += 1
        place = order.randrange(totals[silver.rule])  # a random sample of the rule's, in memory
        if len(pool) < most:
            pool.append(silver)
        elif place < most:
            pool[place] = silver
    for rule in RULES:
        order.shuffle(pools[rule])
    selected: list[Silver] = []
    used: set[str] = set()  # turns and questions
    while len(selected) < count and any(pools.values()):
        for rule in RULES:
            while pools[rule] and len(selected) < count:
                silver = pools[rule].pop()
                if used.isdisjoint([silver.question, *silver.evidence]):
                    used.update([silver.question, *silver.evidence])
                    selected.append(silver)
                    break
    places = {spot.turn.id: spot.index for spot in history.turns}
    return sorted(selected, key=lambda silver: (places[silver.evidence[0]], silver.question))


def _all(history: History) -> Iterator[Silver]:
    """Yield every question that the rules make of `history`."""
    for spot in history.turns:
        rows = [[*values(text, spot.time.date(), history.speakers)] for text in spot.sentences]
        for number, sentence in enumerate(spot.sentences):
            for cue in history.cues(sentence):
                turns = history.turns_with(cue)
                if turns == [spot.index]:
                    if history.is_common(cue, 1):
                        yield from _of_cue(history, spot, cue)
                    yield from _of_value(spot, cue, number, rows)
                if sentence.rstrip().endswith("?") and not {*turns} - {spot.index, spot.index + 1}:
                    yield from _of_reply(history, spot, cue)
                if turns[0] == spot.index and len(turns) == 2 and history.is_common(cue, 2):
                    yield from _of_two(spot, history.turns[turns[1]], cue)
    yield from _of_sessions(history)
    yield from _of_attributes(history)


def _of_cue(history: History, spot: Said, cue: Cue) -> Iterator[Silver]:
    """Yield who mentioned the cue and when, and when the other speaker did, who did not."""
    speaker, day, evidence = spot.turn.speaker, write_day(spot.time.date()), (spot.turn.id,)
    yield Silver("who", _SINGLE_HOP, f"Who mentioned {cue.text}?", speaker, evidence)
    asked = f"When did {{}} mention {cue.text}?"
    yield Silver("when", _TEMPORAL, asked.format(speaker), day, evidence)
    others = [name for name in history.speakers if name != speaker]
    near = history.turns[max(spot.index - _NEAR, 0) : spot.index + _NEAR + 1]
    if len(others) == 1 and not any(
        nearby.turn.speaker != speaker and history.mentions(cue, nearby.index) for nearby in near
    ):
        yield Silver("absent", _ADVERSARIAL, asked.format(others[0]), None, evidence, wrong=day)


def _of_value(
    spot: Said, cue: Cue, number: int, rows: Sequence[Sequence[Value]]
) -> Iterator[Silver]:
    """Yield the question for the value beside the cue, if the turn has no other of its kind.

    `rows`: values of the turn by sentence; the cue is in the sentence `number`.
    """
    kinds = Counter(value.kind for row in rows for value in row)
    for value in rows[number]:
        if kinds[value.kind] == 1 and (cue.end <= value.start or cue.start >= value.end):
            rule = "date" if value.kind == "date" else "value"
            yield _value(rule, value, spot, f"together with {cue.text}")


def _of_reply(history: History, spot: Said, cue: Cue) -> Iterator[Silver]:
    """Yield the question for the value in the answer of the next turn to a question of this one.
    The answer may repeat the cue; no other turn contains it. An answer of several turns may have
    a second value, so no question is made of it.
    """
    if spot.index + 1 == len(history.turns):
        return
    next_, *after = history.turns[spot.index + 1 : spot.index + 3]
    if next_.session != spot.session or next_.turn.speaker == spot.turn.speaker:
        return
    if after and (after[0].session, after[0].turn.speaker) == (spot.session, next_.turn.speaker):
        return
    day = next_.time.date()
    answers = [value for text in next_.sentences for value in values(text, day, history.speakers)]
    kinds = Counter(value.kind for value in answers)
    for value in answers:
        if kinds[value.kind] == 1:
            yield _value("reply", value, next_, f"when {spot.turn.speaker} asked about {cue.text}")


def _value(rule: str, value: Value, spot: Said, context: str) -> Silver:
    """Return the question for a value that was said, in its `context`."""
    category = _TEMPORAL if value.kind == "date" else _SINGLE_HOP
    question = f"Which {_NOUNS[value.kind]} did {spot.turn.speaker} give {context}?"
    return Silver(rule, category, question, value.text, (spot.turn.id,))


def _of_two(first: Said, second: Said, cue: Cue) -> Iterator[Silver]:
    """Yield the question for the two days on which the cue was mentioned."""
    days = [write_day(spot.time.date()) for spot in (first, second)]
    if days[0] != days[1]:
        question = f"On which days was {cue.text} mentioned?"
        evidence = (first.turn.id, second.turn.id)
        yield Silver("twice", _MULTI_HOP, question, " and ".join(days), evidence)


def _of_sessions(history: History) -> Iterator[Silver]:
    """Yield when a speaker spoke of two things, in two turns of one session; both are mentioned
    elsewhere, too, but in no other session together.
    """
    spoken: dict[tuple[int, str], dict[tuple[str, ...], tuple[Said, Cue]]] = defaultdict(dict)
    for spot in history.turns:
        for sentence in spot.sentences:
            for cue in history.cues(sentence):
                spoken[spot.session, spot.turn.speaker].setdefault(cue.terms, (spot, cue))
    for (session, speaker), cues in spoken.items():
        rows: list[tuple[Said, Cue, set[int]]] = []
        for spot, cue in cues.values():
            turns = [history.turns[index] for index in history.turns_with(cue)]
            here = [t for t in turns if (t.session, t.turn.speaker) == (session, speaker)]
            if len(turns) >= _OFTEN and here == [spot]:
                rows.append((spot, cue, {t.session for t in turns}))
        some = rows[:: len(rows) // _PAIRED + 1]
        for (first, cue, sessions), (second, cue_, sessions_) in combinations(some, 2):
            if first is not second and sessions & sessions_ == {session}:
                question = f"When did {speaker} speak of both {cue.text} and {cue_.text}?"
                day, evidence = write_day(first.time.date()), (first.turn.id, second.turn.id)
                yield Silver("session", _MULTI_HOP, question, day, evidence)


def _of_attributes(history: History) -> Iterator[Silver]:
    """Yield the question for the last value of each attribute that was given several."""
    stated: dict[tuple[str, ...], list[tuple[Said, str, str]]] = defaultdict(list)
    for spot in history.turns:
        for sentence in spot.sentences:
            for value in values(sentence, spot.time.date(), history.speakers):
                before = sentence[: value.start].rstrip("`\"'“ ")
                match = next(filter(None, (form.search(before) for form in _ATTRIBUTES)), None)
                if value.kind != "date" and match and (named := terms(match[2])):
                    owner = f"{spot.turn.speaker}'s" if (match[1] or "").lower() == "my" else "the"
                    key = (value.kind, owner, *named)
                    stated[key].append((spot, f"{owner} {match[2]}", value.text))
    for rows in stated.values():
        last, name, answer = rows[-1]
        stale = tuple(dict.fromkeys(text for _, _, text in rows if text != answer))
        again = any(spot.index == last.index or text == answer for spot, _, text in rows[:-1])
        if stale and not again:
            question = f"What is {name} according to the last statement?"
            yield Silver("last", _TEMPORAL, question, answer, (last.turn.id,), stale=stale)

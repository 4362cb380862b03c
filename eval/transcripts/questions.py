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
    found = Counter[str]()
    for one in _all(history):
        pool, most = pools[one.rule], _POOL * count
        found[one.rule] += 1
        place = order.randrange(found[one.rule])  # a random sample of those of the rule, in memory
        if len(pool) < most:
            pool.append(one)
        elif place < most:
            pool[place] = one
    for rule in RULES:
        order.shuffle(pools[rule])
    chosen: list[Silver] = []
    used: set[str] = set()  # turns and questions
    while len(chosen) < count and any(pools.values()):
        for rule in RULES:
            while pools[rule] and len(chosen) < count:
                one = pools[rule].pop()
                if used.isdisjoint([one.question, *one.evidence]):
                    used.update([one.question, *one.evidence])
                    chosen.append(one)
                    break
    places = {said.turn.id: said.index for said in history.turns}
    return sorted(chosen, key=lambda one: (places[one.evidence[0]], one.question))


def _all(history: History) -> Iterator[Silver]:
    """Yield every question that the rules make of `history`."""
    for said in history.turns:
        found = [[*values(one, said.time.date(), history.speakers)] for one in said.sentences]
        for number, sentence in enumerate(said.sentences):
            for cue in history.cues(sentence):
                turns = history.turns_with(cue)
                if turns == [said.index]:
                    if history.is_common(cue, 1):
                        yield from _of_cue(history, said, cue)
                    yield from _of_value(said, cue, number, found)
                if sentence.rstrip().endswith("?") and not {*turns} - {said.index, said.index + 1}:
                    yield from _of_reply(history, said, cue)
                if turns[0] == said.index and len(turns) == 2 and history.is_common(cue, 2):
                    yield from _of_two(said, history.turns[turns[1]], cue)
    yield from _of_sessions(history)
    yield from _of_attributes(history)


def _of_cue(history: History, said: Said, cue: Cue) -> Iterator[Silver]:
    """Yield who mentioned the cue and when, and when the other speaker did, who did not."""
    speaker, day, evidence = said.turn.speaker, write_day(said.time.date()), (said.turn.id,)
    yield Silver("who", _SINGLE_HOP, f"Who mentioned {cue.text}?", speaker, evidence)
    asked = f"When did {{}} mention {cue.text}?"
    yield Silver("when", _TEMPORAL, asked.format(speaker), day, evidence)
    others = [name for name in history.speakers if name != speaker]
    near = history.turns[max(said.index - _NEAR, 0) : said.index + _NEAR + 1]
    if len(others) == 1 and not any(
        one.turn.speaker != speaker and history.mentions(cue, one.index) for one in near
    ):
        yield Silver("absent", _ADVERSARIAL, asked.format(others[0]), None, evidence, wrong=day)


def _of_value(
    said: Said, cue: Cue, number: int, found: Sequence[Sequence[Value]]
) -> Iterator[Silver]:
    """Yield the question for the value beside the cue, if the turn has no other of its kind.

    `found`: values of the turn by sentence; the cue is in the sentence `number`.
    """
    kinds = Counter(one.kind for row in found for one in row)
    for value in found[number]:
        if kinds[value.kind] == 1 and (cue.end <= value.start or cue.start >= value.end):
            rule = "date" if value.kind == "date" else "value"
            yield _value(rule, value, said, f"together with {cue.text}")


def _of_reply(history: History, said: Said, cue: Cue) -> Iterator[Silver]:
    """Yield the question for the value in the answer of the next turn to a question of this one.
    The answer may repeat the cue; no other turn contains it. An answer of several turns may have
    a second value, so no question is made of it.
    """
    if said.index + 1 == len(history.turns):
        return
    next_, *after = history.turns[said.index + 1 : said.index + 3]
    if next_.session != said.session or next_.turn.speaker == said.turn.speaker:
        return
    if after and (after[0].session, after[0].turn.speaker) == (said.session, next_.turn.speaker):
        return
    day = next_.time.date()
    found = [one for text in next_.sentences for one in values(text, day, history.speakers)]
    kinds = Counter(one.kind for one in found)
    for value in found:
        if kinds[value.kind] == 1:
            yield _value("reply", value, next_, f"when {said.turn.speaker} asked about {cue.text}")


def _value(rule: str, value: Value, said: Said, context: str) -> Silver:
    """Return the question for a value that was said, in its `context`."""
    category = _TEMPORAL if value.kind == "date" else _SINGLE_HOP
    question = f"Which {_NOUNS[value.kind]} did {said.turn.speaker} give {context}?"
    return Silver(rule, category, question, value.text, (said.turn.id,))


def _of_two(one: Said, other: Said, cue: Cue) -> Iterator[Silver]:
    """Yield the question for the two days on which the cue was mentioned."""
    days = [write_day(said.time.date()) for said in (one, other)]
    if days[0] != days[1]:
        question = f"On which days was {cue.text} mentioned?"
        evidence = (one.turn.id, other.turn.id)
        yield Silver("twice", _MULTI_HOP, question, " and ".join(days), evidence)


def _of_sessions(history: History) -> Iterator[Silver]:
    """Yield when a speaker spoke of two things, in two turns of one session; both are mentioned
    elsewhere, too, but in no other session together.
    """
    spoken: dict[tuple[int, str], dict[tuple[str, ...], tuple[Said, Cue]]] = defaultdict(dict)
    for said in history.turns:
        for sentence in said.sentences:
            for cue in history.cues(sentence):
                spoken[said.session, said.turn.speaker].setdefault(cue.terms, (said, cue))
    for (session, speaker), cues in spoken.items():
        rows: list[tuple[Said, Cue, set[int]]] = []
        for said, cue in cues.values():
            turns = [history.turns[index] for index in history.turns_with(cue)]
            here = [one for one in turns if (one.session, one.turn.speaker) == (session, speaker)]
            if len(turns) >= _OFTEN and here == [said]:
                rows.append((said, cue, {one.session for one in turns}))
        some = rows[:: len(rows) // _PAIRED + 1]
        for (one, cue, sessions), (other, cue_, sessions_) in combinations(some, 2):
            if one is not other and sessions & sessions_ == {session}:
                question = f"When did {speaker} speak of both {cue.text} and {cue_.text}?"
                day, evidence = write_day(one.time.date()), (one.turn.id, other.turn.id)
                yield Silver("session", _MULTI_HOP, question, day, evidence)


def _of_attributes(history: History) -> Iterator[Silver]:
    """Yield the question for the last value of each attribute that was given several."""
    stated: dict[tuple[str, ...], list[tuple[Said, str, str]]] = defaultdict(list)
    for said in history.turns:
        for sentence in said.sentences:
            for value in values(sentence, said.time.date(), history.speakers):
                before = sentence[: value.start].rstrip("`\"'“ ")
                match = next(filter(None, (one.search(before) for one in _ATTRIBUTES)), None)
                if value.kind != "date" and match and (named := terms(match[2])):
                    owner = f"{said.turn.speaker}'s" if (match[1] or "").lower() == "my" else "the"
                    key = (value.kind, owner, *named)
                    stated[key].append((said, f"{owner} {match[2]}", value.text))
    for rows in stated.values():
        last, name, answer = rows[-1]
        stale = tuple(dict.fromkeys(text for _, _, text in rows if text != answer))
        again = any(said.index == last.index or text == answer for said, _, text in rows[:-1])
        if stale and not again:
            question = f"What is {name} according to the last statement?"
            yield Silver("last", _TEMPORAL, question, answer, (last.turn.id,), stale=stale)

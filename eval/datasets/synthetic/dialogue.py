"""Generate a conversation and its questions from a world."""

from __future__ import annotations

from random import Random

from eval.datasets.synthetic.languages import LANGUAGES, RELATIONS, VISIT, Language, Statement
from eval.datasets.synthetic.parameters import Parameters
from eval.datasets.synthetic.world import FreeTurns, Names, SmallWorld, WorldQuestion, session_times
from eval.datasets.types import ADVERSARIAL, TYPES, Question
from memsys.types import Conversation, Session, Turn

_MULTI_HOP, _TEMPORAL, _SINGLE_HOP, _FORMER = 1, 2, 4, 6
_TYPES = {**TYPES, _FORMER: "former_value"}  # not a type of LoCoMo


def dialogue(parameters: Parameters, number: int) -> tuple[Conversation, list[Question]]:
    """Return conversation `number` and its questions; the same for the same arguments."""
    random = Random(f"{parameters.seed}/{number}")  # noqa: S311 - a world, not a secret
    language = LANGUAGES[parameters.language]
    names = Names(language, random)
    world = SmallWorld(names, random, FreeTurns(parameters, random), parameters.past)
    chains = [world.chain(parameters.hops, parameters.updates) for _ in range(parameters.chains)]
    visits = [world.visit(parameters.relative_dates) for _ in range(parameters.visits)]
    personal = [one for one in chains if RELATIONS[one.chain[0]][0] == "person"]
    unanswerable = [world.unanswerable(one) for one in personal[: parameters.unanswerable]]
    former = [world.former(one) for one in chains] if parameters.past else []
    for _ in range(parameters.near):
        world.near()
    speakers = (names.new("person", first=True), names.new("person", first=True))
    sessions = _sessions(parameters, language, world.statements, speakers, random)
    conversation = Conversation(f"world-{number}", speakers, sessions)
    turns = [turn for session in sessions for turn in session.turns]
    starts = [session.time.date() for session in sessions]

    def question(index: int, asked: WorldQuestion) -> Question:
        gold, category = asked.answer, _MULTI_HOP if parameters.hops > 1 else _SINGLE_HOP
        day = None
        if asked.until is not None:
            category = _FORMER
            stated, changed = (
                starts[turn // parameters.turns] for turn in (asked.evidence[0], asked.until)
            )
            day = stated + (changed - stated) // 2
        elif asked.chain[0].startswith(VISIT):
            category = _TEMPORAL
            visit = next(one for one in world.statements if one.turn == asked.evidence[0])
            gold = language.days_before(starts[visit.turn // parameters.turns], visit.back)
        elif gold is None:
            category = ADVERSARIAL
        return Question(
            id=f"{conversation.id}/{index}",
            conversation=conversation.id,
            category=category,
            type=_TYPES[category],
            text=language.ask(asked.subject, asked.chain, day),
            gold=gold,
            evidence=tuple(turns[turn].id for turn in asked.evidence),
            adversarial=next(one.answer for one in chains) if gold is None else None,
        )

    return conversation, [
        question(i, one) for i, one in enumerate([*chains, *visits, *unanswerable, *former])
    ]


def _sessions(
    parameters: Parameters,
    language: Language,
    statements: list[Statement],
    speakers: tuple[str, str],
    random: Random,
) -> tuple[Session, ...]:
    """Return the sessions: statements in their turns, small talk in all others."""
    by_turn = {one.turn: one for one in statements}
    sessions = []
    for number, time in enumerate(session_times(parameters.sessions, random)):
        turns = []
        for at in range(parameters.turns):
            statement = by_turn.get(number * parameters.turns + at)
            if statement is None:
                line = random.choice(language.small_talk)
                text = line.format(n=speakers[(at + 1) % 2], i=random.randint(2, 90))
            else:
                sentence = language.sentence(statement, time.date())
                text = random.choice(language.frames).format(sentence)
            turns.append(Turn(f"D{number + 1}:{at + 1}", speakers[at % 2], text))
        sessions.append(Session(f"session_{number + 1}", time, tuple(turns)))
    return tuple(sessions)

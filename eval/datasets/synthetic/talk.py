"""From a world to a conversation and its questions."""

from __future__ import annotations

from random import Random

from eval.datasets.synthetic.dials import Dials
from eval.datasets.synthetic.language import RELATIONS, VISIT, Language, Telling
from eval.datasets.synthetic.languages import LANGUAGES
from eval.datasets.synthetic.names import Names
from eval.datasets.synthetic.places import Places
from eval.datasets.synthetic.world import Asked, World, session_times
from eval.datasets.types import ADVERSARIAL, TYPES, Question
from memsys.types import Conversation, Session, Turn

_MULTI_HOP, _TEMPORAL, _SINGLE_HOP, _FORMER = 1, 2, 4, 6
_TYPES = {**TYPES, _FORMER: "former_value"}  # of our own: LoCoMo has none like it
_CHAT = {
    "en": (
        "How was your week, {n}? Mine went by too fast.",
        "The rain did not stop for {i} hours here.",
        "I slept badly again, about {i} hours.",
        "That makes me smile, {n}.",
        "Let us talk about the garden: {i} pots are empty.",
        "I read {i} pages last night and forgot them all.",
        "You are right about that, {n}.",
        "My tea got cold while we were talking.",
    ),
    "zh": (
        "{n}，这周过得怎么样？我觉得太快了。",
        "这里的雨下了{i}个小时。",
        "我又没睡好，大概睡了{i}个小时。",
        "{n}，听你这么说我很高兴。",
        "说说花园吧，还有{i}个花盆空着。",
        "昨晚看了{i}页书，全忘了。",
        "{n}，你说得对。",
        "聊着聊着茶都凉了。",
    ),
}


def talk(dials: Dials, number: int) -> tuple[Conversation, list[Question]]:
    """Conversation `number` and its questions; the same for the same dials and number."""
    random = Random(f"{dials.seed}/{number}")  # noqa: S311 - a world, not a secret
    names, language = Names(dials.language, random), LANGUAGES[dials.language]
    world = World(names, random, Places(dials, random), dials.past)
    chains = [world.chain(dials.hops, dials.updates) for _ in range(dials.chains)]
    visits = [world.visit(dials.relative_dates) for _ in range(dials.visits)]
    people = [one for one in chains if RELATIONS[one.chain[0]][0] == "person"]
    untold = [world.untold(one) for one in people[: dials.untold]]
    former = [world.former(one) for one in chains] if dials.past else []
    for _ in range(dials.near):
        world.near()
    speakers = (names.first(), names.first())
    sessions = _sessions(dials, language, world.tellings, speakers, random)
    conversation = Conversation(f"world-{number}", speakers, sessions)
    turns = [turn for session in sessions for turn in session.turns]
    starts = [session.time.date() for session in sessions]

    def question(index: int, asked: Asked) -> Question:
        gold, category = asked.answer, _MULTI_HOP if dials.hops > 1 else _SINGLE_HOP
        day = None
        if asked.until is not None:
            category = _FORMER
            told, changed = (starts[at // dials.turns] for at in (asked.evidence[0], asked.until))
            day = told + (changed - told) // 2
        elif asked.chain[0].startswith(VISIT):
            category = _TEMPORAL
            telling = next(one for one in world.tellings if one.place == asked.evidence[0])
            said = starts[telling.place // dials.turns]
            gold = language.days_before(said, telling.back)
        elif gold is None:
            category = ADVERSARIAL
        return Question(
            id=f"{conversation.id}/{index}",
            conversation=conversation.id,
            category=category,
            type=_TYPES[category],
            text=language.ask(asked.subject, asked.chain, day),
            gold=gold,
            evidence=tuple(turns[place].id for place in asked.evidence),
            adversarial=next(o.answer for o in chains) if gold is None else None,
        )

    return conversation, [
        question(i, one) for i, one in enumerate([*chains, *visits, *untold, *former])
    ]


def _sessions(
    dials: Dials,
    language: Language,
    tellings: list[Telling],
    speakers: tuple[str, str],
    random: Random,
) -> tuple[Session, ...]:
    told = {one.place: one for one in tellings}
    sessions = []
    for number, time in enumerate(session_times(dials.sessions, random)):
        turns = []
        for at in range(dials.turns):
            telling = told.get(number * dials.turns + at)
            if telling is None:
                line = random.choice(_CHAT[dials.language])
                text = line.format(n=speakers[(at + 1) % 2], i=random.randint(2, 90))
            else:
                text = random.choice(language.frames).format(language.told(telling, time.date()))
            turns.append(Turn(f"D{number + 1}:{at + 1}", speakers[at % 2], text))
        sessions.append(Session(f"session_{number + 1}", time, tuple(turns)))
    return tuple(sessions)

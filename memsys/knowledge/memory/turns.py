"""One memory per turn, alone or with its neighbours."""

from memsys.core.declared import CountFrom0, Name, check_values
from memsys.core.titles import title_of
from memsys.core.turns import importance, line
from memsys.core.types import Memory, Session
from memsys.knowledge.memory.base import MemoryBuilder


class Turns(MemoryBuilder):
    """A memory is a turn with `before` and `after` neighbours of its session (0, 0: the turn only).

    `lead` further turns before it are part of the index text but not shown: a reply seldom repeats
    the words of the turn it replies to.
    """

    def __init__(
        self, name: Name, before: CountFrom0 = 0, after: CountFrom0 = 0, lead: CountFrom0 = 1
    ) -> None:
        """The arguments are numbers of turns."""
        check_values(Turns, locals(), "memory")
        self.name = name
        self._before, self._after, self._lead = before, after, lead

    def build(self, session: Session) -> list[Memory]:
        """Return one memory per turn of the session, in order; its id is the turn's id."""
        lines = [line(turn) for turn in session.turns]
        speakers = frozenset(turn.speaker for turn in session.turns)
        memories = []
        for i, turn in enumerate(session.turns):
            first, last = max(i - self._before, 0), i + self._after + 1
            content = "\n".join(lines[first:last])
            lead = lines[max(first - self._lead, 0) : first]
            memories.append(
                Memory(
                    id=turn.id,
                    content=content,
                    index_text="\n".join([*lead, content]),
                    time=turn.time or session.time,
                    speaker=turn.speaker,
                    turns=tuple(t.id for t in session.turns[first:last]),
                    importance=importance(content),
                    title=title_of(turn.text, speakers) or title_of(turn.caption or ""),
                    session=session.time if turn.time else None,
                )
            )
        return memories

"""How an agent went about a task, as one memory of the kind `procedural`."""

from __future__ import annotations

from datetime import datetime
from uuid import uuid4

from memsys.errors import InputError
from memsys.facts.procedure import procedure
from memsys.service.messages import Messages
from memsys.service.records import Added
from memsys.service.setup import Setup
from memsys.service.writing import About, Writer
from memsys.text.turns import importance
from memsys.types import Memory


def write_procedure(
    setup: Setup, writer: Writer, messages: Messages, about: About, time: datetime
) -> Added:
    """Let the model record the run that `messages` tell, tool calls and all; nothing is compared.

    Raises InputError where there is no model or no history, LLMError where no record came.
    """
    if setup.llm is None:
        raise InputError(
            "kind=procedural: there is no model to record a run with; set llm= (openai, local), or "
            "add with infer=False"
        )
    said = [{"role": "user", "content": messages}] if isinstance(messages, str) else messages
    made = procedure(setup.llm, said)
    ids = (one.get("id") for one in said)
    unit = Memory(
        id=uuid4().hex,
        content=made.text,
        index_text=made.text,
        time=time,
        speaker="assistant",
        turns=tuple(id_ for id_ in ids if isinstance(id_, str)),
        importance=importance(made.text),
    )
    faults = [event for event in made.events if "fault" in event]
    return Added(tuple(writer.add([unit], about)), faults)

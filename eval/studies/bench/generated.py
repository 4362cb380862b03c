"""Generated data sets in LoCoMo's format, of any number of conversations and questions."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

_NAMES = ("Ana", "Ben", "Cleo", "Dov", "Ema", "Finn", "Gus", "Hana")
_DONE = ("bought", "lost", "painted", "sold", "mended", "found", "drew", "hid")
_COLOURS = ("red", "blue", "green", "white", "old", "small", "round", "heavy")
_THINGS = ("lamp", "kite", "boat", "clock", "chair", "drum", "ladder", "basket", "violin", "tent")
_PLACES = ("harbour", "market", "garden", "station", "library", "mill", "bridge", "orchard")
_SESSIONS, _TURNS = 3, 3  # turns in each session
_TYPES = (4, 1, 2, 3)  # raw ids; 4 single_hop, which most questions of LoCoMo are


def write_dataset(path: Path, conversations: int, questions: int = 1, seed: int = 0) -> Path:
    """Write `conversations` of nine turns, each with `questions`, to `path`, and return it.

    The text of every question contains its number, as (q17): no two are the same.
    """
    random = Random(seed)  # noqa: S311 - no secret
    with path.open("w", encoding="utf-8") as file:
        file.write("[")
        for number in range(conversations):
            file.write(",\n" if number else "")
            json.dump(_conversation(random, number, questions), file)
        file.write("]\n")
    return path


def _conversation(random: Random, number: int, questions: int) -> dict[str, Any]:
    pair = random.sample(_NAMES, 2)
    content: dict[str, Any] = {"speaker_a": pair[0], "speaker_b": pair[1]}
    said = []
    for session in range(1, _SESSIONS + 1):
        content[f"session_{session}_date_time"] = f"{session}:15 pm on {session + 2} May, 2023"
        turns = []
        for turn in range(1, _TURNS + 1):
            thing = f"{random.choice(_COLOURS)} {random.choice(_THINGS)}"
            place, done = random.choice(_PLACES), random.choice(_DONE)
            words = f"Last week I {done} a {thing} at the {place}, and told my family about it."
            dia_id, speaker = f"D{session}:{turn}", pair[turn % 2]
            turns.append({"speaker": speaker, "dia_id": dia_id, "text": words})
            said.append((speaker, done, thing, place, dia_id))
        content[f"session_{session}"] = turns
    qa = []
    for index in range(questions):
        speaker, done, thing, place, dia_id = random.choice(said)
        text = f"Where was the {thing} that {speaker} {done}? (q{number * questions + index})"
        category = _TYPES[index % len(_TYPES)]
        qa.append({"question": text, "answer": place, "evidence": [dia_id], "category": category})
    return {"sample_id": f"made-{number}", "conversation": content, "qa": qa}

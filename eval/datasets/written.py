"""Files of memories that somebody else wrote: one for each conversation of a data set."""

from __future__ import annotations

from eval.datasets.files import find_folder, load_sources, public_file, read_text
from eval.datasets.types import Dataset, SourceFile
from memsys.core.errors import InputError

_SHIPPED = "openai_memories"  # of LoCoMo's conversations


def read_memories(path: str | None, dataset: Dataset) -> tuple[dict[str, str], list[SourceFile]]:
    """Return the text of each conversation's file in the folder `path`, and the files.

    A file is ID.txt, by the conversation's id, or, of LoCoMo, N.txt, by its place in the data set's
    files from 0. None: OpenAI's memories of LoCoMo (`memsys fetch openai_memories`), which the Mem0
    paper compares with. Raises InputError if a file is missing or cannot be read, or if those
    memories are not of this data set.
    """
    if path is None:
        hashes = {file.sha256 for file in dataset.files}
        if load_sources()["locomo"].sha256 not in hashes:
            raise InputError(
                f"strategy.path: null stands for memories of LoCoMo, and dataset={dataset.name} is "
                "another; name a folder of memories of its conversations"
            )
        path = public_file(_SHIPPED, "strategy=given: OpenAI's memories", setting="strategy.path")
    folder = find_folder(path, "correct it", "strategy.path")
    texts, files = {}, []
    for conversation in dataset.conversations:
        names = [f"{conversation.id}.txt"]
        if conversation.id in dataset.order:  # known of LoCoMo, but for a pooled store
            names.append(f"{dataset.order.index(conversation.id)}.txt")
        found = next((folder / name for name in names if (folder / name).is_file()), None)
        if found is None:
            raise InputError(
                f"strategy.path: {folder}: no memories of {conversation.id}: put "
                f"{' or '.join(names)} there"
            )
        text, file = read_text(found)
        if not text.strip():
            raise InputError(f"{found}: is empty; write a memory a paragraph")
        texts[conversation.id] = text
        files.append(file)
    return texts, files

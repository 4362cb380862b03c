"""LoCoMo (Maharana et al., 2024, "Evaluating Very Long-Term Conversational Memory of LLM Agents")
and any file of its layout, which data/README.md describes.
"""

from __future__ import annotations

from collections.abc import Sequence

from eval.datasets.answer_key import read_key
from eval.datasets.files import DATA, Sample, json_files, read_samples, shared_folder
from eval.datasets.filters import check_limit, check_names
from eval.datasets.qa import read_questions
from eval.datasets.sessions import read_conversation
from eval.datasets.sources import load_sources
from eval.datasets.subset import open_subset
from eval.datasets.types import TYPES, Dataset, Question, SourceFile
from memsys.errors import InputError
from memsys.types import Conversation


class LoCoMo:
    """Conversations, questions and gold of one file, or of a folder's *.json in name order.

    name: what tables call the data set. path: None looks for locomo10.json in the data folder,
    then in $MEMSYS_SHARED/locomo; a relative path counts from the current folder, then from the
    project's. captions: keep the captions of shared images. conversations: keep these sample ids.
    types: keep these question types, by name. limit: the first so many questions of each
    conversation, counted after `types`. key: the answer key, original, corrected or excluded (the
    questions whose answer is known to be wrong). key_file: the errors, or the overlay that lists
    them; None for the one in data/overlays. subset: only the questions of a subset, `lite` or the
    path of a file like it (docs/locomo-lite.md); the filters above then cut it down further.
    """

    def __init__(
        self,
        *,
        name: str,
        path: str | None = None,
        captions: bool = True,
        conversations: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        limit: int | None = None,
        key: str = "original",
        key_file: str | None = None,
        subset: str | None = None,
    ) -> None:
        # Checked by load(), not here: Hydra would bury the message of an InputError in its own.
        self.name = name
        self._path = path
        self._captions = captions
        self._conversations = conversations
        self._types = types
        self._limit = limit
        self._key = key
        self._key_file = key_file
        self._subset = subset

    def load(self) -> Dataset:
        """Read, check and filter; a conversation with no question left is left out.

        Evidence that names no turn is an InputError, but in the published file, known by its
        sha256, it is dropped and told in `Dataset.repairs`. Raises InputError naming file, sample
        and field; also where a filter names what is not there, no question is left, or the errors
        of the answer key are those of other data.
        """
        self._check_filters()
        samples, files = self._samples()
        subset = None
        if self._subset is not None:
            subset = open_subset(self._subset, files, [sample.id for sample in samples])
        key = read_key(self._key, self._key_file, files, [sample.id for sample in samples])
        published = load_sources()["locomo"].sha256
        mended_files = {file.name for file in files if file.sha256 == published}
        conversations: list[Conversation] = []
        questions: list[Question] = []
        repairs: list[str] = []
        for sample in self._kept(samples):
            mend = sample.place.file in mended_files
            conversation, asked, mended = _read(sample, captions=self._captions, mend=mend)
            asked = key.applied(sample.id, asked)
            if subset is not None:
                asked = subset.kept(sample.id, asked)
            asked = self._filtered(asked)
            if asked:
                conversations.append(conversation)
                questions.extend(asked)
                repairs.extend(mended)
        if not questions:
            raise InputError(
                f"{', '.join(file.name for file in files)}: no question is left; widen "
                "dataset.conversations and dataset.types, or add to qa"
            )
        return Dataset(
            self.name,
            tuple(conversations),
            tuple(questions),
            tuple(files),
            tuple(repairs),
            key.described(questions),
            subset=None if subset is None else subset.used,
        )

    def _check_filters(self) -> None:
        check_limit(self._limit)
        check_names("types", self._types, TYPES.values())

    def _samples(self) -> tuple[list[Sample], list[SourceFile]]:
        samples: dict[str, Sample] = {}
        files: list[SourceFile] = []
        for path in json_files(self._path or _default_path()):
            found, source = read_samples(path)
            files.append(source)
            for sample in found:
                if sample.id in samples:
                    other = samples[sample.id].place.file
                    raise sample.place.error(
                        "sample_id", f"used twice (before in {other}); give each sample its own"
                    )
                samples[sample.id] = sample
        return list(samples.values()), files

    def _kept(self, samples: list[Sample]) -> list[Sample]:
        check_names("conversations", self._conversations, [sample.id for sample in samples])
        if self._conversations is None:
            return samples
        return [sample for sample in samples if sample.id in self._conversations]

    def _filtered(self, questions: list[Question]) -> list[Question]:
        kept = [q for q in questions if self._types is None or q.type in self._types]
        return kept[: self._limit]


def _read(
    sample: Sample, *, captions: bool, mend: bool
) -> tuple[Conversation, list[Question], list[str]]:
    conversation, mended = read_conversation(
        sample.id, sample.raw, sample.place, captions=captions, mend=mend
    )
    turns = [turn.id for session in conversation.sessions for turn in session.turns]
    questions, more = read_questions(sample.id, sample.raw, turns, sample.place, mend=mend)
    return conversation, questions, mended + more


def _default_path() -> str:
    file = load_sources()["locomo"].file
    places = (DATA / file, shared_folder() / "locomo" / file)
    for place in places:
        if place.is_file():
            return str(place)
    raise InputError(
        f"LoCoMo is not here: run `python -m eval.fetch locomo`, put the file at data/{file}, "
        "or set dataset.path=..."
    )

"""Wrong answers to LoCoMo that dial481/locomo-audit published, from the user's own copy."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from eval.answers.files import read_answers
from eval.answers.match import match
from eval.datasets.files import shared_folder
from eval.datasets.types import Dataset
from eval.judges.recordings import Judged, read_judged
from memsys.errors import InputError

FILES = {"wrong_specific": "ap_wrong_v1.jsonl.gz", "wrong_vague": "ap_wrong_v2.jsonl.gz"}


def files(folder: str | None) -> dict[str, Path]:
    """The file of each kind in `folder`, by default $MEMSYS_SHARED/locomo/answers; those there are.

    Raises InputError if `folder` is given and lacks one.
    """
    place = shared_folder() / "locomo" / "answers" if folder is None else Path(folder).expanduser()
    found = {kind: place / name for kind, name in FILES.items() if (place / name).is_file()}
    if folder is not None and len(found) < len(FILES):
        missing = next(name for kind, name in FILES.items() if kind not in found)
        raise InputError(f"probes={folder}: has no {missing}; name a folder with both, or null")
    return found


def published(paths: Mapping[str, Path], dataset: Dataset) -> dict[str, dict[str, str]]:
    """Kind -> question id -> answer, for the questions of `dataset` that the files answer.

    Rows are matched as by eval.rescore: by place, checked against the question's words. Kinds of
    which no row matches are left out: the files are of other conversations.
    """
    found = {
        kind: {
            id_: row.answer for id_, row in match(read_answers(path).rows, dataset).answers.items()
        }
        for kind, path in paths.items()
    }
    return {kind: answers for kind, answers in found.items() if answers}


def verdicts(paths: Sequence[Path]) -> list[Judged]:
    """What was recorded on the answers of `paths`."""
    return [one for path in paths for one in read_judged(path)]

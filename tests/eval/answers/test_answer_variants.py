"""Any file of answers is imported with an account that adds up, or refused in one line."""

import json
import re

import pytest

from eval.answers.files import read_answers
from eval.imports.rescore.account import account
from eval.imports.rescore.imports import read_import, record
from eval.metrics.abstention import abstains
from memsys.core.errors import InputError
from tests.eval.answers.answer_variants import lines, rows, variants

VARIANTS = variants()


@pytest.mark.parametrize(
    "variant", VARIANTS, ids=[f"{n}-{one.name:.40}" for n, one in enumerate(VARIANTS)]
)
def test_a_file_is_imported_or_refused_in_one_line(variant, dataset, tmp_path):
    path = tmp_path / "answers"
    path.write_bytes(variant.data)
    if isinstance(variant.expected, str):
        with pytest.raises(InputError) as caught:
            read_import(path, None, "mine", dataset, partial=True)
        line = str(caught.value)
        assert "answers" in line
        assert line.isprintable()
        assert len(line) < 1_000
        assert re.search(variant.expected, line), line
        return
    source = read_import(path, None, "mine", dataset, partial=True)
    answers = source.matching.answers
    asked = [question for question in dataset.questions if question.id in answers]
    records = [record(question, answers[question.id]) for question in asked]
    told = account(source.file, source.matching, dataset, records)
    counts = told.counts
    assert {name: counts[name] for name in variant.expected} == variant.expected
    assert counts["matched"] + counts["unmatched"] == counts["rows"]
    assert counts["unmatched"] == sum(counts["unmatched_by_reason"].values())
    assert told.sentences
    assert bool(told.warnings) or not counts["unmatched"]
    json.dumps([counts, *records], ensure_ascii=False, allow_nan=False).encode()
    for one in records:
        if one["status"] == "ok":
            assert one["answer"] == answers[one["id"]].answer
            assert one["abstained"] == abstains(one["answer"])
        else:
            assert one["answer"] is None
            assert not any(score is not None for score in one["scores"].values())


def test_a_number_as_answer_is_its_text(dataset, tmp_path):
    path = tmp_path / "answers.jsonl"
    made = rows()
    for row, answer in zip(made, [2023, 2.5, -1, "2023", "٢٠٢٣"], strict=False):
        row["prediction"] = answer
    path.write_bytes(lines(made))
    read = [row.answer for row in read_answers(path, None).rows[:5]]
    assert read == ["2023", "2.5", "-1", "2023", "٢٠٢٣"]

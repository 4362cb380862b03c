import pytest

from eval.answers import values
from memsys.errors import InputError


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *(
            (value, 1.0)
            for value in (True, 1, 1.0, "1", "1.0", "CORRECT", "correct ", "True", "yes")
        ),
        *((value, 0.0) for value in (False, 0, 0.0, "0", "WRONG", "incorrect", "false", "No")),
        *((value, None) for value in (None, "", " ", float("nan"))),
        (2 / 3, 2 / 3),
    ],
)
def test_verdicts(written: object, expected: float | None) -> None:
    assert values.verdict(written, "a: line 1", "judge") == expected


@pytest.mark.parametrize("written", [4, -1, "maybe", "85%", ["maybe"], "nan"])
def test_what_is_no_verdict(written: object) -> None:
    with pytest.raises(InputError, match=r"a: line 1: judge .* is no verdict"):
        values.verdict(written, "a: line 1", "judge")


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        *((value, "4") for value in (4, "4", 4.0, " 4.0", "04")),
        *((value, "single_hop") for value in ("single-hop", "Single Hop", "single_hop")),
        ("Reasoning", "Reasoning"),
        (None, None),
        ("", None),
    ],
)
def test_labels(written: object, expected: str | None) -> None:
    assert values.label(written, "a", "category") == expected

"""A picture of an experiment that sweeps a number: means over it, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from eval.analyse.tabulate.effects import Effects
from eval.summary.measures import RECALL
from eval.summary.summarise import OVERALL
from memsys.core.errors import InputError


def draw(groups: Sequence[Effects], factor: str, path: Path) -> list[str]:
    """Write PATH.png and PATH.svg: F1 and evidence recall over the numbers of the parameter that
    names the groups, a line for each value of `factor`, the last parameter. Data without evidence
    have no recall to draw.

    Returns the names of the files. Raises InputError where the groups are not named by numbers,
    before it writes anything.
    """
    import pandas as pd  # noqa: PLC0415 - a picture alone needs it

    from eval.rendering.plots import figure, files_of, trend  # noqa: PLC0415

    parameter, _, _ = groups[0].group.partition("=")
    rows = []
    for group in groups:
        number = _number(group.group)
        found = {row.key: row for table in group.tables for row in table if row.type == OVERALL}
        for i, run in enumerate(group.runs):
            of_run = {parameter: number, factor: run.label.rpartition("=")[2]}
            for title, key in (("F1", run.own_f1), ("evidence recall", RECALL)):
                if key not in found:
                    continue
                mean = found[key].means[i]
                ends = {"low": mean.low, "high": mean.high}
                rows.append(of_run | {"score": title, "mean": mean.value} | ends)
    table = pd.DataFrame(rows)
    with figure(path, 3.6) as drawn:
        titles = table["score"].unique()
        places = drawn.subplots(1, len(titles), squeeze=False)[0]
        for axes, title in zip(places, titles, strict=True):
            trend(table[table["score"] == title], parameter, ax=axes, colour=factor)
            axes.set(title=f"{title}, 95% interval", ylabel="", ylim=(0, None))
        handles, labels = axes.get_legend_handles_labels()
        drawn.legend(handles, labels, loc="outside lower center", ncols=4)
    return files_of(path)


def _number(group: str) -> float:
    try:
        return float(group.partition("=")[2])
    except ValueError:
        raise InputError(
            f"{group or 'this experiment'}: no number to draw scores over; leave out --picture"
        ) from None

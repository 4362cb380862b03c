"""`python docs/pictures/draw.py`: draw strategies.png and synthetic.png of results/tables."""

from pathlib import Path

from eval import api
from eval.rendering.plots import dots, figure, trend

HERE = Path(__file__).parent
SYNTHETIC = {
    "synthetic_hops": ("dataset.hops", "facts that a question needs"),
    "synthetic_distractors": ("dataset.distractors", "share of turns without a question"),
    "synthetic_updates": ("dataset.updates", "changes of a fact"),
}
TITLES = ("LoCoMo's F1", "evidence recall")
SHOWN = ["vector_only", "hybrid_rank", "graph_expand", "graph_walk", "full_context"]


def main() -> None:
    """Draw means of all types with their intervals."""
    table = api.table("default_sweep").query("type == 'overall'")
    f1 = table.query("score == 'locomo_f1'").sort_values("mean", ascending=False)
    recall = table.query("score == 'evidence_recall'").set_index("run").loc[f1["run"]].reset_index()
    with figure(HERE / "strategies", 4.2) as drawn:
        axes = drawn.subplots(1, 2, sharey=True)
        for ax, rows, title in zip(axes, (f1, recall), TITLES, strict=True):
            dots(rows, ax=ax)
            ax.set(title=title, xlabel="mean of types 1-4, 95% interval")
    with figure(HERE / "synthetic", 3.2) as drawn:
        axes = drawn.subplots(1, 3, sharey=True)
        for ax, (name, (number, title)) in zip(axes, SYNTHETIC.items(), strict=True):
            rows = api.table(name).query("type == 'overall' and score == 'locomo_f1'")
            trend(rows[rows["strategy"].isin(SHOWN)], number, ax=ax, colour="strategy")
            ax.set(xlabel=title, ylabel="F1, 95% interval" if ax is axes[0] else "")
        drawn.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
    for path in HERE.glob("s*.svg"):
        path.unlink()  # pages show PNG


if __name__ == "__main__":
    main()

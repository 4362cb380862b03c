"""`python data/subsets/validate.py`: errors of LoCoMo-lite's estimates on 200 draws.
Prints systems, mean absolute error, half interval, its coverage, least difference of two systems.
"""

import numpy as np

from eval.answers.files import read_answers
from eval.answers.match import match
from eval.datasets.files import shared_folder
from eval.datasets.locomo import LoCoMo
from eval.datasets.subset import GRID, read_subset
from eval.metrics.published import locomo_f1
from eval.summary.subset_score import ABILITY_SD, p_irt

A, B = map(np.ravel, np.meshgrid(np.exp(np.linspace(-1.6, 1.2, 9)), np.linspace(-6, 6, 41)))


def curves(right):
    """EM of Bock and Aitkin (1981) over slopes A, difficulties B: chances at GRID's abilities."""
    ability, spread, slopes = np.log(right.mean(1) / (1 - right.mean(1))), 1.5, 0.5
    for _ in range(80):
        p = np.clip(1 / (1 + np.exp(-A * (ability[:, None] - B))), 1e-4, 1 - 1e-4)
        log = right.T @ np.log(p) + (1 - right).T @ np.log(1 - p)
        post = np.exp(log - ((B / spread) ** 2 + (np.log(A) / slopes) ** 2) / 2)
        post /= post.sum(1, keepdims=True)
        shift, slopes = (post @ B).mean(), max(0.05, np.sqrt((post @ np.log(A) ** 2).mean()))
        spread, n = np.sqrt((post @ (B - shift) ** 2).mean()), post.sum(0)
        up = ((right @ post - n * p) * A).sum(1) - ability / ABILITY_SD**2
        down = (n * p * (1 - p) * A**2).sum(1) + ABILITY_SD**-2
        ability += np.clip(up / down, -0.5, 0.5) - shift
    return np.clip(post @ (1 / (1 + np.exp(-A * (GRID[:, None] - B)))).T, 1e-4, 1 - 1e-4)


data, strata, f1, judge = LoCoMo(name="locomo").load(), {}, {}, {}
asked = [q for q in data.questions if q.category != 5]
for i, q in enumerate(asked):
    strata.setdefault((q.type, q.conversation), []).append(i)
shipped, weights = {q.id for q in read_subset("lite")[0].questions}, np.zeros(len(asked))
keys, draws = [np.random.default_rng((0, i)).random(len(asked)) for i in range(200)], [[]] * 200
for group in strata.values():
    quota = sum(asked[i].id in shipped for i in group)
    weights[group] = len(group) / quota / len(asked)  # what a question of the draw stands for
    draws = [d + sorted(group, key=k.item)[:quota] for d, k in zip(draws, keys, strict=True)]
for path in sorted((shared_folder() / "locomo" / "answers").glob("*.gz"))[2:]:  # not ap_wrong
    rows = match(read_answers(path, data).rows, data).answers
    f1[path.name] = np.array([locomo_f1(rows[q.id].answer, q.gold, q.category) for q in asked])
    if rows[asked[0].id].judge is not None:
        judge[path.name] = np.array([float(rows[q.id].judge) for q in asked])
family = {name: name[:4].replace("fc_g", "full") for name in f1}  # full context twice
errors = {"F1": {n: [weights[d] @ y[d] - y.mean() for d in draws] for n, y in f1.items()}}
for n, y in judge.items():  # its family is left out of the model
    p = curves(np.array([judge[name] for name in judge if family[name] != family[n]]))
    estimates = [p_irt(p[d], p.sum(0) - p[d].sum(0), len(p) - len(d), y[d]) for d in draws]
    errors.setdefault("judge", {})[n] = estimates - y.mean()
for score, of in errors.items():
    other = {n: [np.abs(of[o]) for o in of if family[o] != family[n]] for n in of}
    covered = np.mean([np.abs(of[n]) <= np.quantile(other[n], 0.95) for n in of])
    gaps = [np.subtract(of[a], of[b]) for a in of for b in of if family[a] != family[b]]
    size, gap = np.abs([*of.values()]), np.quantile(np.abs(gaps), 0.95)
    print(score, len(of), *np.round([size.mean(), np.quantile(size, 0.95), covered, gap], 4))

"""The head of a run's tables: what its scores depend on besides the strategy."""

from collections.abc import Collection, Mapping, Sequence

from eval.records.answer_key_views import ORIGINAL, evidence_name, key_name
from eval.records.manifest import digest
from eval.records.schema import Manifest

_DIGITS = 10  # of a hash
_KEYS = ("key", "evidence key")  # mentioned where they are not the data set's own


def made_with(manifest: Manifest) -> dict[str, str]:
    """Return embedder, reader, judge, data and keys of a run by name, in the order of the head.

    The embedder's fallback is named where a conversation is in a language that the embedder was not
    trained for, `fallback none` where nothing replaced it. Of imported answers, the embedder and
    the reader are unknown and left out.
    """
    named = {} if manifest.get("kind") == "imported" else _models(manifest)
    judge = manifest["judge"]
    return {
        **named,
        "judge": "none" if judge is None else str(judge["name"]),
        "data": f"{manifest['dataset']} {_hash(manifest)}",
        "key": key_name(manifest),
        "evidence key": evidence_name(manifest),
    }


def head(manifest: Manifest) -> str:
    """Return the line for the head of a run's tables."""
    return shared_head([manifest])


def shared_head(manifests: Sequence[Manifest]) -> str:
    """Return the line for the head of a table of several runs: what all of them have."""
    return "; ".join(_shown(_shared([made_with(manifest) for manifest in manifests])))


def heads(runs: Sequence[tuple[str, Manifest]]) -> list[str]:
    """Return the head of a table of labelled runs: a line on what all have, then one on each run
    that has something of its own.
    """
    parts = [made_with(manifest) for _, manifest in runs]
    shared = _shared(parts)
    own = [{name: part[name] for name in part if name not in shared} for part in parts]
    labels = [label for label, _ in runs]
    lines = [
        f"{label}: {'; '.join(_shown(part))}"
        for label, part in zip(labels, own, strict=True)
        if part
    ]
    return ["; ".join(_shown(shared)), *lines]


def differing(manifest: Manifest, other: Manifest, unused: Collection[str] = ()) -> list[str]:
    """Return a clause on each part of the head in which two runs differ: `embedder: A, not B`, the
    part of `other` first. `unused`: parts that change nothing.
    """
    first, second = made_with(manifest), made_with(other)
    return [
        f"{name}: {second.get(name, 'unknown')}, not {first.get(name, 'unknown')}"
        for name in {**first, **second}
        if first.get(name) != second.get(name) and name not in unused
    ]


def _shared(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    first, *others = parts
    return {
        name: value
        for name, value in first.items()
        if all(other.get(name) == value for other in others)
    }


def _hash(manifest: Manifest) -> str:
    """Return the first digits of the file's hash; of several files, of the hash of all."""
    hashes = sorted(file["sha256"] for file in manifest["data"])
    return (hashes[0] if len(hashes) == 1 else digest(hashes))[:_DIGITS]


def _models(manifest: Manifest) -> dict[str, str]:
    models, settings = manifest["models"], manifest["config"].get("embedder") or {}
    fallback = settings.get("fallback")
    if isinstance(fallback, Mapping):  # of older runs: what it was, not whether it was used
        used = sorted({*(manifest.get("embedders") or {}).values()})
        fallback = ", ".join(used) or "none"
    reader, model = models.get("reader") or "none", manifest["llm"]
    return {
        "embedder": f"{models.get('embedder') or 'none'}"
        + ("" if fallback is None else f", fallback {fallback}"),
        "reader": f"{reader} ({model})" if reader == "llm" else reader,
    }


def _shown(parts: Mapping[str, str]) -> list[str]:
    return [
        f"{name} {value}" for name, value in parts.items() if name not in _KEYS or value != ORIGINAL
    ]

"""Vectors in the engine of Qdrant, in this process and without a server (extra `qdrant`)."""

import json
import shutil
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from uuid import UUID

from memsys.core.errors import InputError, check_installed
from memsys.core.types import Vectors
from memsys.stores.qdrant_vectors import BATCH, PAGE, of_hits, pages, point_of
from memsys.stores.vectors import VectorStore

_CONFIG = "edge_config.json"  # the engine writes it into every shard


class QdrantEdgeVectors(VectorStore):
    """Exact search by Qdrant Edge, filtered by owner.

    `path` is a folder, which the engine locks: one store at a time can open it. None is a temporary
    folder. Each write is in the engine's write-ahead log when it returns. Raises InputError if the
    extra is missing or, on first use, if the folder cannot be opened.
    """

    def __init__(self, path: str | None = None) -> None:
        super().__init__()
        check_installed("qdrant_edge", "vector_store=qdrant_edge", "qdrant")
        self._path = path
        self._temporary: TemporaryDirectory[str] | None = None
        self._shard: Any = None

    def _compact(self) -> bool:
        """Copy all points to a new shard, which takes the place of the old one: the engine neither
        empties its log nor removes deleted points from its segments on demand (0.9.0).
        """
        dimension = self._dimension()
        if dimension is not None:
            hits = pages(lambda offset: self._page(offset, BATCH, with_vector=True))
            self._renew(dimension, hits)
        return True

    def _close(self) -> None:
        if self._shard is not None:
            self._shard.close()
            self._shard = self._known_dimension = None
        if self._temporary is not None:
            self._temporary.cleanup()

    def _stored_dimension(self) -> int | None:
        folder = self._folder()
        _settle(folder)
        if not (folder / _CONFIG).exists():
            return None
        size = _size(folder / _CONFIG)
        self._shard = self._open(lambda edge: edge.EdgeShard.load(str(folder)))
        return size

    def _create(self, dimension: int) -> None:
        self._renew(dimension, ())

    def _renew(self, dimension: int, stored: Iterable[Sequence[Any]]) -> None:
        """Put a shard with the points `stored` in the place of the old one, if there is one. It is
        moved once it is complete, so that a kill leaves no incomplete one.
        """

        def renew(edge: Any) -> Any:
            folder, new = self._folder(), _beside(self._folder(), "new")
            shutil.rmtree(new, ignore_errors=True)
            new.parent.mkdir(parents=True, exist_ok=True)
            vectors = edge.EdgeVectorParams(dimension, edge.Distance.Dot)
            shard = edge.EdgeShard.create(str(new), edge.EdgeConfig(vectors=vectors))
            keyword = edge.PayloadSchemaType.Keyword
            shard.update(edge.UpdateOperation.create_field_index("owner", keyword))
            for hits in stored:
                points = [edge.Point(hit.id, hit.vector, hit.payload) for hit in hits]
                if points:
                    shard.update(edge.UpdateOperation.upsert_points(points))
            shard.flush()
            shard.close()
            if self._shard is not None:
                self._shard.close()
                self._shard = self._known_dimension = None  # it is opened anew if the rest fails
                folder.rename(_beside(folder, "old"))
            new.rename(folder)
            _settle(folder)
            return edge.EdgeShard.load(str(folder))

        self._shard, self._known_dimension = self._open(renew), dimension

    def _write(self, owner: str, ids: Sequence[str], rows: Vectors) -> None:
        edge = _engine()
        points = [
            edge.Point(UUID(point_of(owner, id_)), row.tolist(), {"owner": owner, "id": id_})
            for id_, row in zip(ids, rows, strict=True)
        ]
        for start in range(0, len(points), BATCH):
            batch = points[start : start + BATCH]
            self._shard.update(edge.UpdateOperation.upsert_points(batch))

    def _delete(self, owner: str, ids: Collection[str] | None) -> None:
        operation = _engine().UpdateOperation
        self._shard.update(operation.delete_points_by_filter(_only(owner, ids)))

    def _search(
        self, owner: str, query: Vectors, most: int, among: Collection[str] | None
    ) -> tuple[Sequence[str], Vectors]:
        edge = _engine()
        request = edge.QueryRequest(
            limit=most,
            query=edge.Query.Nearest(query.tolist()),
            filter=_only(owner, among),
            with_vector=True,
            with_payload=True,
            params=edge.SearchParams(exact=True),
        )
        return of_hits(self._shard.query(request))

    def _ids(self, owner: str) -> Iterable[str]:
        batches = pages(lambda offset: self._page(offset, PAGE, filter=_only(owner, None)))
        return (hit.payload["id"] for hits in batches for hit in hits)

    def _page(self, offset: Any, most: int, **more: Any) -> Any:
        request = _engine().ScrollRequest(offset=offset, limit=most, with_payload=True, **more)
        return self._shard.scroll(request)

    def _folder(self) -> Path:
        if self._path is not None:
            return Path(self._path).expanduser()
        if self._temporary is None:
            self._temporary = TemporaryDirectory(prefix="memsys-qdrant-")
        return Path(self._temporary.name) / "shard"

    def _open(self, make: Callable[[Any], Any]) -> Any:
        try:
            return make(_engine())
        except Exception as error:  # the engine raises nothing more specific
            raise InputError(
                f"vector_store.path={self._folder()}: {error}; name a folder that no other store "
                "has open and that this program may write"
            ) from error


def _beside(folder: Path, name: str) -> Path:
    return folder.with_name(f"{folder.name}.{name}")


def _settle(folder: Path) -> None:
    """Complete, or undo, a compaction that was interrupted between its two moves."""
    old = _beside(folder, "old")
    if old.exists() and not folder.exists():
        old.rename(folder)
    shutil.rmtree(old, ignore_errors=True)


def _engine() -> Any:
    import qdrant_edge  # noqa: PLC0415 - an extra

    return qdrant_edge


def _only(owner: str, ids: Collection[str] | None) -> Any:
    edge = _engine()
    must = [edge.FieldCondition("owner", match=edge.MatchValue(owner))]
    if ids is not None:
        must.append(edge.HasIdCondition({UUID(point_of(owner, id_)) for id_ in ids}))
    return edge.Filter(must=must)


def _size(config: Path) -> int:
    try:
        vectors = json.loads(config.read_text(encoding="utf-8"))["vectors"]
        return int(vectors[""]["size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"vector_store.path={config.parent}: {config.name} is not of this store "
            f"({error!r}); name another folder"
        ) from error

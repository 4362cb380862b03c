"""Vectors in a Qdrant server (extra `qdrant`)."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Annotated, Any
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from memsys.core.addresses import check_address, secret_of
from memsys.core.declared import Range
from memsys.core.errors import InputError, check_installed
from memsys.core.types import Vectors
from memsys.stores.vectors import VectorStore, key_of

BATCH = 500  # points per request: a few megabytes at 384 dimensions
PAGE = 1000  # points per page of a list


class QdrantVectors(VectorStore):
    """Exact search in one `collection` of the server at `url`, filtered by owner. Vectors are
    compared by the dot product, which leaves them unchanged; of unit vectors it is the cosine.

    The key is read from the environment variable `key_variable` (None: no key) and never stored.
    Each write is acknowledged when applied. Raises InputError if the extra or the key is missing
    or, on first use, if the server does not answer.
    """

    def __init__(
        self,
        url: str,
        collection: str = "memsys",
        key_variable: str | None = None,
        timeout_s: Annotated[int, Range(1, 86_400)] = 30,
    ) -> None:
        super().__init__()
        check_installed("qdrant_client", "vector_store=qdrant", "qdrant")
        check_address(url, "vector_store.url")
        self._url, self._collection, self._timeout_s = url, collection, timeout_s
        self._key_variable = key_variable

    def _close(self) -> None:
        if "_client" in self.__dict__:
            self._client.close()

    def connect(self) -> Any:
        """Return the client; nothing is sent yet. Raises InputError without the key."""
        from qdrant_client import QdrantClient  # noqa: PLC0415 - an extra

        remedy = "set it to the server's key, or the setting to null"
        key = secret_of(self._key_variable, "vector_store.key_variable", remedy)
        return QdrantClient(
            url=self._url,
            api_key=key,
            timeout=self._timeout_s,
            check_compatibility=False,  # it would send a request, and warn, before the first use
        )

    @cached_property
    def _client(self) -> Any:
        return self.connect()

    def _stored_dimension(self) -> int | None:
        if not self._ask("collection_exists"):
            return None
        vectors = self._ask("get_collection").config.params.vectors
        if getattr(vectors, "distance", None) != _models().Distance.DOT:
            raise InputError(
                f"vector_store.collection={self._collection}: made by another program (its "
                "vectors are not compared by dot product); name another collection"
            )
        return int(vectors.size)

    def _create(self, dimension: int) -> None:
        models = _models()
        vectors = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        self._ask("create_collection", vectors_config=vectors)
        owner = models.KeywordIndexParams(type="keyword", is_tenant=True)
        self._ask("create_payload_index", field_name="owner", field_schema=owner)

    def _write(self, owner: str, ids: Sequence[str], rows: Vectors) -> None:
        points = [
            _models().PointStruct(
                id=point_of(owner, id_), vector=row.tolist(), payload={"owner": owner, "id": id_}
            )
            for id_, row in zip(ids, rows, strict=True)
        ]
        for start in range(0, len(points), BATCH):
            self._ask("upsert", points=points[start : start + BATCH], wait=True)

    def _delete(self, owner: str, ids: Collection[str] | None) -> None:
        selected = _models().FilterSelector(filter=_only(owner, ids))
        self._ask("delete", points_selector=selected, wait=True)

    def _search(
        self, owner: str, query: Vectors, most: int, among: Collection[str] | None
    ) -> tuple[Sequence[str], Vectors]:
        hits = self._ask(
            "query_points",
            query=query.tolist(),
            query_filter=_only(owner, among),
            search_params=_models().SearchParams(exact=True),
            limit=most,
            with_payload=True,
            with_vectors=True,
        ).points
        return of_hits(hits)

    def _ids(self, owner: str) -> Iterable[str]:
        only = {"scroll_filter": _only(owner, None), "limit": PAGE}
        batches = pages(lambda offset: self._ask("scroll", **only, offset=offset))
        return (hit.payload["id"] for hits in batches for hit in hits)

    def _ask(self, method: str, **arguments: Any) -> Any:
        """Return what a method of the client returns for the collection."""
        from qdrant_client.http.exceptions import (  # noqa: PLC0415 - an extra
            ResponseHandlingException,
            UnexpectedResponse,
        )

        try:
            return getattr(self._client, method)(self._collection, **arguments)
        except (ResponseHandlingException, UnexpectedResponse) as error:
            # The first line only: a response's headers and body follow.
            message = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"vector_store.url={self._url}: {message}; start Qdrant there "
                "(docker run -p 6333:6333 qdrant/qdrant), or correct the url or the key"
            ) from error


def point_of(owner: str, id_: str) -> str:
    """Return the UUID of an owner's id: Qdrant names points by number or UUID only."""
    return str(uuid5(NAMESPACE_OID, key_of(owner, id_)))


def of_hits(hits: Sequence[Any]) -> tuple[list[str], Vectors]:
    """Return ids and vectors, shape (n, d), of the engine's points."""
    ids = [hit.payload["id"] for hit in hits]
    return ids, np.array([hit.vector for hit in hits], dtype=np.float32)


def pages(page: Callable[[Any], tuple[Sequence[Any], Any]]) -> Iterator[Sequence[Any]]:
    """Yield all points; `page` returns some from an offset on, and the next offset or None."""
    hits, offset = page(None)
    yield hits
    while offset is not None:
        hits, offset = page(offset)
        yield hits


def _models() -> Any:
    from qdrant_client import models  # noqa: PLC0415 - an extra

    return models


def _only(owner: str, ids: Collection[str] | None) -> Any:
    models = _models()
    must: list[Any] = [models.FieldCondition(key="owner", match=models.MatchValue(value=owner))]
    if ids is not None:
        must.append(models.HasIdCondition(has_id=[point_of(owner, id_) for id_ in ids]))
    return models.Filter(must=must)

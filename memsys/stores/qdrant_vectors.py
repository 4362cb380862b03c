"""Vectors in a Qdrant server (extra `qdrant`)."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from importlib.util import find_spec
from typing import Annotated, Any, TypeVar

from memsys.core.addresses import check_address
from memsys.core.declared import Range
from memsys.core.errors import InputError
from memsys.core.types import Vectors
from memsys.stores.qdrant_points import PAGE, Point, QdrantPoints

_T = TypeVar("_T")


class QdrantVectors(QdrantPoints):
    """Exact search in one `collection` of the server at `url`, filtered by owner.

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
        if find_spec("qdrant_client") is None:
            raise InputError("vector_store=qdrant: not installed; pip install -e '.[qdrant]'")
        check_address(url, "vector_store.url")
        self._url, self._collection, self._timeout_s = url, collection, timeout_s
        self._key_variable = key_variable
        self._size: int | None = None

    def compact(self) -> bool:
        """Return False; see VectorStore."""
        return False

    def close(self) -> None:
        """See VectorStore."""
        with self._lock:
            if "_client" in self.__dict__:
                self._client.close()

    def connect(self) -> Any:
        """Return the client; nothing is sent yet. Raises InputError without the key."""
        from qdrant_client import QdrantClient  # noqa: PLC0415 - an extra

        key = None
        if self._key_variable is not None:
            key = os.environ.get(self._key_variable)
            if not key:
                raise InputError(
                    f"vector_store.key_variable: the environment has no {self._key_variable}; "
                    "set it to the server's key, or the setting to null"
                )
        return QdrantClient(
            url=self._url,
            api_key=key,
            timeout=self._timeout_s,
            check_compatibility=False,  # it would send a request, and warn, before the first use
        )

    @cached_property
    def _client(self) -> Any:
        return self.connect()

    def _dimension(self) -> int | None:
        if self._size is None and self._ask(
            lambda: self._client.collection_exists(self._collection)
        ):
            info = self._ask(lambda: self._client.get_collection(self._collection))
            vectors = info.config.params.vectors
            if getattr(vectors, "distance", None) != _models().Distance.DOT:
                raise InputError(
                    f"vector_store.collection={self._collection}: made by another program (its "
                    "vectors are not compared by dot product); name another collection"
                )
            self._size = int(vectors.size)
        return self._size

    def _create(self, dimension: int) -> None:
        models = _models()
        vectors = models.VectorParams(size=dimension, distance=models.Distance.DOT)
        self._ask(lambda: self._client.create_collection(self._collection, vectors))
        owner = models.KeywordIndexParams(type="keyword", is_tenant=True)
        self._ask(lambda: self._client.create_payload_index(self._collection, "owner", owner))
        self._size = dimension

    def _upsert(self, points: Sequence[Point]) -> None:
        structs = [
            _models().PointStruct(
                id=one.point, vector=one.row.tolist(), payload={"owner": one.owner, "id": one.id}
            )
            for one in points
        ]
        self._ask(lambda: self._client.upsert(self._collection, structs, wait=True))

    def _delete(self, owner: str, points: Sequence[str] | None) -> None:
        selected = _models().FilterSelector(filter=_only(owner, points))
        self._ask(lambda: self._client.delete(self._collection, selected, wait=True))

    def _search(self, owner: str, query: Vectors, most: int, points: Sequence[str] | None) -> Any:
        search = partial(
            self._client.query_points,
            self._collection,
            query=query.tolist(),
            query_filter=_only(owner, points),
            search_params=_models().SearchParams(exact=True),
            limit=most,
            with_payload=True,
            with_vectors=True,
        )
        return self._ask(search).points

    def _page(self, owner: str, offset: Any) -> Any:
        scroll = partial(self._client.scroll, self._collection, _only(owner), limit=PAGE)
        return self._ask(partial(scroll, offset=offset))

    def _ask(self, call: Callable[[], _T]) -> _T:
        from qdrant_client.http.exceptions import (  # noqa: PLC0415 - an extra
            ResponseHandlingException,
            UnexpectedResponse,
        )

        try:
            return call()
        except (ResponseHandlingException, UnexpectedResponse) as error:
            # The first line only: a response's headers and body follow.
            message = (str(error).splitlines() or [type(error).__name__])[0]
            raise InputError(
                f"vector_store.url={self._url}: {message}; start Qdrant there "
                "(docker run -p 6333:6333 qdrant/qdrant), or correct the url or the key"
            ) from error


def _models() -> Any:
    from qdrant_client import models  # noqa: PLC0415 - an extra

    return models


def _only(owner: str, points: Sequence[str] | None = None) -> Any:
    models = _models()
    must: list[Any] = [models.FieldCondition(key="owner", match=models.MatchValue(value=owner))]
    if points is not None:
        must.append(models.HasIdCondition(has_id=list(points)))
    return models.Filter(must=must)

"""An adapter as a library's would be, of the standard library alone: it keeps messages, and finds
them by the cosine of vectors that it asks the gateway for. A message may make it misbehave, and
with the option `child` it has a server of its own, whose number is its version.
"""

import json
import logging
import os
import socket
import subprocess
import time
import urllib.error
import urllib.request
from typing import Any


class Adapter:
    library = "keeper"

    def __init__(self, options: dict[str, Any]) -> None:
        self.options = options
        self.child = subprocess.Popen(["sleep", "60"]) if "child" in options else None
        self.version = self.child.pid if self.child else "1.2.3"
        self.about: dict[str, dict[str, Any]] = {}
        self.memories: dict[str, tuple[str, list[float]]] = {}

    def degraded(self) -> list[str]:
        return ["no poetry"]

    def post(self, path: str, body: dict[str, Any]) -> Any:
        headers = {"Authorization": f"Bearer {self.options['key']}"}
        data = json.dumps(body).encode()
        request = urllib.request.Request(self.options["base_url"] + path, data, headers)  # noqa: S310
        try:
            with urllib.request.urlopen(request) as answer:  # noqa: S310
                return json.loads(answer.read())
        except urllib.error.HTTPError as error:
            raise RuntimeError(json.loads(error.read())["error"]["message"]) from None

    def vector(self, text: str) -> list[float]:
        row: list[float] = self.post("/embeddings", {"input": text})["data"][0]["embedding"]
        return row

    def add(self, item: dict[str, Any]) -> int:
        text = item["text"]
        if "wait" in text:
            time.sleep(0.5)
        if "crash" in text:
            os._exit(3)
        if "telephone" in text:
            socket.create_connection(("192.0.2.1", 443), timeout=5)
        if "mumble" in text:
            print("mumbled on stdout")
            logging.getLogger("keeper").warning("a word was dropped")
        if self.options["infer"]:
            asked = {"model": "any", "messages": [{"role": "user", "content": text}]}
            answer = self.post("/chat/completions", asked)
            text = answer["choices"][0]["message"]["content"]
        name = item["about"]["turns"][0]
        self.about[name], self.memories[name] = item["about"], (text, self.vector(text))
        return 1

    def search(self, query: str, k: int) -> list[dict[str, Any]]:
        asked = self.vector(query)
        found = [
            {"id": name, "text": text, "of": name}
            | {"score": sum(a * b for a, b in zip(asked, vector, strict=True))}
            for name, (text, vector) in self.memories.items()
        ]
        return sorted(found, key=lambda one: -one["score"])[:k]

    def delete(self, ids: list[str]) -> int:
        return len([self.memories.pop(name) for name in ids])

    def size(self) -> dict[str, int]:
        return {"memories": len(self.memories)}

    def close(self) -> None:
        if self.child:
            self.child.kill()
            self.child.wait()

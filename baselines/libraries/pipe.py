"""A library in a separate process that exchanges lines of JSON, and uses the models of a run by an
OpenAI-compatible server on loopback.

The library gets the server's address and a key generated for the run; the real key never leaves
this process. The thread that waits for the library answers each request, so that a call is added to
the meter of the current phase, and an error that ends the run is raised in the run's own thread.
"""

import base64
import json
import os
import queue
import secrets
import signal
import subprocess
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np

from memsys.core.loopback import LoopbackServer, Reply, refusal
from memsys.core.tokens import count_tokens
from memsys.embed.base import Kind
from memsys.embed.cache import CachedEmbedder
from memsys.llm.base import LLM, LLMError

MODEL = "embedder"  # the name of the run's embedder for the library
_MOST_BYTES = 64 * 2**20  # of a reply
TAIL = 600  # characters of what a process wrote on stderr
_PATIENCE_S = 5  # for an orderly exit
_PASSED = ("PATH", "LANG", "LC_ALL", "TMPDIR")  # of this environment: no key, no proxy


@dataclass(frozen=True, slots=True)
class GatewayRequest:
    """A request of the library: path below /v1 and body; `reply` becomes (status, JSON)."""

    path: str
    body: Mapping[str, Any]
    reply: Future[Reply] = field(default_factory=Future)


class Gateway:
    """Listens at `base_url` from construction until `close`. `kind`: kind of the texts to embed
    now.
    """

    def __init__(
        self, embedder: CachedEmbedder, llm: LLM | None, submit: Callable[[GatewayRequest], None]
    ) -> None:
        """`submit` passes each request to the thread that calls `answer`."""
        self._embedder, self._llm = embedder, llm
        self.kind: Kind = "document"
        self.key = secrets.token_urlsafe(24)
        self.refused: list[str] = []  # reasons of calls that were not answered
        server = LoopbackServer(partial(_forward, f"Bearer {self.key}", submit))
        self.base_url = server.base_url
        self._stop = weakref.finalize(self, server.stop)

    def answer(self, job: GatewayRequest) -> None:
        """Answer `job` in this thread. A fault of one call is returned to the library and added to
        `refused`; any other error (a budget, a key) is returned to it and also raised.
        """
        try:
            answer = self._embed(job.body) if job.path == "/embeddings" else self._chat(job)
        except LLMError as error:
            self.refused.append(str(error))
            job.reply.set_result((400, refusal(str(error))))
        except BaseException as error:
            job.reply.set_result((400, refusal(f"the run ends: {type(error).__name__}")))
            raise
        else:
            job.reply.set_result((200, answer))

    def close(self) -> None:
        """Stop listening; running requests are refused."""
        self._stop()

    def _chat(self, job: GatewayRequest) -> Mapping[str, Any]:
        if job.path != "/chat/completions":
            raise LLMError(f"{job.path}: not served; only /chat/completions and /embeddings are")
        if self._llm is None:
            raise LLMError("no chat model: the run has llm=none; add llm=openai or llm=local")
        if job.body.get("stream"):
            raise LLMError("stream: not served; ask for the whole answer")
        return self._llm.forward(job.body)

    def _embed(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        value = body.get("input")
        texts = [value] if isinstance(value, str) else value
        if not isinstance(texts, list) or not texts or not all(isinstance(t, str) for t in texts):
            raise LLMError("input: give a text or a list of texts; token numbers are not served")
        if self.kind == "query":
            vectors = np.stack([self._embedder.query(text) for text in texts])
        else:
            vectors = self._embedder.documents(texts)
        if body.get("dimensions") not in (None, vectors.shape[1]):
            raise LLMError(f"dimensions: the embedder has {vectors.shape[1]}")
        rows: list[Any] = vectors.tolist()
        if body.get("encoding_format") == "base64":
            rows = [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
        tokens = sum(count_tokens(text) for text in texts)
        data = [{"object": "embedding", "index": i, "embedding": r} for i, r in enumerate(rows)]
        return {
            "object": "list",
            "model": self._embedder.name,
            "data": data,
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }


def _forward(
    key: str, submit: Callable[[GatewayRequest], None], path: str, given: str, data: bytes
) -> Reply:
    """Pass a request with the key to the run, and return its answer."""
    if not secrets.compare_digest(given.encode(), key.encode()):
        return 401, refusal("not the key of this run")
    try:
        body = json.loads(data)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        return 400, refusal("the body is not a JSON object")
    job = GatewayRequest(path.removeprefix("/v1"), body)
    submit(job)
    return job.reply.result()


class LibraryError(Exception):
    """The library failed at this session or question; the message ends with its last output."""


class Pipe:
    """Runs `command` in `folder`, which is also its home. It processes one request at a time.

    `timeout_s` bounds the time without a message; calls to models, which pass through `inbox`, do
    not count. A process that violates the protocol or does not answer in time is killed, and every
    later request fails at once.
    """

    def __init__(
        self, name: str, command: Sequence[str | Path], folder: Path, timeout_s: float
    ) -> None:
        """Raises LibraryError if the command cannot be started."""
        self._name, self._timeout_s = name, timeout_s
        self._stderr_path = folder / "stderr.txt"
        self.inbox: queue.SimpleQueue[bytes | GatewayRequest] = queue.SimpleQueue()
        self._count, self._dead = 0, ""
        environment = {name: value for name in _PASSED if (value := os.environ.get(name))}
        environment |= {"HOME": str(folder), "PYTHONNOUSERSITE": "1", "PYTHONHASHSEED": "0"}
        try:
            with self._stderr_path.open("wb") as stderr:
                self._process = subprocess.Popen(  # noqa: S603 - the venv's own interpreter
                    [str(part) for part in command],
                    cwd=folder,
                    env=environment,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=stderr,
                    start_new_session=True,  # its children end with it
                )
        except OSError as error:
            raise LibraryError(f"{name}: cannot be started ({error})") from error
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None and stdout is not None  # noqa: S101, PT018 - for the type checker
        self._stdin, self._stop = stdin, weakref.finalize(self, _kill, self._process, stdin)
        threading.Thread(target=_read, args=(stdout, self.inbox), daemon=True).start()

    def request(
        self, message: Mapping[str, Any], serve: Callable[[GatewayRequest], None]
    ) -> Mapping[str, Any]:
        """Return the reply to `message`.

        Calls of the library to models are passed to `serve`, in this thread; an error of `serve`
        ends the process and is raised. Raises LibraryError if the library failed at the request (it
        continues), or if it has ended, timed out or violated the protocol (it is killed).
        """
        if self._dead:
            raise LibraryError(f"{self._name}: {self._dead}")
        self._count += 1
        line = json.dumps({"id": self._count, **message}, ensure_ascii=True).encode() + b"\n"
        # A process that does not read would block us here. The thread has a descriptor of its own:
        # the number of a closed one may be another process's by the time it writes.
        own = os.dup(self._stdin.fileno())
        threading.Thread(target=_write, args=(own, line), daemon=True).start()
        reply = self._reply(serve)
        if reply.get("id") != self._count:
            raise self._end("answered a different request")
        if "error" in reply:
            raise LibraryError(f"{self._name}: {str(reply['error'])[:TAIL]}")
        return reply

    def _reply(self, serve: Callable[[GatewayRequest], None]) -> dict[str, Any]:
        deadline = time.monotonic() + self._timeout_s
        while True:
            try:
                item = self.inbox.get(timeout=max(deadline - time.monotonic(), 0))
            except queue.Empty:
                raise self._end(f"no answer within {self._timeout_s:g} s; killed") from None
            if isinstance(item, GatewayRequest):
                try:
                    serve(item)
                except BaseException:
                    self._end("ended with the run")
                    raise
                deadline = time.monotonic() + self._timeout_s
                continue
            if not item:
                with suppress(subprocess.TimeoutExpired):
                    self._process.wait(_PATIENCE_S)
                raise self._end(f"the process ended with code {self._process.poll()}")
            reply = None
            with suppress(ValueError):
                reply = json.loads(item) if item.endswith(b"\n") else None
            if not isinstance(reply, dict):
                wrong = f"not a JSON object, cut off, or longer than {_MOST_BYTES} bytes"
                raise self._end(f"a reply that is {wrong}: {item[:80]!r}")
            return reply

    def close(self) -> None:
        """Let the process exit, or kill it; running calls are refused."""
        self._dead = self._dead or "closed"
        with suppress(OSError, ValueError):
            self._stdin.close()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(_PATIENCE_S)
        self._stop()
        with suppress(queue.Empty):
            while True:
                left = self.inbox.get_nowait()
                if isinstance(left, GatewayRequest):
                    left.reply.set_result((503, {"error": {"message": "the run has ended"}}))

    def _end(self, why: str) -> LibraryError:
        """Kill the process; return the error to raise now and at every later request."""
        self._stop()
        self._dead = why = with_last_output(why, self._stderr_path)
        return LibraryError(f"{self._name}: {why}")


def with_last_output(why: str, stderr: Path) -> str:
    """Return `why` a process has ended, with the last words in the file of its messages."""
    with suppress(OSError):
        words = stderr.read_bytes()[-4 * TAIL :].decode(errors="replace")
        if last := " ".join(words.split())[-TAIL:]:
            return f"{why}; its last output: {last}"
    return why


def _read(stdout: IO[bytes], inbox: queue.SimpleQueue[bytes | GatewayRequest]) -> None:
    """Put lines into the inbox; an empty one is the end."""
    with suppress(OSError, ValueError):
        while line := stdout.readline(_MOST_BYTES):
            inbox.put(line)
        stdout.close()
    inbox.put(b"")


def _write(descriptor: int, line: bytes) -> None:
    """Write `line` without a buffer, whose lock would block `close`, and close the descriptor."""
    try:
        os.write(descriptor, line)
    except OSError:
        pass  # the reader of the reply notices the end of the process
    finally:
        os.close(descriptor)


def _kill(process: subprocess.Popen[bytes], stdin: IO[bytes]) -> None:
    """Kill the process and all that it has started, and close its `stdin`."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    with suppress(OSError, ValueError):
        stdin.close()

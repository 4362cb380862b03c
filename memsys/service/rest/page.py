"""The document as a page that needs no network and no script."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any

_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
    "h2{font-size:1.1rem;margin:2rem 0 .3rem}code,pre{background:#8882;border-radius:4px}"
    "code{padding:0 .3em}pre{padding:.6rem;overflow:auto;font-size:.85rem}:root{color-scheme:light "
    "dark}td,th{text-align:left;padding:.1rem .8rem .1rem 0;vertical-align:top}"
)


def page(document: Mapping[str, Any]) -> str:
    """HTML of an OpenAPI `document`: operations, parameters, bodies, answers and schemas."""
    info = document["info"]
    parts = [f"<h1>{escape(info['title'])} {escape(info['version'])}</h1>"]
    parts.append(f"<p>{escape(info.get('description', ''))}</p>")
    parts.append('<p>For programs: <a href="/openapi.json">/openapi.json</a></p>')
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            parts.append(_operation(method.upper(), path, operation))
    parts.append("<h1>Schemas</h1>")
    for name, schema in document.get("components", {}).get("schemas", {}).items():
        shown = json.dumps(schema, indent=1, ensure_ascii=False)
        parts.append(f'<h2 id="{escape(name)}">{escape(name)}</h2><pre>{escape(shown)}</pre>')
    body = "\n".join(parts)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(info["title"])}</title>'
        f"<style>{_STYLE}</style><main>{body}</main></html>"
    )


def _operation(method: str, path: str, operation: Mapping[str, Any]) -> str:
    rows = [
        (f"{one['name']} ({one['in']})", "required" if one.get("required") else "optional")
        for one in operation.get("parameters", ())
    ]
    if "requestBody" in operation:
        rows.append(("body", _link(operation["requestBody"]["content"])))
    for status, answer in operation["responses"].items():
        rows.append((status, f"{escape(answer['description'])} {_link(answer.get('content', {}))}"))
    table = "".join(f"<tr><th>{escape(name)}<td>{told}" for name, told in rows)
    told = escape(operation.get("description") or operation.get("summary", ""))
    return f"<h2><code>{method} {escape(path)}</code></h2><p>{told}</p><table>{table}</table>"


def _link(content: Mapping[str, Any]) -> str:
    schema = content.get("application/json", {}).get("schema", {})
    name = escape(str(schema.get("$ref", "")).rpartition("/")[2])
    return f'<a href="#{name}">{name}</a>' if name else ""

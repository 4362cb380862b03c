"""Whether a server can be measured: checked on probes, once per process, before any ingestion."""

import json
import secrets
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

from omegaconf import OmegaConf

from baselines.libraries.pipe import LibraryError
from baselines.mcp.arguments import VERBS, leaves, owner_of
from baselines.mcp.connection import Address, Command, Connection
from baselines.mcp.session import OwnerMemory, nothing_in
from baselines.mcp.tools import PROCESS, Chosen, Tool, Wanted, choose, fitted, points
from memsys.core.addresses import check_open, without_secrets
from memsys.core.declared import Range, Seconds, check_values
from memsys.core.errors import InputError, check_installed
from memsys.core.types import Memory

_K = 5
_UNKNOWN = 'What did Zubrowka-Quill say about "marzipan & tin" (in 1907)?'  # marks upset a parser
_TIME = datetime(2023, 5, 1, 13)


@dataclass(frozen=True, slots=True)
class Server:
    """How a server is reached and used. `settle_s`: seconds after an addition or a deletion
    before the first search.
    """

    at: Command | Address
    wanted: Wanted
    timeout_s: float
    settle_s: float

    @contextmanager
    def connected(self) -> Iterator[Connection]:
        """Open a connection; a command runs in a folder of its own, which is then removed."""
        with TemporaryDirectory(prefix="memsys-mcp-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            stderr = folder / "stderr.txt" if isinstance(self.at, Command) else None
            connection = Connection(self.at.open(folder), self.timeout_s, stderr)
            try:
                yield connection
            finally:
                connection.close()


def server_of(
    command: str | None = None,
    url: str | None = None,
    env: Mapping[str, Any] | None = None,
    variables: Sequence[str] = (),
    key_variable: str = "",
    timeout_s: Seconds = 60,
    settle_s: Annotated[float, Range(0, 600)] = 0,
    **wanted: Any,
) -> Server:
    """Return how a server is reached and used.

    `command`: the program of a server over stdio, with its arguments; or `url`: the address of one
    over HTTP. `env`: variables of the process ({folder}: its own folder); `variables`: names of
    those of this process that it may see. `key_variable`: that of the bearer token for an address.
    `timeout_s`: of a call. `settle_s`: wait after an ingestion. `wanted`: see Wanted. Raises
    InputError on a wrong value.
    """
    check_values(server_of, locals(), "strategy")
    check_installed("mcp", "strategy=mcp", "mcp")
    if (command is None) == (url is None):
        raise InputError("strategy=mcp: set either strategy.command or strategy.url")
    at: Command | Address
    if command is not None:
        at = Command(command, dict(env or {}), tuple(variables))
    else:
        at = Address(str(url), key_variable)
    plain: dict[str, Any] = {
        name: OmegaConf.to_container(value, resolve=True) if OmegaConf.is_config(value) else value
        for name, value in wanted.items()
    }
    for name, value in leaves(plain):
        remedy = "let the server read it from a variable: strategy.variables"
        check_open(name.rpartition(".")[2], value, f"strategy.{name}", remedy)
    return Server(at, Wanted(**plain), timeout_s, settle_s)


@dataclass(frozen=True, slots=True)
class Admission:
    """An admitted server: its tools, what it answers if it finds nothing (plain text alone), and
    what was checked.
    """

    chosen: Chosen
    about: Mapping[str, Any]
    nothing: str = ""
    checks: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the entries of the manifest."""
        return {"server": self.about, **self.chosen.as_json(), "admission": self.checks}


_ADMITTED: dict[str, Admission] = {}
_LOCK = threading.Lock()


def admit(server: Server, show: Callable[[str], None] = lambda _: None) -> Admission:
    """Return the admission of `server`; checked once per process. Raises InputError with the reason
    if it is not admitted; nothing but probes has then been stored.
    """
    key = repr(server)
    with _LOCK:
        if key not in _ADMITTED:
            _ADMITTED[key] = check(server, show)
        return _ADMITTED[key]


def check(
    server: Server, show: Callable[[str], None] = lambda _: None, *, list_all: bool = False
) -> Admission:
    """Choose the tools and check the server on two probe owners, whose memories are then deleted.
    `show` is called with each line for the user: what was chosen, after all tools with `list_all`.
    Raises InputError as `admit`.
    """
    try:
        with server.connected() as connection:
            tools, about = connection.tools()
            show(" ".join(map(str, about.values())))
            for line in _description_lines(tools) if list_all else ():
                show(line)
            toolset = choose(tools, server.wanted)
            for line in _choice_lines(toolset, tools):
                show(line)
            if toolset.owners != PROCESS:
                return _probe(server, toolset, about, connection, connection)
            if isinstance(server.at, Address):
                raise _refusal(
                    "neither tool has an argument for the owner, and one address is one process; "
                    "start it by strategy.command=, or name the argument by strategy.owners="
                )
            with server.connected() as other:
                return _probe(server, toolset, about, connection, other)
    except LibraryError as error:
        hint = "; is it there, and is the key of strategy.key_variable right?"
        raise _refusal(f"{error}{hint if isinstance(server.at, Address) else ''}") from None


def _description_lines(tools: list[Tool]) -> Iterator[str]:
    """Yield name, arguments and what speaks for or against each tool in each role."""
    for tool in tools:
        required = set(tool.schema.get("required") or ())
        names = [f"{n}{'' if n in required else '?'}" for n in tool.schema.get("properties") or {}]
        rated = {role: points(tool, role) for role in VERBS}
        owners = owner_of(tool.schema)
        notes = [
            f"{role}: {fitted(tool, role, owners)[1] or why}"
            for role, (worth, why) in rated.items()
            if worth
        ]
        yield "; ".join([f"  {tool.name}({', '.join(names)})", *notes])
    yield "Chosen"


def _choice_lines(toolset: Chosen, tools: list[Tool]) -> Iterator[str]:
    """Yield what was chosen and why, one line for each role."""
    for role, choice in toolset.by_role.items():
        if choice is None:
            yield f"  {role}: none of {len(tools)} tools; it cannot forget"
        else:
            arguments = json.dumps(choice.arguments, ensure_ascii=False)
            yield f"  {role}: {choice.tool.name} {arguments} ({choice.why})"
    apart = "a process and a folder each" if toolset.owners == PROCESS else toolset.owners
    yield f"  owners: by {apart}"


def _probe(
    server: Server, tools: Chosen, about: Mapping[str, Any], first: Connection, second: Connection
) -> Admission:
    """Add a memory for each of two owners, search for both as both, and for something unknown."""
    memories = [
        OwnerMemory(connection, tools, f"memsys-probe-{secrets.token_hex(8)}", "", server.settle_s)
        for connection in (first, second)
    ]
    probes = [_probe_of(place) for place in ("north", "south")]
    remedy = (
        "each has a process and a folder; the server writes elsewhere: give its path by "
        "strategy.env.NAME={folder}/..."
        if tools.owners == PROCESS
        else f"{tools.owners} differs; strategy.owners=process gives each a process and a folder, "
        "if there is a command"
    )
    left = []
    try:
        for memory, probe in zip(memories, probes, strict=True):
            memory.add(probe)
        for memory, other in zip(memories, reversed(probes), strict=True):
            if any(other.speaker in item.text for item in memory.items(other.index_text, _K)):
                raise _refusal(
                    f"it mixes owners: one finds what another has added, although {remedy}"
                )
        for memory, probe in zip(memories, probes, strict=True):
            _check_found(memory, probe)
        items, nothing = memories[0].items(_UNKNOWN, _K), ""
        if len(items) == 1 and items[0].plain and not memories[0].stored.is_about(items[0].text):
            nothing = nothing_in(items[0].text, _UNKNOWN)
    finally:
        for memory, probe in zip(memories, probes, strict=True):
            done = None
            with suppress(LibraryError):
                done = memory.forget(probe.turns)
            if done != 1:
                left.append(memory.owner)
    checks = ["what was added comes back", "owners are apart", "an unknown query is no error"]
    if left and isinstance(server.at, Address):  # a process has a folder, which is removed
        checks.append(f"{len(left)} of 2 probes may remain, of owners {', '.join(left)}")
    return Admission(tools, about, nothing, checks)


def _probe_of(gate: str) -> Memory:
    """Return a memory that ends with a new word. A search for the rest of it, its index text, finds
    it in servers that match a phrase, and an answer that repeats the query lacks the word.
    """
    text, word = f"The code of the {gate} gate is known to the keeper", secrets.token_hex(6)
    return Memory(f"probe {word}", f"{text} {word}", text, _TIME, word, (f"probe {word}",))


def _check_found(memory: OwnerMemory, probe: Memory) -> None:
    items = memory.items(probe.index_text, _K)
    if not any(probe.content in " ".join(item.text.split()) for item in items):
        first = (
            f"the first of {len(items)} results is {items[0].text[:80]!r}" if items else "nothing"
        )
        raise _refusal(
            f"what was added does not come back: {first} for words that were added; if the "
            "server needs time, set strategy.settle_s; if it rewrites texts, it cannot be credited"
        )


def _refusal(why: str) -> InputError:
    return InputError(without_secrets(f"strategy=mcp: the server is not admitted: {why}"))

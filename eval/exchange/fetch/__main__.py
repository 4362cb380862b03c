"""`python -m eval fetch NAME`: download a public data set and check that it is the published file.

Size and sha256 must equal those in data/sources.yaml, so that two people who report a number have
measured on the same bytes. A file without a pinned sha256 is not checked; its sha256 is printed.
"""

import hashlib
import http.client
import urllib.parse
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from eval import cli
from eval.datasets.files import DATA, PublicFile, load_sources
from eval.rendering.terminal import progress
from memsys.core.errors import InputError
from memsys.core.files import check_regular, is_there

_CHUNK = 1 << 16  # bytes per read
_TIMEOUT = 30.0  # seconds without a byte


def fetch(source: PublicFile, folder: Path, url: str | None = None) -> tuple[Path, bool]:
    """Download `source` into `folder`; return its path and whether it was downloaded now.

    `url` (http, https or file) replaces the published address. The file is `<name>.part` until its
    bytes are checked, and is removed if they are wrong. Raises InputError if the server does not
    answer, or sends another file than the published one, or if such a file is already there.
    """
    target = folder / source.file
    if is_there(target):
        check_regular(target)
        sha256 = _sha256(target)
        if source.sha256 not in (None, sha256):
            raise InputError(
                f"{target}: is not the published file (sha256 {sha256}, published "
                f"{source.sha256}); move it away, then fetch again"
            )
        return target, False
    url = url or source.url
    if urllib.parse.urlsplit(url).scheme not in ("http", "https", "file"):
        raise InputError(f"--from {url}: must begin with https://, http:// or file://")
    if url.startswith("file:"):
        check_regular(Path(urllib.request.url2pathname(urllib.parse.urlsplit(url).path)))
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        bar = progress(source.bytes, "B", unit_scale=True, desc=source.file)
        with part.open("wb") as out, bar:
            for chunk in _chunks(source, url, target):
                out.write(chunk)
                bar.update(len(chunk))
                if source.bytes and out.tell() > source.bytes:  # wrong already; it might never end
                    raise InputError(
                        f"{url}: is not the published {source.file}: more than its {source.bytes} "
                        "bytes"
                    )
        _check(source, url, part)
        part.replace(target)
    except OSError as error:
        raise InputError(f"{target}: cannot be written: {error.strerror or error}") from error
    finally:
        if part.exists():
            part.unlink()
    return target, True


def _chunks(source: PublicFile, url: str, target: Path) -> Iterator[bytes]:
    try:
        with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:  # noqa: S310 (scheme checked)
            while chunk := answer.read(_CHUNK):
                yield chunk
    except (OSError, http.client.HTTPException) as error:  # URLError and HTTPError are OSErrors
        raise InputError(
            f"{url}: not reached or broken off ({error}). By hand: get {source.url} "
            f"({source.home}) and put it at {target}"
        ) from error


def _check(source: PublicFile, url: str, part: Path) -> None:
    size, sha256 = part.stat().st_size, _sha256(part)
    if source.sha256 is None:
        if not size:
            raise InputError(f"{url}: is empty. Nothing was stored; fetch again")
        return
    if (size, sha256) != (source.bytes, source.sha256):
        raise InputError(
            f"{url}: is not the published {source.file}: {size} bytes, sha256 {sha256}; "
            f"published: {source.bytes} bytes, sha256 {source.sha256}. Nothing was stored; fetch "
            "again, or from another address by --from"
        )


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def main(argv: Sequence[str] | None = None) -> int:
    """Download and print the result; return exit code 2 for invalid input, 130 after Ctrl-C."""
    return cli.code_of(lambda: _fetch(argv))


def _fetch(argv: Sequence[str] | None) -> None:
    sources = load_sources()
    parser = cli.parser(
        "fetch", "Download a public data set and check that it is the published file."
    )
    sizes = {
        name: "size not pinned" if source.bytes is None else f"{source.bytes / 1e6:.1f} MB"
        for name, source in sources.items()
    }
    text = "; ".join(f"{name}: {sizes[name]}, {source.licence}" for name, source in sources.items())
    parser.add_argument("name", choices=list(sources), help=text)
    parser.add_argument("--to", type=Path, default=DATA, help="folder (default: %(default)s)")
    parser.add_argument("--from", dest="url", metavar="URL", help="other address of the same data")
    args = parser.parse_args(argv)
    source = sources[args.name]
    given = source.files() if args.url is None else replace(source, url=args.url).files()
    for file, other in zip(source.files(), given, strict=True):
        path, new = fetch(file, args.to, other.url)
        state = "downloaded" if new else "already here"
        checked = " and checked" if new else ""
        if file.sha256 is None:
            checked = f", not checked (no sha256 is pinned): sha256 {_sha256(path)}"
        print(f"{path}: {state}{checked}; licence {file.licence}")

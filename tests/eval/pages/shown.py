"""Pages as they are, parsed."""

from html.parser import HTMLParser

_VOID = {"meta", "link", "br", "wbr", "circle", "rect", "polygon", "line", "path", "input"}


class Parsed(HTMLParser):
    """Tags with their attributes, and text of a page; `open`: tags that are not closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words, self.open = "", list[str]()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in _VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words += data

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.found]

    @property
    def attributes(self) -> list[tuple[str, str | None]]:
        return [pair for _, attributes in self.found for pair in attributes.items()]

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]

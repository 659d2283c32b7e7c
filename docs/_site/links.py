"""Checks the built site: every link inside leads somewhere, and no page asks the network for anything.

python docs/_site/links.py build/docs
"""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the places within it that can be linked to."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what a tag refers to."""
        given = {name: value for name, value in attrs if value}
        self.places |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") != "canonical" and "href" in given:
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])


def read(path: Path) -> Page:
    """One page."""
    page = Page()
    page.feed(path.read_text(encoding="utf8"))
    return page


def faults(site: Path) -> list[str]:
    """One sentence for each link that leads nowhere and each thing that would come over the network."""
    pages = {path.resolve(): read(path) for path in sorted(site.rglob("*.html"))}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        for target in page.loads + page.links:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                if target in page.loads and parts.scheme != "data":
                    found.append(f"{name} loads {target} over the network.")
                continue
            file = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not file.is_file():
                found.append(f"{name} refers to {target}, which does not exist.")
            elif parts.fragment and file in pages and unquote(parts.fragment) not in pages[file].places:
                found.append(f"{name} refers to {target}, a place that is not on that page.")
    for sheet in site.rglob("*.css"):
        if "url(http" in sheet.read_text(encoding="utf8").replace('"', "").replace("'", "").replace(" ", ""):
            found.append(f"{sheet.relative_to(site)} loads something over the network.")
    return found


def main(site: str) -> int:
    """Print what is wrong; 0 when nothing is."""
    found = faults(Path(site))
    print("\n".join(found) or f"{len(list(Path(site).rglob('*.html')))} pages, and every link in them leads somewhere.")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

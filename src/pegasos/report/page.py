"""The whole page: its parts, its style, its script, and the rule that nothing comes from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from importlib.resources import files
from string import Template

import pegasos
from pegasos.report import class_parts, novelty_parts, number_parts, sections, words
from pegasos.report.charts import Chart
from pegasos.report.markup import data, text
from pegasos.report.outcome import ClassOutcome, NoveltyOutcome, NumberOutcome, Outcome
from pegasos.report.subject import ClassSubject, NoveltySubject, NumberSubject, Subject

_page = Template("""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="$policy">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>$title</title>
<style>$style</style>
</head>
<body>
<a class="skip" href="#summary">Skip to the summary</a>
<header>
<div class="topline">
<p class="brand">pegasos report</p>
<button type="button" id="theme" hidden>Dark</button>
</div>
<h1>$title</h1>
<p class="made">$what</p>
<p class="made">Made on $day by pegasos $version</p>
<nav aria-label="Parts of the page"><ul>$links</ul></nav>
<p id="no-script">The charts are drawn by a script in this file, which may not run here.</p>
</header>
<main>
$body
</main>
<footer><p>One file, complete in itself: it loads nothing and sends nothing.</p></footer>
<script type="application/json" id="charts">$charts</script>
<script>$script</script>
</body>
</html>
""")


def render(subject: Subject, outcome: Outcome) -> str:
    """Write the page."""
    drawn: dict[str, Chart] = {}
    parts = _parts(subject, outcome, drawn)
    whole = [
        sections.summary(subject, outcome, parts),
        sections.proof(subject, outcome, drawn, parts),
        parts.performance,
        sections.model_part(subject, outcome, drawn),
        parts.hardest,
        sections.choice(subject, drawn),
        sections.run(subject),
        sections.model_card(subject, outcome, parts),
    ]
    body = "\n".join(part for part in whole if part)
    style, script = _own("page.css"), _own("page.js")
    return _page.substitute(
        policy=_policy(style, script),
        title=text(subject.title),
        what=text(words.in_a_line(subject)),
        style=style,
        script=script,
        charts=data(drawn),
        day=f"{datetime.now(UTC):%d %B %Y}",
        version=text(pegasos.__version__),
        links=_links(body),
        body=body,
    )


def _parts(subject: Subject, outcome: Outcome, drawn: dict[str, Chart]) -> sections.Parts:
    if isinstance(subject, ClassSubject) and isinstance(outcome, ClassOutcome):
        return class_parts.parts_of(subject, outcome, drawn)
    if isinstance(subject, NumberSubject) and isinstance(outcome, NumberOutcome):
        return number_parts.parts_of(subject, outcome, drawn)
    assert isinstance(subject, NoveltySubject)
    assert isinstance(outcome, NoveltyOutcome)
    return novelty_parts.parts_of(subject, outcome, drawn)


def _own(name: str) -> str:
    return files("pegasos.report").joinpath(name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Only this style and this script, by their digests; no network, no frames, no forms."""
    own = f"style-src {_digest(style)}; script-src {_digest(script)}"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _digest(source: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()}'"


def _links(body: str) -> str:
    """One link for each part; headings are escaped already."""
    found = re.findall(r'<h2 id="([a-z]+)-heading">(.*?)</h2>', body)
    return "".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading in found)

"""The whole page: its parts, its style, its script, and the rule that nothing comes from anywhere else."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime
from importlib.resources import files
from string import Template

import pegasos
from pegasos.report import results, sections, words
from pegasos.report.charts import Chart
from pegasos.report.markup import data, text
from pegasos.report.outcome import Outcome
from pegasos.report.subject import Subject

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
    parts = [
        sections.summary(subject, outcome),
        sections.proof(subject, outcome, drawn),
        results.performance(subject, outcome, drawn),
        sections.model_part(subject, outcome, drawn),
        results.hardest(subject, outcome),
        sections.choice(subject, drawn),
        sections.run(subject),
        sections.model_card(subject, outcome),
    ]
    body = "\n".join(part for part in parts if part)
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

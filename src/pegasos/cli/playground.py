"""Open a page on which the algorithms train step by step; it needs neither a server nor the network.

pegasos playground
pegasos playground --output pages
"""

from __future__ import annotations

import argparse


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Where to write the page instead."""
    parser.add_argument("-o", "--output", metavar="DIR", help="write the page into this folder, and do not open it")


def run(arguments: argparse.Namespace) -> None:
    """Open the page, or write it, and print where it is."""
    import webbrowser

    from pegasos import playground

    if arguments.output is not None:
        print(f"playground   {playground.write(arguments.output)}")
        return
    page = playground.page()
    print(f"playground   {page}", flush=True)
    if not webbrowser.open(page.as_uri()):
        print("There is no browser to open it with; open the file above in one.")

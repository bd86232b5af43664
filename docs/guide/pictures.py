# SPDX-License-Identifier: MIT
"""usage: pictures.py make|check PICTURES PLACE [CHROMIUM]

Pictures of the guide, of what profan prints in PLACE (docs/guide/files.sh): the
first screen of a report in Chromium, light and dark, and a table.  PICTURES
/made-of.txt has a digest of what each shows; "check" compares it with what
would be shown now, and needs no browser.
"""
import hashlib
import html
import os
import subprocess
import sys
import tempfile

TABLE = ["ranks", "-q", "job", "--sort", "saved_ns", "--limit", "3"]
TABLE_LINES = 18  # the finding, the figures and the first table
SCHEMES = {"dark": 0, "light": 1}  # as Chromium counts them
SIZE = "1100,860"
CHARACTER, LINE, MARGIN = 8.4, 19, 16

STYLE = """text { font: 14px monospace; fill: #1f2328; white-space: pre }
rect { fill: #f6f8fa }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #161b22 } }"""


def printed(place, arguments):
    done = subprocess.run(["profan", *arguments], cwd=place,
                          stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "COLUMNS": "80"})
    return done.stdout.decode()


def table(place):
    """A table as people see it, in a drawing of letters."""
    lines = ["$ profan " + " ".join(a for a in TABLE if a != "-q")]
    lines += printed(place, TABLE).split("\n")[:TABLE_LINES]
    width = round(80 * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    drawn = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
             f'height="{height}" role="img" aria-label="profan ranks">',
             f"<style>{STYLE}</style>",
             f'<rect width="{width}" height="{height}" rx="6"/>']
    for i, line in enumerate(lines):
        if line:
            drawn.append(f'<text x="{MARGIN}" y="{MARGIN + 14 + i * LINE}" '
                         f'textLength="{len(line) * CHARACTER:.1f}">'
                         f"{html.escape(line)}</text>")
    return "\n".join([*drawn, "</svg>", ""])


def page(place):
    made = os.path.join(place, "picture.html")
    subprocess.run(["profan", "report", "-q", "before.json.gz", "-o",
                    "picture.html", "--force"], cwd=place, check=True)
    with open(made, encoding="utf-8") as file:
        return made, file.read()


def shown(text):
    """What is on the first screen: all before the second part."""
    begin, found, _ = text.partition("<section id=idle>")
    assert found, "the report has no part 'idle' any more"
    return hashlib.sha256(begin.encode()).hexdigest()


def take(chromium, made, scheme, picture):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu",
             "--hide-scrollbars", "--force-device-scale-factor=1",
             f"--user-data-dir={folder}", f"--window-size={SIZE}",
             f"--blink-settings=preferredColorScheme={scheme}",
             f"--screenshot={picture}", "file://" + os.path.abspath(made)],
            check=True, timeout=120, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)


def main(what, pictures, place, chromium="chromium"):
    made, text = page(place)
    digest, drawn = shown(text), table(place)
    want = "".join(f"report-{name}.png {digest}\n" for name in SCHEMES)
    list_path = os.path.join(pictures, "made-of.txt")
    svg_path = os.path.join(pictures, "ranks.svg")
    if what == "make":
        for name, scheme in SCHEMES.items():
            take(chromium, made, scheme,
                 os.path.abspath(os.path.join(pictures, f"report-{name}.png")))
        with open(svg_path, "w", encoding="utf-8") as file:
            file.write(drawn)
        with open(list_path, "w", encoding="utf-8") as file:
            file.write(want)
        return
    for path, expected in ((svg_path, drawn), (list_path, want)):
        with open(path, encoding="utf-8") as file:
            if file.read() != expected:
                sys.exit(f"{os.path.basename(path)} is of another day: "
                         "UPDATE=1 make check TESTS=tests/guide.sh")


if __name__ == "__main__":
    main(*sys.argv[1:])

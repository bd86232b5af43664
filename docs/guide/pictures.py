# SPDX-License-Identifier: MIT
"""usage: pictures.py make|check PICTURES PLACE [CHROMIUM]

Pictures of the guide, of what profan prints in PLACE (docs/guide/files.sh): the
first screen of a report in Chromium, light and dark, a table, and a terminal in
which commands are typed (CSS moves it).  PICTURES
/made-of.txt has a digest of what each shows; "check" compares it with what
would be shown now, and needs no browser.
"""
import hashlib
import html
import os
import re
import subprocess
import sys
import tempfile

TABLE = ["ranks", "-q", "job", "--sort", "saved_ns", "--limit", "3"]
TABLE_LINES = 18  # the finding, the figures and the first table
SCENES = [(["before.json.gz"], 24),
          (["diff", "before.json.gz", "after.json.gz"], 24)]
SCENE_S, TYPING_S = 9, 1.2
SCHEMES = {"dark": 0, "light": 1}  # as Chromium counts them
SIZE = "1100,860"
CHARACTER, LINE, MARGIN = 8.4, 19, 16

STYLE = """text { font: 14px monospace; fill: #1f2328; white-space: pre }
rect { fill: #f6f8fa }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } rect { fill: #161b22 } }"""

# what a terminal makes of its codes
COLORS = {"1": "b", "2": "d", "1;31": "r", "33": "y"}
MOVING = STYLE + """
.b { font-weight: bold } .d { opacity: .6 }
.r { font-weight: bold; fill: #cf222e } .y { fill: #9a6700 }
@media (prefers-color-scheme: dark) { .r { fill: #ff7b72 } .y { fill: #d29922 } }"""


def printed(place, arguments):
    done = subprocess.run(["profan", *arguments], cwd=place,
                          stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "COLUMNS": "80"})
    return done.stdout.decode()


def drawing(label, lines, style):
    """A drawing of letters: how it begins, and how large it is."""
    width = round(80 * CHARACTER + 2 * MARGIN)
    height = lines * LINE + 2 * MARGIN
    return [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" '
            f'height="{height}" role="img" aria-label="{label}">',
            f"<style>{style}</style>",
            f'<rect width="{width}" height="{height}" rx="6"/>']


def letters(i, line):
    """Line i, with its codes for a terminal."""
    parts = re.split(r"\x1b\[([0-9;]+)m(.*?)\x1b\[0m", line)
    shown = "".join(
        html.escape(part) if at % 3 == 0 else
        f'<tspan class="{COLORS[parts[at - 1]]}">{html.escape(part)}</tspan>'
        for at, part in enumerate(parts) if at % 3 != 1)
    length = sum(len(part) for at, part in enumerate(parts) if at % 3 != 1)
    return (f'<text x="{MARGIN}" y="{MARGIN + 14 + i * LINE}" '
            f'textLength="{length * CHARACTER:.1f}">{shown}</text>')


def table(place):
    """A table as people see it."""
    lines = ["$ profan " + " ".join(a for a in TABLE if a != "-q")]
    lines += printed(place, TABLE).split("\n")[:TABLE_LINES]
    drawn = drawing("profan ranks", len(lines), STYLE)
    drawn += [letters(i, line) for i, line in enumerate(lines) if line]
    return "\n".join([*drawn, "</svg>", ""])


def terminal(place):
    """Scenes, one after the other: a command is typed, and what it prints comes.
    The first is what stands where nothing may move."""
    all_s = SCENE_S * len(SCENES)
    typed, end = (round(100 * s / all_s, 2) for s in (TYPING_S, SCENE_S))
    style = MOVING + f"""
g {{ animation: scene {all_s}s infinite }}
g + g {{ opacity: 0 }}
g rect {{ animation: typing {all_s}s infinite backwards }}
g g {{ opacity: 1; animation: lines {all_s}s infinite backwards }}
@keyframes scene {{ 0%, {end}% {{ opacity: 1 }} {end + .01}%, to {{ opacity: 0 }} }}
@keyframes lines {{ 0%, {typed + 2}% {{ opacity: 0 }} {typed + 4}%, to {{ opacity: 1 }} }}
@keyframes typing {{ {typed}%, to {{ transform: translateX({80 * CHARACTER}px) }} }}
@media (prefers-reduced-motion: reduce) {{ * {{ animation: none !important }} g rect {{ display: none }} }}"""
    drawn = drawing("profan in a terminal",
                    1 + max(count for _, count in SCENES), style)
    for n, (command, count) in enumerate(SCENES):
        line = "$ profan " + " ".join(command)
        out = printed(place, [*command, "-q", "--color", "always"] if n else
                      ["summary", "-q", *command, "--color", "always"])
        late = f' style="animation-delay: {n * SCENE_S}s"' if n else ""
        drawn += [f"<g{late}>", letters(0, line),
                  f'<rect x="{MARGIN + 2 * CHARACTER}" y="{MARGIN}" '
                  f'width="{78 * CHARACTER:.1f}" height="{LINE}"{late}/>',
                  f"<g{late}>"]
        drawn += [letters(i + 1, text)
                  for i, text in enumerate(out.split("\n")[:count]) if text]
        drawn += ["</g>", "</g>"]
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
    digest = shown(text)
    drawings = {"ranks.svg": table(place), "terminal.svg": terminal(place)}
    want = "".join(f"report-{name}.png {digest}\n" for name in SCHEMES)
    list_path = os.path.join(pictures, "made-of.txt")
    if what == "make":
        for name, scheme in SCHEMES.items():
            take(chromium, made, scheme,
                 os.path.abspath(os.path.join(pictures, f"report-{name}.png")))
        for name, drawn in drawings.items():
            with open(os.path.join(pictures, name), "w",
                      encoding="utf-8") as file:
                file.write(drawn)
        with open(list_path, "w", encoding="utf-8") as file:
            file.write(want)
        return
    drawings["made-of.txt"] = want
    for name, expected in drawings.items():
        path = os.path.join(pictures, name)
        with open(path, encoding="utf-8") as file:
            if file.read() != expected:
                sys.exit(f"{os.path.basename(path)} is of another day: "
                         "UPDATE=1 make check TESTS=tests/guide.sh")


if __name__ == "__main__":
    main(*sys.argv[1:])

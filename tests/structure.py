# SPDX-License-Identifier: MIT
"""structure.py SRC [KIND...]: what only the folder that has it uses.

Prints "KIND COUNT" lines: external functions whose callers are all in their
own folder, headers that only their own folder includes, and files that
comments name and nobody has.  With kinds it lists them.
"""
import os
import re
import sys

MADE = ("assets.c", "words.c")  # by the build, where it is in the tree
src, wanted = sys.argv[1], sys.argv[2:]
NOT_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DEFINITION = re.compile(r"\n((?:[A-Za-z_][\w \t*]*[\s*])?)(\w+)\([^;{}]*\)\s*\n\{")

COMMENT = re.compile(r"/\*.*?\*/", re.S)
FILE = re.compile(r"(?<![\w./>-])((?:[a-z_]+/)*[a-z0-9_]+\.[ch])\b(?!\()")
OTHERS = ("config.h", "sqlite3.h")

code, words, included, named = {}, {}, {}, {}
includers = {}  # of a header, by its name below SRC
for folder, _, names in sorted(os.walk(src)):
    for name in sorted(names):
        path = os.path.join(folder, name)
        if not name.endswith((".c", ".h")) or name in MADE:
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        named[path] = {f for c in COMMENT.findall(text) for f in FILE.findall(c)}
        included[path] = set(re.findall(r'#include "([^"]+)"', text))
        for header in included[path]:
            includers.setdefault(header, []).append(path)
        code[path] = "\n" + NOT_CODE.sub(" ", text)
        words[path] = set(re.findall(r"\w+", code[path]))

users = {}
for path, found in words.items():
    for word in found:
        users.setdefault(word, []).append(path)


def lone_functions():
    for path in code:
        if not path.endswith(".c"):
            continue
        for result, name in DEFINITION.findall(code[path]):
            if "static" in result.split() or name == "main":
                continue
            others = [p for p in users[name] if p != path]
            used = [p for p in others if p.endswith(".c")]
            for header in others:
                # where it is not declared: a macro or code, of who includes it
                if header.endswith(".h") and re.search(
                        r"^[\t#].*(?<!struct )\b%s\b" % name, code[header], re.M):
                    used += includers.get(os.path.relpath(header, src), [])
            if all(os.path.dirname(p) == os.path.dirname(path) for p in used):
                yield "%s %s" % (path, name)


def lone_headers():
    for path in code:
        if path.endswith(".h"):
            name = os.path.relpath(path, src)
            by = {os.path.dirname(p) for p in includers.get(name, [])}
            if by <= {os.path.dirname(path)}:
                yield path


def gone():
    """A comment that says where something is, and is wrong."""
    for path in named:
        for name in sorted(named[path]):
            if os.path.basename(name) not in MADE + OTHERS and not any(
                    ("/" + p).endswith("/" + name) for p in code):
                yield "%s %s" % (path, name)


for kind, lone in (("functions", lone_functions), ("headers", lone_headers),
                   ("gone", gone)):
    if kind in wanted:
        print("\n".join(lone()))
    elif not wanted:
        print(kind, sum(1 for _ in lone()))

# SPDX-License-Identifier: MIT
"""python_blocks.py FILE...: runs the Python that documents show, in a folder
with the files that it names: blocks of Markdown, and >>> of docstrings."""
import doctest
import os
import re
import sys
import textwrap

sys.path.pop(0)  # the scripts beside this one have names of modules

FENCED = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
INDENTED = re.compile(r"(?:^(?:\t.*)?\n)+", re.M)
NEEDED = ("pytorch_lightning", "accelerate", "torch", "pandas")  # and not there: the block is not run
GIVEN = """
def train(*batch): pass
batches = [0] * 9
try: import torch
except ImportError: pass
"""


def blocks(path):
    text = open(path, encoding="utf-8").read()
    if path.endswith(".py"):
        # the first expression is the module's docstring
        examples = doctest.DocTestParser().get_examples(
            text.split('"""')[1])
        return ["".join(e.source for e in examples)] if examples else []
    indented = [textwrap.dedent(b) for b in INDENTED.findall(text)]
    return FENCED.findall(text) + [
        b for b in indented if re.match(r"\s*(import|from) ", b)]


def missing(block):
    for name in NEEDED:
        if re.search(rf"(?<!profan\.)(?:\b|_){name}\b", block):
            try:
                __import__(name)
            except ImportError:
                return name
    return None


found = 0
for path in sys.argv[1:]:
    for i, block in enumerate(blocks(path), 1):
        found += 1
        name = f"{os.path.basename(path)}, block {i}"
        lacks = missing(block)
        if lacks:
            print(f"ok - # SKIP {name} NOT RUN: Python has no {lacks}")
            continue
        try:
            exec(compile(GIVEN + block, name, "exec"), {})
        except Exception as error:
            print(f"not ok - {name}\n# {type(error).__name__}: {error}")
        else:
            print("ok -", name)
assert found > 4, found

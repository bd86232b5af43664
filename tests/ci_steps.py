# SPDX-License-Identifier: MIT
"""usage: ci_steps.py FILE.yml BRANCH

The shell commands that contrib/ci/github.yml or gitlab.yml runs on a branch, as
one script: each "run" whose "if" holds, with its "env", or each line of
"script" with "variables".  Reads what these two files are made of, not all of
YAML; a line that it does not know ends it.
"""
import re
import shlex
import sys


def indent_of(line):
    return len(line) - len(line.lstrip())


def below(lines, i):
    """The lines that belong to line i, and the number of the next one."""
    end = i + 1
    while end < len(lines) and (not lines[end].strip() or
                                indent_of(lines[end]) > indent_of(lines[i])):
        end += 1
    return lines[i + 1:end], end


def pairs(lines):
    return [re.fullmatch(r"\s*([A-Z_]+): (.*)", line).groups()
            for line in lines if line.strip()]


def github(lines, branch):
    start = next(i for i, line in enumerate(lines)
                 if line.strip() == "steps:")
    steps, _ = below(lines, start)
    i = 0
    while i < len(steps):
        if not steps[i].lstrip().startswith("- "):
            sys.exit(f"no step: {steps[i]}")
        body, end = below(steps, i)
        step = [steps[i].replace("- ", "  ", 1), *body]
        i = end
        said = {}
        for n, line in enumerate(step):
            key, _, value = line.strip().partition(":")
            if indent_of(line) == indent_of(step[0]):
                said[key] = value.strip(), below(step, n)[0]
        unknown = set(said) - {"uses", "run", "with", "env", "if"}
        if unknown:
            sys.exit(f"unknown: {unknown}")
        condition = said.get("if", ("", []))[0]
        if condition not in ("", "always()",
                             "github.ref == 'refs/heads/main'"):
            sys.exit(f"unknown: if: {condition}")
        if "run" not in said or ("==" in condition and branch != "main"):
            continue
        env = pairs(said.get("env", ("", []))[1])
        yield env, said["run"][0]


def gitlab(lines, branch):
    env = [("CI_COMMIT_BRANCH", branch), ("CI_DEFAULT_BRANCH", "main")]
    for i, line in enumerate(lines):
        if line.strip() == "variables:":
            env += pairs(below(lines, i)[0])
    for i, line in enumerate(lines):
        if line.strip() == "script:":
            for command in below(lines, i)[0]:
                yield env, command.strip()[2:]


def main(path, branch):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file
                 if not line.startswith("#")]
    read = gitlab if any(line.strip() == "script:" for line in lines) \
        else github
    print("set -e")
    for env, command in read(lines, branch):
        given = "".join(f"export {k}={shlex.quote(v)}; " for k, v in env)
        print(f"( {given}{command} )")


main(*sys.argv[1:])

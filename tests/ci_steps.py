# SPDX-License-Identifier: MIT
"""usage: ci_steps.py FILE.yml BRANCH

The shell commands that contrib/ci/github.yml or gitlab.yml runs on a branch, as
one script: each "run" whose "if" holds, with its "env", or each line of
"script" and "after_script" with "variables".  A branch that is not "main" has a
merge request.  After a step that failed only those run that always do.  Reads what
these two files are made of, not all of YAML; a line that it does not know ends it.
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


# of steps: whether they are of the main branch, and run after a failure
CONDITIONS = {"": ("", False), "always()": ("", True),
              "github.ref == 'refs/heads/main'": (True, False),
              "always() && github.event_name == 'pull_request'": (False, True)}


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
        holds, is_last = CONDITIONS[said.get("if", ("",))[0]]
        if "run" in said and holds in ("", branch == "main"):
            yield pairs(said.get("env", ("", []))[1]), said["run"][0], is_last


def gitlab(lines, branch):
    env = [("CI_DEFAULT_BRANCH", "main")]
    if branch == "main":
        env += [("CI_COMMIT_BRANCH", branch)]
    else:
        env += [("CI_MERGE_REQUEST_IID", "7"), ("CI_API_V4_URL", "http://api")]
    for i, line in enumerate(lines):
        if line.strip() == "variables:":
            env += pairs(below(lines, i)[0])
    for i, line in enumerate(lines):
        if line.strip() in ("script:", "after_script:"):
            for command in below(lines, i)[0]:
                yield env, command.strip()[2:], line.strip() != "script:"


def main(path, branch):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file
                 if not line.startswith("#")]
    read = gitlab if any(line.strip() == "script:" for line in lines) \
        else github
    print("rc=0")
    for env, command, is_last in read(lines, branch):
        given = "".join(f"export {k}={shlex.quote(v)}; " for k, v in env)
        print(f"{'' if is_last else '[ $rc != 0 ] || '}( {given}{command} ) || "
              "rc=$?")
    print("exit $rc")


main(*sys.argv[1:])

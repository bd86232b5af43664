# SPDX-License-Identifier: MIT
"""usage: ci_steps.py FILE.yml main|change|fork|push

What a runner does with contrib/ci/github.yml or gitlab.yml, as one script: on the main
branch, for a merge request from a branch or from a fork, and for a push to a branch
that has a merge request.  $CACHE is what it keeps.  Reads what these two files are
made of, not all of YAML; a line that it does not know ends it.
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
    return [re.fullmatch(r'\s*([A-Za-z_-]+): "?(.*?)"?', line).groups()
            for line in lines if line.strip()]


def part(lines, *names):
    """What is below a key, and the keys below that."""
    for name in names:
        at = next(i for i, line in enumerate(lines)
                  if line.strip().removeprefix("- ") == name + ":")
        lines, _ = below(lines, at)
    return lines


def restore(place, path):
    return f"[ ! -e $CACHE/{place} ] || cp -r $CACHE/{place} {path}"


def save(place, path):
    return (f"[ ! -e {path} ] || {{ rm -rf $CACHE/{place} && "
            f"cp -r {path} $CACHE/{place}; }}")


# of GitHub's conditions and values: for whom they hold
HOLDS = {
    "": {"main", "change", "fork", "push"},
    "always()": {"main", "change", "fork", "push"},
    "always() && github.ref == 'refs/heads/main'": {"main"},
    "always() && github.event.pull_request.head.repo.full_name == "
    "github.repository": {"change"},
}
VALUES = {
    "${{ github.token }}": lambda who: "" if who == "fork" else "token",
    "${{ github.event.number }}": lambda who: "7",
    "${{ github.ref == 'refs/heads/main' }}":
        lambda who: "true" if who == "main" else "false",
}


def github(lines, who):
    events = [line.strip() for line in part(lines, "on")]
    if who == "push" and "branches: [main]" in events:
        return
    env = [("GITHUB_ACTIONS", "true"), ("GITHUB_REPOSITORY", "us/it"),
           ("GITHUB_STEP_SUMMARY", "summary.md")]
    steps = part(lines, "steps")
    i = 0
    while i < len(steps):
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
        condition, uses = (said.get(key, ("",))[0] for key in ("if", "uses"))
        if who not in HOLDS[condition]:
            continue
        is_always = condition.startswith("always()")
        given = [(k, VALUES[v](who) if "${{" in v else v)
                 for k, v in pairs(said.get("env", ("", []))[1])]
        if "run" in said:
            yield env + given, said["run"][0], is_always
        elif uses.startswith("actions/cache/"):
            path = dict(pairs(said["with"][1]))["path"]
            yield [], (save if "save" in uses else restore)("main", path), \
                is_always


def gitlab(lines, who):
    if who == "push":
        return
    env = pairs(below(lines, lines.index("  variables:"))[0])
    if who == "main":
        env += pairs(part(lines, "rules", "variables"))
    else:
        env += [("CI_MERGE_REQUEST_IID", "7"), ("CI_API_V4_URL", "http://api"),
                ("CI_PROJECT_ID", "1")]
    env += [("PROFILE_TOKEN", "token" if who == "change" else "")]
    cache = dict(pairs(part(lines, "cache")))
    policy = dict(env)[cache["policy"].removeprefix("$")]
    path = cache["paths"].strip("[]")
    # GitLab keeps that of protected branches apart if it is not told otherwise
    place = "main" if cache.get("unprotect") == "true" or who != "main" \
        else "protected"
    yield [], restore(place, path), False
    for name in ("script", "after_script"):
        for command in part(lines, name):
            yield env, command.strip()[2:], name != "script"
    if "push" in policy:
        yield [], save(place, path), cache.get("when") == "always"


def main(path, who):
    with open(path, encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file
                 if not line.lstrip().startswith("#")]
    read = gitlab if "gitlab" in path else github
    print("rc=0")
    for env, command, is_always in read(lines, who):
        given = "".join(f"export {k}={shlex.quote(v)}; " for k, v in env)
        print(f"{'' if is_always else '[ $rc != 0 ] || '}( {given}{command} ) || "
              "rc=$?")
    print("exit $rc")


main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""guide.py PAGE FOLDER: runs each "$ COMMAND" of a page in the folder and puts
what it prints behind it; the page as it should be goes to standard output."""
import subprocess
import sys


def main(page, folder):
    lines = iter(open(page, encoding="utf-8").read().split("\n"))
    for line in lines:
        print(line)
        if line != "```console":
            continue
        for line in lines:
            if line == "```":
                break
            if not line.startswith("$ "):
                continue
            done = subprocess.run(line[2:], shell=True, cwd=folder,
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            print(line)
            if done.stdout:
                print(done.stdout.decode().rstrip("\n"))
            if done.returncode not in (0, 1):
                sys.exit(f"exit code {done.returncode}: {line}")
        print("```")


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: MIT
"""usage: wheel.py --source DIR --version X.Y.Z --machine CPU --strip PROGRAM
                --into DIR

Run in a build folder after "make wheel" built wheel/: puts the program, agent,
extension, man pages, completions and the Python module into a wheel.  The same
tree gives the same bytes: names in order, times of SOURCE_DATE_EPOCH.
"""
import argparse
import base64
import glob
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

# libc's newest symbols that are asked for; checked below.
GLIBC = (2, 34)
MAX_BYTES = 4 << 20
# What is linked into the program, and where Debian says under which licence.
LINKED = ("libsqlite3-dev", "zlib1g-dev", "libzstd-dev", "libcsv-dev",
          "libxxhash-dev", "libiberty-dev")

METADATA = """Metadata-Version: 2.1
Name: profan
Version: {version}
Summary: Where the time of GPU and machine learning programs goes, from their traces
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: POSIX :: Linux
Classifier: Topic :: System :: Benchmark
Classifier: Typing :: Typed
Provides-Extra: mcp
Requires-Dist: mcp>=1.2; extra == "mcp"
Provides-Extra: torch
Requires-Dist: torch; extra == "torch"
Description-Content-Type: text/markdown

"""
WHEEL = """Wheel-Version: 1.0
Generator: profan
Root-Is-Purelib: false
Tag: {tag}
"""


def libc_needs(path):
    """The newest version of libc that a file asks for, and its libraries."""
    text = subprocess.check_output(["readelf", "-dV", path], text=True,
                                   env={**os.environ, "LC_ALL": "C"})
    versions = {tuple(map(int, word[6:].split(".")))
                for word in text.split() if word.startswith("GLIBC_2.")}
    libraries = [line.split("[")[1].rstrip("]")
                 for line in text.splitlines() if "(NEEDED)" in line]
    return max(versions, default=(0,)), libraries


def check(path):
    newest, libraries = libc_needs(path)
    allowed = ("libc.so.6", "libm.so.6", "ld-linux")
    other = [name for name in libraries if not name.startswith(allowed)]
    if newest > GLIBC or other:
        sys.exit(f"{path}: needs GLIBC {newest} and {libraries}")


def stripped(path, strip):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        shutil.copyfile(path, copy)
        subprocess.check_call([strip, "--strip-unneeded", copy])
        check(copy)
        with open(copy, "rb") as file:
            return file.read()


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files(source, version, machine, strip):
    """(name in the wheel, bytes, is it a program)"""
    data = f"profan-{version}.data"
    info = f"profan-{version}.dist-info"
    for path in glob.glob("python/lib/profan/*"):
        if os.path.isfile(path):
            yield "profan/" + os.path.basename(path), read(path), False
    yield data + "/scripts/profan", stripped("wheel/profan", strip), True
    lib = data + "/data/lib/profan/"
    yield (lib + "libprofan_agent.so",
           stripped(".libs/libprofan_agent.so", strip), True)
    yield (lib + "profan_sqlite.so",
           stripped("wheel/profan_sqlite.so", strip), True)
    share = data + "/data/share/"
    for path in [source + "/schema/README.md",
                 *glob.glob(source + "/schema/query/*.sql")]:
        yield (share + "profan" + path[len(source):], read(path), False)
    if os.path.exists("profan.html"):  # make wasm
        yield share + "profan/profan.html", read("profan.html"), False
    for path in glob.glob("src/profan*.1"):
        yield share + "man/man1/" + os.path.basename(path), read(path), False
    for path, where in (("profan", "bash-completion/completions"),
                        ("_profan", "zsh/site-functions"),
                        ("profan.fish", "fish/vendor_completions.d")):
        yield f"{share}{where}/{path}", read("completion/" + path), False
    yield info + "/licenses/LICENSE", read(source + "/LICENSE"), False
    for package in LINKED:
        path = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(path):
            yield f"{info}/licenses/{package}.txt", read(path), False
    tag = f"py3-none-manylinux_{GLIBC[0]}_{GLIBC[1]}_{machine}"
    yield info + "/WHEEL", WHEEL.format(tag=tag).encode(), False
    yield (info + "/METADATA", METADATA.format(version=version).encode() +
           read(source + "/python/README.md"), False)


def when():
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    return max(time.gmtime(seconds)[:6], (1980, 1, 1, 0, 0, 0))


def digest(data):
    return base64.urlsafe_b64encode(
        hashlib.sha256(data).digest()).rstrip(b"=").decode()


def add(archive, name, data, is_program):
    entry = zipfile.ZipInfo(name, when())
    entry.create_system = 3
    entry.external_attr = (0o100755 if is_program else 0o100644) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data, compresslevel=9)


def main():
    parser = argparse.ArgumentParser()
    for name in ("source", "version", "machine", "strip", "into"):
        parser.add_argument("--" + name, required=True)
    args = parser.parse_args()
    os.makedirs(args.into, exist_ok=True)
    record = f"profan-{args.version}.dist-info/RECORD"
    name = (f"{args.into}/profan-{args.version}-py3-none-manylinux_"
            f"{GLIBC[0]}_{GLIBC[1]}_{args.machine}.whl")
    lines = []
    with zipfile.ZipFile(name + ".tmp", "w") as archive:
        for path, data, is_program in sorted(
                files(args.source, args.version, args.machine,
                      args.strip)):
            add(archive, path, data, is_program)
            lines.append(f"{path},sha256={digest(data)},{len(data)}\n")
        lines.append(record + ",,\n")
        add(archive, record, "".join(lines).encode(), False)
    size = os.path.getsize(name + ".tmp")
    if size > MAX_BYTES:
        sys.exit(f"{name}: {size} bytes are more than {MAX_BYTES}")
    os.rename(name + ".tmp", name)
    print(f"{name}: {size} bytes")


if __name__ == "__main__":
    main()

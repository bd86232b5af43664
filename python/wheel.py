# SPDX-License-Identifier: MIT
"""usage: wheel.py --source DIR --version X.Y.Z --machine CPU --strip PROGRAM
                --maintainer 'NAME <ADDRESS>' --url URL --into DIR [--untested]
       wheel.py --tested WHEEL

Run in a build folder after "make wheel" built wheel/: puts the program, agent,
extension, man pages, completions and the Python module into a wheel.  The same
tree gives the same bytes: names in order, times of SOURCE_DATE_EPOCH.

A wheel that no machine ran is --untested: its name and its description say so,
until --tested takes that away.
"""
import argparse
import base64
import glob
import hashlib
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile

MAX_BYTES = 4 << 20
# What is linked into the program, and where Debian says under which licence.
LINKED = ("libsqlite3-dev", "zlib1g-dev", "libzstd-dev", "libcsv-dev",
          "libxxhash-dev", "libiberty-dev")

METADATA = """Metadata-Version: 2.1
Name: profan
Version: {version}
Summary: Where the time of GPU and machine learning programs goes, from their traces
Author-email: {maintainer}
Project-URL: Homepage, {url}
Keywords: profiler,GPU,PyTorch,Kineto,trace,performance
License: MIT
Requires-Python: >=3.9
Classifier: License :: OSI Approved :: MIT License
Classifier: Operating System :: {system}
Classifier: Programming Language :: Python :: 3
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
# of a name that pip takes, and what stands in WHEEL and first in the description
BUILD = "0untested"
UNTESTED_WHEEL = f"Build: {BUILD}\n"
UNTESTED = """**Not tested:** this build for macOS was made on Linux, and no Mac has run it.

"""
# What programs may need: what every such system has.
LIBRARIES = ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0",
             "ld-linux", "/usr/lib/libSystem.")


def elf_needs(path):
    """The newest version of libc that a program asks for, and its libraries."""
    text = subprocess.check_output(["readelf", "-dV", path], text=True,
                                   env={**os.environ, "LC_ALL": "C"})
    versions = {tuple(map(int, word[6:].split(".")[:2]))
                for word in text.split() if word.startswith("GLIBC_2.")}
    return max(versions), [line.split("[")[1].rstrip("]") for line
                           in text.splitlines() if "(NEEDED)" in line]


def macho_needs(data):
    """The oldest macOS that a program runs on, and its libraries."""
    version, libraries = None, []
    commands, = struct.unpack_from("<I", data, 16)
    at = 32
    for _ in range(commands):
        command, size, first, second = struct.unpack_from("<4I", data, at)
        if command == 0x32:  # LC_BUILD_VERSION
            version = second >> 16, second >> 8 & 255
        elif command == 0xC:  # LC_LOAD_DYLIB
            name = data[at + first:at + size]
            libraries.append(name.rstrip(b"\0").decode())
        at += size
    return version, libraries


def stripped(path, strip):
    """The bytes of a program, and what system it needs: (name, version)."""
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        shutil.copyfile(path, copy)
        subprocess.check_call([strip, "--strip-unneeded", copy])
        data = read(copy)
        if data.startswith(b"\x7fELF"):
            system, (version, libraries) = "manylinux", elf_needs(copy)
        else:
            system, (version, libraries) = "macosx", macho_needs(data)
    other = [name for name in libraries if not name.startswith(LIBRARIES)]
    if other:
        sys.exit(f"{path}: needs {other}")
    return data, (system, version)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def files(args):
    """(name in the wheel, bytes, is it a program), and the wheel's tag"""
    source, version, machine = args.source, args.version, args.machine
    data = f"profan-{version}.data"
    info = f"profan-{version}.dist-info"
    lib = data + "/data/lib/profan/"
    share = data + "/data/share/"
    found, systems = [], []
    for name, path in ((data + "/scripts/profan", "wheel/profan"),
                       (lib + "libprofan_agent.so", ".libs/libprofan_agent.so"),
                       (lib + "profan_sqlite.so", "wheel/profan_sqlite.so")):
        if os.path.exists(path):
            code, system = stripped(path, args.strip)
            found.append((name, code, True))
            systems.append(system)
    for path in glob.glob("python/lib/profan/*"):
        if os.path.isfile(path):
            found.append(("profan/" + os.path.basename(path), read(path), False))
    for path in [source + "/schema/README.md",
                 *glob.glob(source + "/schema/query/*.sql")]:
        found.append((share + "profan" + path[len(source):], read(path), False))
    if os.path.exists("profan.html"):  # make wasm
        found.append((share + "profan/profan.html", read("profan.html"), False))
    for path in glob.glob("src/profan*.1"):
        found.append((share + "man/man1/" + os.path.basename(path), read(path),
                      False))
    for path, where in (("profan", "bash-completion/completions"),
                        ("_profan", "zsh/site-functions"),
                        ("profan.fish", "fish/vendor_completions.d")):
        found.append((f"{share}{where}/{path}", read("completion/" + path), False))
    found.append((info + "/licenses/LICENSE", read(source + "/LICENSE"), False))
    for package in LINKED:
        path = f"/usr/share/doc/{package}/copyright"
        if os.path.exists(path):
            found.append((f"{info}/licenses/{package}.txt", read(path), False))
    system, (major, minor) = max(systems)
    mac = system == "macosx"
    if mac and machine == "aarch64":
        machine = "arm64"
    tag = f"py3-none-{system}_{major}_{minor}_{machine}"
    found.append((info + "/WHEEL", (WHEEL.format(tag=tag) +
                  (UNTESTED_WHEEL if args.untested else "")).encode(), False))
    found.append((info + "/METADATA", (METADATA.format(
        version=version, maintainer=args.maintainer, url=args.url,
        system="MacOS" if mac else "POSIX :: Linux") +
        (UNTESTED if args.untested else "")).encode() +
        read(source + "/python/README.md"), False))
    return found, tag


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


def pack(path, version, found):
    """Writes a wheel of (name, bytes, is it a program)."""
    record = f"profan-{version}.dist-info/RECORD"
    lines = []
    with zipfile.ZipFile(path + ".tmp", "w") as archive:
        for name, data, is_program in sorted(found):
            add(archive, name, data, is_program)
            lines.append(f"{name},sha256={digest(data)},{len(data)}\n")
        lines.append(record + ",,\n")
        add(archive, record, "".join(lines).encode(), False)
    size = os.path.getsize(path + ".tmp")
    if size > MAX_BYTES:
        sys.exit(f"{path}: {size} bytes are more than {MAX_BYTES}")
    os.rename(path + ".tmp", path)
    print(f"{path}: {size} bytes")


def tested(path):
    """Takes from a wheel what says that it was not tested."""
    version = os.path.basename(path).split("-")[1]
    name = path.replace(f"-{BUILD}-", "-")
    if name == path:
        sys.exit(f"{path}: is not marked")
    with zipfile.ZipFile(path) as archive:
        found = [(entry.filename,
                  archive.read(entry).replace(UNTESTED_WHEEL.encode(), b"")
                  .replace(UNTESTED.encode(), b"")
                  if entry.filename.endswith(("/WHEEL", "/METADATA"))
                  else archive.read(entry),
                  entry.external_attr >> 16 & 0o111 != 0)
                 for entry in archive.infolist()
                 if not entry.filename.endswith("/RECORD")]
    pack(name, version, found)
    os.remove(path)


def main():
    if sys.argv[1:2] == ["--tested"]:
        return tested(sys.argv[2])
    parser = argparse.ArgumentParser()
    for name in ("source", "version", "machine", "strip", "maintainer", "url",
                 "into"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--untested", action="store_true")
    args = parser.parse_args()
    os.makedirs(args.into, exist_ok=True)
    found, tag = files(args)
    build = f"{BUILD}-" if args.untested else ""
    pack(f"{args.into}/profan-{args.version}-{build}{tag}.whl", args.version,
         found)


if __name__ == "__main__":
    main()

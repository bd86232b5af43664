# SPDX-License-Identifier: MIT
"""usage: sbom.py SOURCE VERSION FOLDER >FOLDER/profan-VERSION.spdx.json

What a release consists of, as SPDX 2.3: each file of FOLDER with its digest,
what Debian's package database says of the libraries that are in the wheels,
and the packages that the debs depend on.  The same files give the same bytes.
"""
import hashlib
import json
import os
import re
import subprocess
import sys
import time

SOURCE, VERSION, FOLDER = sys.argv[1:]
with open(os.path.join(SOURCE, "LICENSE"), encoding="utf-8") as text:
    COPYRIGHT, = [line.strip() for line in text
                  if line.startswith("Copyright")]
sys.path.insert(0, os.path.join(SOURCE, "python"))
sys.dont_write_bytecode = True
import wheel

UNKNOWN = "NOASSERTION"
FIELDS = ("Version", "Architecture", "source:Package", "source:Version",
          "Maintainer", "Homepage")


def id_of(name):
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def packaged(name):
    """A package of the database, or None: it is not installed here."""
    done = subprocess.run(
        ["dpkg-query", "-W", "-f",
         "".join(f"${{{field}}}\n" for field in FIELDS), name],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        check=False)
    if done.returncode:
        return None
    # of two architectures the first is that of the machine
    says = dict(zip(FIELDS, done.stdout.split("\n")))
    return {
        "SPDXID": id_of("debian-" + name),
        "name": name,
        "versionInfo": says["Version"],
        "supplier": "Organization: " + says["Maintainer"].replace("<", "(")
        .replace(">", ")"),
        "downloadLocation": UNKNOWN,
        "homepage": says["Homepage"] or UNKNOWN,
        "filesAnalyzed": False,
        "licenseConcluded": UNKNOWN,
        "licenseDeclared": UNKNOWN,
        "copyrightText": UNKNOWN,
        "sourceInfo": f"built from Debian's {says['source:Package']} "
                      f"{says['source:Version']}; its licences: "
                      f"/usr/share/doc/{name}/copyright",
        "externalRefs": [{
            "referenceCategory": "PACKAGE-MANAGER",
            "referenceType": "purl",
            "referenceLocator":
                f"pkg:deb/debian/{name}@{says['Version']}"
                f"?arch={says['Architecture']}"}],
    }


def ours(file):
    path = os.path.join(FOLDER, file)
    return {
        "SPDXID": id_of(file),
        "name": "profan",
        "versionInfo": VERSION,
        "packageFileName": file,
        "downloadLocation": UNKNOWN,
        "filesAnalyzed": False,
        "checksums": [{"algorithm": "SHA256", "checksumValue": sha256(path)}],
        "licenseConcluded": "MIT",
        "licenseDeclared": "MIT",
        "copyrightText": COPYRIGHT,
    }


def depends_of(deb):
    """Names of the packages that a deb depends on, the first alternatives."""
    text = subprocess.check_output(["dpkg-deb", "-f", deb, "Depends"],
                                   text=True)
    names = [re.split(r"[\s:(|]", part.strip())[0]
             for part in text.split(",")]
    return sorted({n for n in names if n and not n.startswith("profan")})


def main():
    files = sorted(f for f in os.listdir(FOLDER)
                   if f.endswith((".tar.xz", ".whl", ".deb")))
    source, = [f for f in files if f.endswith(".tar.xz")]
    packages = {f: ours(f) for f in files}
    links = [("SPDXRef-DOCUMENT", "DESCRIBES", id_of(f)) for f in files]

    def link(file, how, name):
        if name not in packages:
            packages[name] = packaged(name)
        if packages[name]:
            links.append((id_of(file), how, packages[name]["SPDXID"]))

    for file in files:
        if file != source:
            links.append((id_of(file), "GENERATED_FROM", id_of(source)))
        if file.endswith(".whl"):
            for name in wheel.LINKED:
                link(file, "STATIC_LINK", name)
        if file.endswith(".deb"):
            for name in depends_of(os.path.join(FOLDER, file)):
                link(file, "DEPENDS_ON", name)
    found = [p for p in packages.values() if p]
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode())
    when = int(os.environ["SOURCE_DATE_EPOCH"])
    json.dump({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"profan-{VERSION}",
        "documentNamespace":
            f"https://spdx.org/spdxdocs/profan-{VERSION}-{digest.hexdigest()}",
        "creationInfo": {
            "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when)),
            "creators": ["Tool: profan-packaging-sbom"]},
        "packages": found,
        "relationships": [
            {"spdxElementId": a, "relationshipType": how,
             "relatedSpdxElement": b} for a, how, b in links],
    }, sys.stdout, indent="\t")
    print()


main()

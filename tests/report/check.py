# SPDX-License-Identifier: MIT
"""Holds a page of 'profan report' against what it promises.

usage: check.py PROFAN DB PAGE [B]
With B the page is that of 'profan diff DB B'.
One line for each promise: "ok NAME" or "not ok NAME: why".
"""
import base64
import gzip
import hashlib
import html.parser
import json
import math
import os
import re
import struct
import subprocess
import sys

PROFAN, DB, PAGE = sys.argv[1:4]
OTHER = sys.argv[4] if len(sys.argv) > 4 else None
NAMES = os.environ.get("NAMES")  # "short": of pages made with --names short
VOID = {"meta", "br", "img", "input", "link", "hr", "rect"}
TAGS = set("""html head meta title style body a header h1 h2 dl div dt dd nav ul
li main section ol p strong span code svg rect path figure figcaption table
caption thead tbody tfoot tr th td details summary noscript script footer b
small pre i circle abbr""".split())
ATTRS = set("""lang charset http-equiv content name class href id aria-label
aria-labelledby scope data-k data-v data-q data-t0 data-t1 title viewbox role
aria-hidden preserveaspectratio x y width height rx fill fill-opacity stroke
stroke-dasharray vector-effect d colspan start type rel cx cy r
stroke-opacity""".split())


def say(name, why):
    print("not ok %s: %s" % (name, why) if why else "ok %s" % name)


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.odd, self.ids, self.hrefs = [], [], []
        self.tables, self.text, self.tiles = {}, [], {}
        self.scripts, self.styles, self.policy = [], [], None
        self.table = self.row = self.cell = self.inside = None
        self.links = []
        self.circles, self.titled = [], None

    def handle_starttag(self, tag, attrs):
        d = dict(attrs)
        if tag not in TAGS:
            self.odd.append("<%s>" % tag)
        self.odd += ["%s=" % a for a in d if a not in ATTRS]
        if "id" in d:
            self.ids.append(d["id"])
        if "href" in d:
            self.hrefs.append(d["href"])
        if "src" in d or "style" in d:
            self.odd.append(tag + str(d))
        if "data-t0" in d:
            self.links.append((int(d["data-t0"]), int(d["data-t1"])))
        if d.get("http-equiv"):
            self.policy = d["content"]
        if tag == "dd" and "data-k" in d:
            self.tiles[d["data-k"]] = d["data-v"]
        if tag in ("script", "style"):
            self.inside = [tag, d, ""]
        if tag == "circle":
            self.circles.append([float(d["cx"]), float(d["cy"]),
                                 float(d["r"]), ""])
        if tag == "title" and self.circles:
            self.titled = self.circles[-1]
        if tag == "table":
            self.table = {"keys": [], "rows": [], "foot": False}
            self.tables[d.get("id")] = self.table
        if self.table is not None:
            if tag == "tfoot":
                self.table["foot"] = True
            if tag == "tr":
                self.row = []
                if not self.table["foot"]:
                    self.table["rows"].append(self.row)
            if tag in ("td", "th") and self.row is not None:
                self.cell = [d.get("data-v"), "", d.get("title")]
                self.row.append(self.cell)
                if "data-k" in d:
                    self.table["keys"].append(d["data-k"])

    def handle_endtag(self, tag):
        if tag == "title":
            self.titled = None
        if tag == "table":
            self.table = self.row = self.cell = None
        if self.inside and tag == self.inside[0]:
            (self.scripts if tag == "script" else self.styles).append(
                (self.inside[1], self.inside[2]))
            self.inside = None

    def handle_data(self, data):
        if self.inside:
            self.inside[2] += data
            return
        if self.titled:
            self.titled[3] += data
            return
        self.text.append(data)
        if self.cell is not None:
            self.cell[1] += data


def full_texts(page):
    """Texts of cells as a reader gets them: tooltips hold further down, too."""
    titles = {}
    for table in page.tables.values():
        for row in table["rows"][1:]:
            for cell in row:
                if cell[0] is not None:
                    continue
                text = cell[1].rstrip("\n")
                titles[text] = cell[2] or titles.get(text, text)
                cell[2] = titles[text]


def same_text(cell, value):
    if not isinstance(value, str) or not value.isascii() or \
            not value.isprintable() or "\n" in value:
        return True
    whole = cell[2].strip()  # modules are indented
    if whole.endswith("…"):
        return value.startswith(whole[:-1]) and len(whole) >= 80
    # a path may have lost its beginning
    return whole == value.strip() or "/" in value and value.endswith("/" + whole)


def without_templates(value):
    """What a page of --names short makes of texts: innermost ones first."""
    if isinstance(value, str):
        while True:
            less = re.sub(r"(?<=[\w)])<[^<>]*>", "", value)
            if less == value:
                return value
            value = less
    if isinstance(value, list):
        return [without_templates(v) for v in value]
    if isinstance(value, dict):
        return {k: without_templates(v) for k, v in value.items()}
    return value


def printed(command):
    return subprocess.run([PROFAN] + command, capture_output=True,
                          check=True).stdout


def document(args):
    doc = json.loads(printed(args + ["--format", "json"]))
    return without_templates(doc) if NAMES == "short" else doc


# table of the page: part of the page's commands, table, rows it is made of
TABLES = {
    "classes": ("steps", "classes", None),
    "steps": ("steps", "steps", None),
    "causes": ("gaps", "causes", None),
    "culprits": ("gaps", "culprits", None),
    "gaps": ("gaps", "gaps", None),
    "loading": ("gaps", "culprits", lambda r: r["cause"] == "data loading"),
    "path-parts": ("path", "categories", None),
    "path-rows": ("path", "rows", None),
    "path-answers": ("path", "what_if", None),
    "sites": ("syncs", "sites", None),
    "counter-states": ("counters", "states", None),
    "counter-series": ("counters", "counters", None),
    "calls": ("launches", "calls", None),
    "streams": ("launches", "streams", None),
    "by-name": ("kernels", "kernels", None),
    "by-op": ("kernels --group name,op", "kernels", None),
    "averages": ("table", "key_averages",
                 lambda r: r["device_type"] == "CPU"),
    "operations": ("kernels", "operations", None),
    "roof-operations": ("roofline", "operations", None),
    "roof-calls": ("roofline", "calls", None),
    "roof-families": ("roofline", "families", None),
    "roof-steps": ("roofline", "steps", None),
    "roof-rest": ("roofline", "not_modelled", None),
    "collectives": ("overlap", "collectives", None),
    "arrivals": ("overlap", "arrivals", None),
    "overlap": ("overlap", "devices", None),
    "memory-devices": ("memory", "devices", None),
    "alive": ("memory", "alive", None),
    "memory-ops": ("memory", "ops", None),
    "kept": ("memory", "kept", None),
    "module-tree": ("modules", "modules", None),
    "module-classes": ("modules", "classes", None),
    "training-times": ("steps", "training_times", None),
    "training-batches": ("steps", "training_batches", None),
    "training-memory": ("memory", "training_memory", None),
    "training-summary": ("info", "training_summary", None),
    "quality-checks": ("doctor", "checks", lambda r: r["verdict"] != "ok"),
}


def commands(page):
    """The commands that the page says its figures are from."""
    text = "".join(page.text)
    found = {}
    for line in re.findall(r"^profan (\w+) (\S+)(.*)$", text, re.M):
        found[(line[0] + (" --group name,op"
                          if "name,op" in line[2] else ""))] = line
    return found


def same(shown, value):
    if value is None or isinstance(value, (bool, str)):
        return True
    return shown is not None and float(shown) == float(value)


def check_tables(page):
    found = commands(page)
    docs, cells = {}, 0
    for name, table in page.tables.items():
        if name == "checks":
            continue
        part, key, wanted = TABLES[name]
        if part not in docs:
            line = found[part]
            docs[part] = document([line[0], DB] + line[2].split())
        rows = [r for r in docs[part]["tables"][key]
                if not wanted or wanted(r)]
        if name == "classes":
            rows = [r for r in rows if r["max_ns"]]
        shown = [r for r in table["rows"] if r][1:]
        if len(shown) > len(rows):
            return "%s has %d rows, not %d" % (name, len(shown), len(rows))
        if len(shown) < len(rows) and not table["foot"]:
            return "%s says not what it leaves out" % name
        for mine, theirs in zip(shown, rows):
            theirs = {"module": theirs.get("name"), **theirs}
            for k, cell in zip(table["keys"], mine):
                cells += cell[0] is not None
                if not same(cell[0], theirs[k]):
                    return "%s: %s is %s, not %s" % (name, k, cell[0],
                                                     theirs[k])
                if k != "class" and cell[0] is None and \
                        not same_text(cell, theirs[k]):
                    return "%s: %s is '%s', not '%s'" % (name, k, cell[2],
                                                         theirs[k])
    return None if cells > 5 or is_empty() else \
        "only %d numbers" % cells


def check_roofs(page):
    """A circle for every call that computes, where the figures put it."""
    if "roof-calls" not in page.tables:
        return "there are circles" if page.circles else None
    line = commands(page)["roofline"]
    rows = document([line[0], DB] + line[2].split())["tables"]["calls"]
    rows = [r for r in rows if r["flop_per_byte"] and r["tflop_per_s"]]
    rows.sort(key=lambda r: -r["kernel_ns"])
    want = sorted((float("%.4g" % r["tflop_per_s"]),
                   float("%.4g" % r["flop_per_byte"])) for r in rows[:80])
    found = [tuple(map(float, re.search(
        r"([-.\de+]+) TFLOP/s, ([-.\de+]+) FLOP/byte", c[3]).groups()))
        for c in page.circles]
    if sorted(found) != want and (
            len(found) >= len(want) or set(found) - set(want)):
        return "%d circles, not %d" % (len(found), len(want))
    for axis, at in (0, 1), (1, 0):
        places = sorted((math.log10(f[at]), c[axis])
                        for f, c in zip(found, page.circles))
        if len(places) < 2 or places[-1][0] - places[0][0] < 0.01:
            continue
        slope = (places[-1][1] - places[0][1]) / (places[-1][0] - places[0][0])
        for value, place in places:
            if abs(places[0][1] + slope * (value - places[0][0]) - place) > 1:
                return "a circle is at %s, not %s" % (place, value)
    return None


def is_single(r):
    return r["match"] in ("added", "removed")


def is_same(r):
    return not is_single(r) and abs(r["step_share"]) < 0.001 and \
        r["a_count"] == r["b_count"]


DIFF_ROWS = {
    "counts": lambda r: r["delta"] != 0,
    "counts-same": lambda r: r["delta"] == 0,
    "rows-more": lambda r: not is_single(r) and not is_same(r) and
    r["delta_ns"] > 0,
    "rows-less": lambda r: not is_single(r) and not is_same(r) and
    r["delta_ns"] <= 0,
    "rows-only": is_single,
    "rows-same": is_same,
}

DIFF = {"waterfall": "waterfall", "counts": "structure",
        "counts-same": "structure", "changes": "changes", "rows-more": "rows",
        "rows-less": "rows", "rows-only": "rows", "rows-same": "rows",
        "causes": "idle", "sites": "idle_sites",
        "sync-sites": "sync_sites", "op-rows": "ops", "bytes": "memory",
        "captures": "captures", "comparability": "comparability"}


def check_diff(page):
    doc = document(["diff", DB, OTHER])
    text = printed(["diff", DB, OTHER, "--width", "200"]).decode()
    cells = 0
    for name, table in page.tables.items():
        rows = list(filter(DIFF_ROWS.get(name), doc["tables"][DIFF[name]]))
        shown = [r for r in table["rows"] if r][1:]
        if len(shown) < len(rows) and not table["foot"]:
            return "%s says not what it leaves out" % name
        for mine, theirs in zip(shown, rows):
            for k, cell in zip(table["keys"], mine):
                cells += cell[0] is not None
                if k not in theirs:  # as a terminal has it, if there is any
                    if (theirs["a"] or theirs["b"]) and not re.search(
                            "^%s  " % re.escape(cell[2]), text, re.M):
                        return "%s: '%s' is not in the text" % (name, cell[2])
                    continue
                if not same(cell[0], theirs[k]):
                    return "%s: %s is %s, not %s" % (name, k, cell[0],
                                                     theirs[k])
                if cell[0] is None and not same_text(cell, theirs[k]):
                    return "%s: %s is '%s', not '%s'" % (name, k, cell[2],
                                                         theirs[k])
    for name, wanted in DIFF_ROWS.items():
        if name not in page.tables and \
                any(map(wanted, doc["tables"][DIFF[name]])):
            return "%s is not there" % name
    return None if cells > 20 else "only %d numbers" % cells


def check_reasons(page, raw):
    """The parts of the change add up to it."""
    doc = document(["diff", DB, OTHER])["scalars"]
    part = raw.decode().partition("<ul id=reasons>")[2].partition("</ul>")[0]
    found = [int(v) for v in re.findall(r"data-v=(-?\d+)", part)]
    if doc["verdict"] == "withheld" or not doc["delta_ns"]:
        return "there are some" if found else None
    if not 1 <= len(found) <= 5:
        return "%d parts" % len(found)
    return None if sum(found) == doc["delta_ns"] else str(found)


def is_empty():
    """Of nothing there are no figures."""
    return not any(t["stored_count"]
                   for t in document(["info", DB])["tables"]["accounts"])


def check_tiles(page):
    doc = document(["diff", DB, OTHER] if OTHER else ["report", DB])["scalars"]
    for k, v in page.tiles.items():
        if k not in doc or float(v) != float(doc[k]):
            return "%s is %s, not %s" % (k, v, doc.get(k))
    return None if page.tiles or (not OTHER and is_empty()) else "none"


def check_verdicts(page):
    """Sentences and reasons are those of the table of rules, in its order."""
    rows = document(["table", "verdicts", DB])["tables"]["verdicts"]
    fired = [r for r in rows if r["state"] == "fired"]
    found = document(["report", DB])["tables"]["verdicts"]
    for old, row in zip(found, fired):
        row = {**row, "from_ns": row["t0_ns"], "to_ns": row["t1_ns"]}
        for k in old:
            if k in row and k != "command" and old[k] != row[k]:
                return "%s: %s is %s, not %s" % (row["id"], k, old[k], row[k])
    if len(found) != len(fired):
        return "%d fired, not %d" % (len(found), len(fired))
    text, at = " ".join("".join(page.text).split()), 0
    for row in fired:
        sentence = " ".join(row["sentence"].split())
        # the page shows what acts instead of letting it act
        if not sentence.isascii() or not sentence.isprintable():
            sentence = sentence.split()[0]
        at = text.find(sentence, at)
        if at < 0:
            return "%s is not on the page in its place" % row["id"]
    shown = [r for r in page.tables["checks"]["rows"] if r][1:]
    if len(shown) != len(rows) - len(fired):
        return "%d rules did not fire, not %d" % (len(rows) - len(fired),
                                                  len(shown))
    for cells, row in zip(shown, rows[len(fired):]):
        why = " ".join((row["reason"] or "").split())
        want = {"fine": "fine: " + why if why else "fine",
                "said by advice": "said by advice",
                "withheld": "not checked: " + why}[row["state"]]
        if cells[0][1] != "%s (%s)" % (row["title"], row["id"]) or \
                " ".join(cells[3][1].split()) != want:
            return "%s: %s" % (row["id"], [c[1] for c in cells])
    return None


def check_shares(page):
    cells = [r[2][1] for r in page.tables["classes"]["rows"][1:]]
    tenths = sum(round(float(c.split()[0].replace("<0.1", "0")) * 10) for c in cells)
    return None if tenths == 1000 else "%d tenths of a percent" % tenths


def check_policy(page):
    css = hashlib.sha256(page.styles[0][1].encode()).digest()
    run = [s for d, s in page.scripts if d.get("type") is None]
    js = hashlib.sha256(run[0].encode()).digest()
    want = ("default-src 'none'; script-src 'sha256-%s'; style-src "
            "'sha256-%s'; img-src data:; base-uri 'none'; form-action 'none'"
            % (base64.b64encode(js).decode(), base64.b64encode(css).decode()))
    if len(run) != 1 or len(page.styles) != 1:
        return "%d programs, %d style sheets" % (len(run), len(page.styles))
    return None if page.policy == want else page.policy


def check_links(page):
    for h in page.hrefs:
        if not h.startswith("#") or h[1:] not in page.ids:
            return "link to " + h
    if len(page.ids) != len(set(page.ids)):
        return "ids are not unique"
    if re.search(r"url\(|@import|//", page.styles[0][1]):
        return "the style loads something"
    return None


def check_words(raw):
    """Each word with a meaning is in the list of words, with that meaning."""
    listed = re.search(r"<dl id=words>(.*?)</dl>", raw, re.S)
    listed = dict(re.findall(r"<dt><b>(.*?)</b><dd>(.*)", listed[1])) if listed else {}
    said = re.findall(r'<abbr title="(.*?)">(.*?)</abbr>', raw)
    said += re.findall(r'<th scope=col[^>]* title="(.*?)">(.*?)</th>', raw)
    for meaning, word in said:
        word = word.lower().split(",")[0]
        if listed.get(word) != meaning:
            return "'%s' is '%s' in the list, not '%s'" % (
                word, listed.get(word), meaning)
    if len(listed) != len({w.lower().split(",")[0] for _, w in said}):
        return "the list has words that are not on the page"
    return None


# What parts no number from in prose: the list of base/num.c
UNITS = r"%|ns|us|ms|s|B|KiB|MiB|GiB|TiB|PiB|EiB"


def check_units(raw):
    """A line of prose never ends between a number and its unit."""
    for text in re.findall(r"<p(?: class=\w+)?>(.*?)</p>", raw, re.S):
        text = re.sub(r"<(code|pre).*?</\1>|<[^>]*>", "", text, flags=re.S)
        parted = re.search(r"\d (?:%s)(?![^ ,.;:)])" % UNITS, text)
        if parted:
            return "'%s' may be parted in: %s" % (parted[0], text)
    return None


def check_sizes(page, raw):
    data = sum(len(s) for d, s in page.scripts if d.get("type"))
    js = len([s for d, s in page.scripts if d.get("type") is None][0])
    css = len(page.styles[0][1])
    if js > 32768 or css > 8192:
        return "program %d, style %d bytes" % (js, css)
    if len(raw) - data - js - css > 300 << 10:
        return "%d bytes of text" % (len(raw) - data - js - css)
    return None


def planes(b, n, width):
    return [sum(b[k * n + i] << 8 * k for k in range(width))
            for i in range(n)]


def signed(n, bits=32):
    return n - (1 << bits) if n >> (bits - 1) else n


def walk(sizes, depth, gap, tail):
    """Starts and durations of the slices of all tracks."""
    start, dur, opened, i = [0] * len(gap), [0] * len(gap), [], 0
    for k in range(len(sizes) // 2):
        now, last = 0, i + sizes[2 * k]
        while i < last or opened:
            if opened and (i == last or len(opened) > depth[i]):
                j = opened.pop()
                now += tail[j]
                dur[j] = now - start[j]
                continue
            now += gap[i]
            start[i] = now
            opened.append(i)
            i += 1
    return start, dur


def unpack(raw, tracks):
    magic, n, t, w, flags, eg, et = struct.unpack("<4sIIBBxxII", raw[:24])
    if magic != b"PFT2" or t != len(tracks):
        raise ValueError("wrong head")
    sizes = struct.unpack("<%dI" % (2 * t), raw[24:24 + 8 * t])
    at = 24 + 8 * t
    columns = []
    for width in (w, 1, 4, 4, 1 if flags & 1 else 0, 4 if flags & 2 else 0):
        columns.append(planes(raw[at:], n, width) if width else None)
        at += width * n
    name, depth, gap, tail, cat, link = columns
    order = sorted(range(n), key=lambda i: name[i])
    times = []
    for column, count in ((gap, eg), (tail, et)):
        ns = [0] * n
        for low, i in zip(column, order):
            ns[i] = signed(low)
        for _ in range(count):
            i, high = struct.unpack("<Ii", raw[at:at + 8])
            ns[i] += high << 32
            at += 8
        times.append(ns)
    if at != len(raw):
        raise ValueError("wrong length")
    start, dur = walk(sizes, depth, *times)
    return (start, dur, name, depth, cat, link), sizes, start, dur


def check_launches(db, linked, calls):
    """The links of GPU work lead to its launch calls."""
    base, links, ids = linked
    rows = document(["query", db, "SELECT event_id, launch_id FROM gpu_event "
                     "ORDER BY event_id"])
    launch = {r["event_id"]: r["launch_id"]
              for r in list(rows["tables"].values())[0]}
    for link, event in zip(links, ids):
        call = None if link == 0xffffffff else calls[link - base]
        if call != launch.get(event):
            return "event %d leads to %s, not %s" % (event, call,
                                                     launch.get(event))
    return None


def check_path(page, db, label, columns, start, dur, names):
    """The track of the path is the tiles that the command lists."""
    which, _, number = label.partition(" ")
    options = [] if OTHER else commands(page)["path"][2].split()
    if number:  # one of several traces
        options += ["--" + which, number]
    doc = document(["path", db, "--list"] + options)
    tiles = doc["tables"]["tiles"]
    if list(zip(start, dur)) != [(t["start_ns"], t["ns"]) for t in tiles]:
        return "the path has %d pieces, not these %d" % (len(start),
                                                         len(tiles))
    if sum(dur) != doc["scalars"]["window_ns"]:
        return "the path adds up to %d" % sum(dur)
    cats = ("kernel", "communication", "copy")
    for i, t in enumerate(tiles):
        name, cat = names[columns[2][i]], columns[4][i]
        drawn = t["category"].removesuffix(" wait") \
            if t["category"] == "communication wait" else t["category"]
        if drawn in cats and cats[cat:cat + 1] != (drawn,) or \
                drawn not in cats + ("memset",) and cat < 3:
            return "%s is drawn as %d" % (t["category"], cat)
        wanted = t["name"] if t["category"] in cats or t["kind"] == "op" \
            and ".py:" not in t["name"] else t["category"] if t["device"] is not None and \
            t["category"] != "memset" else name
        if wanted[:1] != "/" and wanted.isascii() and \
                wanted.isprintable() and len(wanted) < 2000 and name != wanted:
            return "piece %d is called '%s', not '%s'" % (i, name, wanted)
    return None


def check_timeline(page):
    islands = {d["id"]: s for d, s in page.scripts if d.get("type")}
    if "tl" not in islands:
        return None if "no timeline" in "".join(page.text) else "none"
    tl = json.loads(islands["tl"])
    ends = None
    n = 0
    gpu_ids, linked = [], None
    paths = 0
    names = json.loads(gzip.decompress(base64.b64decode(islands["pn"])))
    sides = tl["sides"]
    if min(s["shift_ns"] for s in sides) != 0:
        return "the page's clock begins before all traces"
    if tl["span_ns"] != max(s["shift_ns"] + s["span_ns"] for s in sides):
        return "the page's clock ends elsewhere"
    for g in tl["groups"]:
        db = OTHER if OTHER and g["side"] else DB
        origin = int(sides[g["side"]]["origin_ns"])
        if g["key"].count(".") != (len(sides) > 1):
            return "the key " + g["key"]
        kind = g["key"].split(".")[-1]
        if kind == "gpu":
            gpu_ids, linked = [], None
        starts = []
        raw = gzip.decompress(base64.b64decode(islands[g["id"]]))
        columns, sizes, start, dur = unpack(raw, g["tracks"])
        if kind == "path":
            paths += 1
            why = check_path(page, db, sides[g["side"]]["label"], columns,
                             start, dur, names)
            if why:
                return why
            continue
        i = 0
        for k, track in enumerate(g["tracks"]):
            rows = document(["query", db, """SELECT id, start_ns, dur_ns, name
                FROM event WHERE track_id = %d AND kind NOT IN (14, 15, 16,
                17, 18, 19, 20) AND (kind = 3) = %d ORDER BY id"""
                             % (track["id"], kind == "python")])
            rows = list(rows["tables"].values())[0]
            if not rows and kind == "ops":
                rows = lane(db, track["id"])
            if len(rows) != sizes[2 * k]:
                return "%s: %d slices, not %d" % (track["label"],
                                                  sizes[2 * k], len(rows))
            ends = {}
            for r in rows:
                if (start[i] + origin, dur[i]) != (r["start_ns"],
                                                   r["dur_ns"]):
                    return "slice %d of %s" % (i, g["key"])
                name = names[columns[2][i]]
                if r["name"][:1] != "/" and r["name"].isascii() and \
                        r["name"].isprintable() and \
                        len(r["name"]) < 2000 and name != r["name"]:
                    return "name '%s', not '%s'" % (name, r["name"])
                cat = tl["cats"][columns[4][i]]
                if r["name"].startswith("gloo:") and cat != "communication":
                    return "%s is %s" % (r["name"], cat)
                (gpu_ids if kind == "gpu" else starts).append(
                    r["id"])
                depth = columns[3][i]
                if depth in ends and start[i] < ends[depth]:
                    return "slices of one depth overlap"
                ends[depth] = start[i] + dur[i]
                i += 1
                n += 1
        if columns[5]:
            links = columns[5]
            for i in range(1, len(links)):
                links[i] = (links[i] + links[i - 1]) & 0xffffffff
            linked = (g["n"], links, gpu_ids)
        if kind == "ops" and linked:
            why = check_launches(db, linked, starts)
            if why:
                return why
    if paths not in (0, len(sides)):
        return "%d critical paths of %d traces" % (paths, len(sides))
    for a, b in page.links:
        if not 0 <= a <= b <= tl["span_ns"]:
            return "a link to %d..%d" % (a, b)
    return None if n else "empty"


def lane(db, track):
    """Ranges of no thread that begin on a track: what has an end of its own,
    and begins with the end of their category and id."""
    rows = document(["query", db, """SELECT id, track_id, ph, category, name,
        start_ns, dur_ns, args FROM event WHERE kind = 19
        ORDER BY start_ns, file_order"""])["tables"]["rows"]
    stacks, out = {}, [r for r in rows if r["ph"] == "X"]
    for r in rows:
        key = r["category"], json.loads(r["args"] or "{}").get("@id")
        if r["ph"] == "b":
            stacks.setdefault(key, []).append(r)
        elif r["ph"] == "e" and stacks.get(key):
            begin = stacks[key].pop()
            out.append({**begin, "dur_ns": r["start_ns"] - begin["start_ns"]})
    return sorted((r for r in out if r["track_id"] == track),
                  key=lambda r: r["start_ns"])


def check_aligned(page):
    """The first steps of both sides begin at one time of the page."""
    islands = {d["id"]: s for d, s in page.scripts if d.get("type")}
    sides = json.loads(islands["tl"])["sides"]
    if [s["label"] for s in sides] != ["A", "B"]:
        return str([s["label"] for s in sides])
    at = [s["steps"][0][0] + s["shift_ns"] for s in sides if s["steps"]]
    return None if len(set(at)) < 2 else str(at)


def main():
    raw = open(PAGE, "rb").read()
    page = Page()
    page.feed(raw.decode("utf-8"))
    full_texts(page)
    page.close()
    say("only known tags and attributes", " ".join(page.odd[:8]))
    say("policy", check_policy(page))
    say("links", check_links(page))
    say("units", check_units(raw.decode("utf-8")))
    say("sizes", check_sizes(page, raw))
    say("words", check_words(raw.decode("utf-8")))
    say("figures are those of the commands",
        check_diff(page) if OTHER else check_tables(page))
    say("tiles", check_tiles(page))
    if OTHER:
        say("timeline holds every event", check_timeline(page))
        say("steps begin together", check_aligned(page))
        say("the parts of the change add up", check_reasons(page, raw))
        return
    say("verdicts", check_verdicts(page))
    if "classes" in page.tables:
        say("shares sum to 100.0 %", check_shares(page))
    say("calls below their roofs", check_roofs(page))
    say("timeline holds every event", check_timeline(page))


main()

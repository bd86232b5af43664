# SPDX-License-Identifier: MIT
"""A reader of .pfr files, written from agent/FORMAT.md alone: the second
opinion on the agent's writer and on profan's reader.

    pfr.py FILE            what is in it, as lines of key=value
    pfr.py --events FILE   every event as a line
    pfr.py --check FILE... also: exit 1 unless each file is whole and its totals
                           agree with its events
    pfr.py --crash FILE    the same for a file whose program was killed: it
                           may be cut short, even to nothing, and what was
                           flushed is right
"""
import struct
import sys

MAGIC = bytes([0x89]) + b"PFR\r\n\x1a\n"
TABLE = []
for i in range(256):
    c = i
    for _ in range(8):
        c = c >> 1 ^ 0x82F63B78 if c & 1 else c >> 1
    TABLE.append(c)
TABLES = [TABLE]  # of a byte, and of one that has 1, 2, 3 more behind it
for _ in range(3):
    TABLES.append([TABLE[c & 255] ^ c >> 8 for c in TABLES[-1]])


def crc32c(data):
    c, whole = 0xFFFFFFFF, len(data) & ~3
    t0, t1, t2, t3 = TABLES
    for word, in struct.iter_unpack("<I", data[:whole]):
        c ^= word
        c = (t3[c & 255] ^ t2[c >> 8 & 255] ^ t1[c >> 16 & 255] ^ t0[c >> 24])
    for b in data[whole:]:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    return c ^ 0xFFFFFFFF


class Short(Exception):
    pass


class Body:
    def __init__(self, data, at=0, end=None):
        self.data, self.at = data, at
        self.end = len(data) if end is None else end

    def varint(self):
        at = self.at
        if at < self.end and self.data[at] < 128:  # nearly all are
            self.at = at + 1
            return self.data[at]
        v = shift = 0
        while True:
            if self.at >= self.end or shift > 63:
                raise Short
            b = self.data[self.at]
            self.at += 1
            v |= (b & 127) << shift
            if b < 128:
                return v & (1 << 64) - 1
            shift += 7

    def byte(self):
        if self.at >= self.end:
            raise Short
        self.at += 1
        return self.data[self.at - 1]

    def part(self, n):
        """The next n bytes, to be read on their own."""
        if n > self.end - self.at:
            raise Short
        self.at += n
        return Body(self.data, self.at - n, self.at)

    def signed(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def bytes(self, n):
        part = self.part(n)
        return self.data[part.at:part.end]

    def rest(self):
        return self.bytes(self.end - self.at)

    def name(self):
        v = self.varint()
        return ("text", self.bytes(v >> 1)) if v & 1 else ("id", v >> 1)

    def more(self):
        return self.at < self.end


LAUNCH = "gx gy gz bx by bz regs static dynamic local".split()
WHERE = "dev ctx stream".split()
TYPES = {
    1: ("KERNEL", "launch dev ctx stream node graph", "channel queued submitted"),
    2: ("KERNEL_INLINE", "name " + " ".join(LAUNCH) +
        " cx cy cz type dev ctx stream node graph", "channel queued submitted"),
    3: ("MEMCPY", "bytes kind places flags dev ctx stream node",
        "srcdev dstdev graph"),
    4: ("MEMSET", "bytes value memkind dev ctx stream node", "graph"),
    5: ("API", "call tid ret", ""),
    6: ("SYNC", "type ctx stream event syncid ret", ""),
    7: ("EVENT", "event ctx stream dev syncid", ""),
    8: ("OVERHEAD", "kind object id0 id1 id2", ""),
    9: ("MEMORY", "op memkind address bytes dev ctx stream async pool"
        " pooladdress pc name", ""),
    10: ("GRAPH", "graph dev ctx stream enddev endctx", ""),
    11: ("JIT", "entry op dev tid", ""),
    12: ("INTERNAL", "call tid ret", ""),
    13: ("UVM", "kind value address src dst", ""),
    14: ("ENV", "dev kind w0 w1 w2 w3", ""),
    15: ("EXTCORR", "kind id", ""),
    16: ("PUSH", "tid name domain category colour range ptype", "payload"),
}
for n, t in ((17, "POP"), (18, "MARK"), (19, "RSTART"), (20, "REND")):
    TYPES[n] = (t,) + TYPES[16][1:]
TYPES = {n: (t, fields.split(), optional.split())
         for n, (t, fields, optional) in TYPES.items()}


class Pfr:
    def __init__(self, data):
        self.bad_frames = self.skipped = self.bad_events = 0
        self.frames, self.seqs = {}, []
        self.meta, self.info, self.stat = {}, {}, {}
        self.strings, self.launches, self.cbids = {}, {}, {}
        self.threads, self.domains, self.categories = {}, {}, {}
        self.clocks, self.events, self.sizes = [], [], []
        self.end = False
        self.good_end = 16  # where the last good frame ends
        self.damage_at = None  # the first byte that is not as it should be
        if data[:8] != MAGIC:
            raise SystemExit("not a .pfr file")
        if struct.unpack_from("<H", data, 8)[0] > 1:
            raise SystemExit("a newer major version")
        self.scan(data)

    def scan(self, d):
        at = 16
        while at < len(d):
            if d[at:at + 4] != b"PFRM" or len(d) - at < 24:
                self.damage(at)
                at += 1
                self.skipped += 1
                continue
            _, kind, flags, seq, size, crc, hcrc = struct.unpack_from(
                "<4sHHIIII", d, at)
            most = 65536 if kind == 3 else 1 << 20
            if crc32c(d[at:at + 20]) != hcrc or size > most:
                self.damage(at)
                at += 1
                self.skipped += 1
                continue
            payload = d[at + 24:at + 24 + size]
            if len(payload) < size or crc32c(payload) != crc:
                self.damage(at)
                self.bad_frames += 1
                at += 24
                continue
            at += 24 + size
            pad = -(24 + size) % 8
            while pad and at < len(d) and d[at] == 0:
                at += 1
                pad -= 1
            self.good_end = at
            self.frame(kind, flags, seq, payload)

    def damage(self, at):
        if self.damage_at is None:
            self.damage_at = at

    def frame(self, kind, flags, seq, p):
        self.seqs.append(seq)
        self.frames[kind] = self.frames.get(kind, 0) + 1
        self.end = kind == 7 or self.end
        if kind in (1, 5, 6):
            into = {1: self.meta, 5: self.info, 6: self.stat}[kind]
            for line in p.split(b"\n"):
                key, eq, value = line.partition(b"=")
                if eq:
                    into[key.decode()] = unescape(value)
        elif kind == 2:
            self.definitions(p)
        elif kind == 4:
            self.clocks.append(struct.unpack("<4Q", p))
        elif kind == 3:
            self.sizes.append(len(p))
            self.chunk(p, flags & 1)

    def definitions(self, p):
        b = Body(p)
        while b.more():
            table = b.byte()
            e = b.part(b.varint())
            if table == 1:
                self.define(self.strings, e.varint(), e.rest())
            elif table == 2:
                i, name = e.varint(), e.name()
                v = [e.varint() for _ in LAUNCH]
                v += [e.varint() for _ in range(4)] if e.more() else [0] * 4
                self.define(self.launches, i, (name, v))
            elif table == 3:
                self.define(self.cbids, (e.varint(), e.varint()), e.rest())
            elif table == 4:
                tid = e.varint()
                self.threads[tid] = e.rest()
            elif table == 5:
                i = e.varint()
                self.domains[i] = e.rest()
            elif table == 6:
                key = e.varint(), e.varint()
                self.categories[key] = e.rest()

    @staticmethod
    def define(table, key, value):
        assert table.setdefault(key, value) == value, ("two meanings", key)

    def chunk(self, p, realtime):
        b = Body(p)
        self.start, self.corr = b.varint(), 0
        while b.more():
            try:
                kind = b.byte()
                size = b.byte()
                if size == 255:
                    size = b.varint()
                e = b.part(size)
            except Short:
                self.bad_events += 1
                return
            try:
                self.event(kind & 127, kind >> 7, e, realtime)
            except Short:
                self.bad_events += 1

    def event(self, kind, untimed, e, realtime):
        if kind not in TYPES:
            return
        name, fields, optional = TYPES[kind]
        v = {"ev": name, "rt": realtime, "untimed": untimed}
        if kind != 15:
            t = e.signed()
            d = e.signed() if kind < 14 else 0
            if untimed:
                assert t == d == 0
                v["start"] = v["end"] = None
            else:
                self.start = v["start"] = self.start + t
                v["end"] = v["start"] + d
        if kind < 13 or kind == 15:
            v["c"] = self.corr = self.corr + e.signed()
        for f in fields:
            v[f] = (e.name() if f == "name" else e.byte()
                    if f == "places" else e.varint())
        if kind >= 16:
            if v["ptype"]:
                v["payload"] = struct.unpack("<Q", e.bytes(8))[0]
        else:
            for f in optional:
                if not e.more():
                    break
                v[f] = (e.signed() if f in ("queued", "submitted")
                        else e.varint())
        self.events.append(v)

    def text(self, name):
        how, v = name
        if how == "text":
            return v
        return b"" if v == 0 else self.strings.get(v, b"#%d (lost)" % v)

    def show(self, v):
        v = dict(v)
        if "name" in v:
            v["name"] = self.text(v["name"])
        if v["ev"] == "KERNEL":
            launch = self.launches.get(v["launch"])
            if launch:
                v["name"] = self.text(launch[0])
                v.update(zip(LAUNCH + ["cx", "cy", "cz", "type"], launch[1]))
            del v["launch"]
        if v["ev"] == "API":
            call = v.pop("call")
            v["call"] = self.cbids.get((1 if call & 1 else 2, call >> 1),
                                       b"#%d (unnamed)" % call)
        return v

    def problems(self):
        """What a whole file may not have."""
        out = []
        if self.damage_at is not None:
            out.append("damage" if self.damage_at < self.good_end
                       else "cut short")
        if self.bad_events:
            out.append("bad events")
        if self.seqs != list(range(len(self.seqs))):
            out.append("sequence numbers")
        if not self.end:
            out.append("no END")
        # what refers to definitions, each once
        refer = {(v["ev"], v.get("name"), v.get("launch"), v.get("call")): v
                 for v in self.events}
        if any(b"(lost)" in x for v in refer.values()
               for x in self.show(v).values() if isinstance(x, bytes)):
            out.append("lost definitions")
        s = lambda k: int(self.stat.get(k, b"0"))
        nvtx = sum(v["ev"] in ("PUSH", "POP", "MARK", "RSTART", "REND")
                   for v in self.events)
        if s("events") != len(self.events) or s("nvtx") != nvtx:
            out.append("events %d of %d" % (len(self.events), s("events")))
        described = sum(s("kind.%d" % k) for k in (8, 9, 37))
        if s("records") != (s("unknown") + s("bad") + s("filtered") +
                            described + s("events") - s("nvtx") +
                            s("dropped_queue")):
            out.append("records")
        kinds = sum(int(v) for k, v in self.stat.items()
                    if k.startswith("kind."))
        if kinds != s("records"):
            out.append("kinds")
        invalid = sum(v["ev"] not in ("EVENT", "EXTCORR") and
                      (v["untimed"] or v["end"] is not None and
                       v["end"] < v["start"])
                      for v in self.events if "start" in v)
        if invalid != s("invalid_time"):
            out.append("invalid times %d of %d" %
                       (invalid, s("invalid_time")))
        depth = {}
        for v in self.events:
            key = v.get("tid"), v.get("domain")
            if v["ev"] == "PUSH":
                depth[key] = depth.get(key, 0) + 1
            elif v["ev"] == "POP":
                depth[key] = depth.get(key, 0) - 1
                if depth[key] < 0:
                    out.append("a pop without a push")
        return out


def unescape(b):
    out = bytearray()
    while b:
        i = b.find(b"%")
        if i < 0:
            return bytes(out + b)
        out += b[:i]
        out.append(int(b[i + 1:i + 3], 16))
        b = b[i + 3:]
    return bytes(out)


def tell(args):
    """Of the last of the arguments."""
    want_events = "--events" in args
    check = "--check" in args
    crash = "--crash" in args
    with open(args[-1], "rb") as f:
        data = f.read()
    if crash and not data:  # killed between the making of it and its header
        print("bytes=0")
        return 0
    p = Pfr(data)
    if want_events:
        for v in map(p.show, p.events):
            line = [v.pop("ev"), *("%s=%s" % each for each in v.items())]
            sys.stdout.write(" ".join(line) + "\n")
        return 0
    problems = p.problems()
    if crash:
        fine = ("no END", "cut short", "records", "kinds", "events ",
                "invalid times")
        problems = [x for x in problems if not x.startswith(fine)]
    if (check or crash) and problems:
        print("problems:", *problems)
    print("bytes=%d" % len(data))
    for k, name in enumerate("META DEF EVENTS CLOCK INFO STAT END".split(), 1):
        if k in p.frames:
            print("frames.%s=%d" % (name, p.frames[k]))
    print("bad_frames=%d\nskipped=%d\nbad_events=%d\nend=%d" % (
        p.bad_frames, p.skipped, p.bad_events, p.end))
    counts = {}
    for v in p.events:
        counts[v["ev"]] = counts.get(v["ev"], 0) + 1
    for k in sorted(counts):
        print("events.%s=%d" % (k, counts[k]))
    for part, table in (("meta", p.meta), ("info", p.info), ("stat", p.stat)):
        for k in sorted(table):
            print("%s.%s=%r" % (part, k, table[k].decode("utf-8", "replace")))
    return 1 if (check or crash) and problems else 0


def main(args):
    options = [a for a in args if a.startswith("--")]
    files = [a for a in args if not a.startswith("--")]
    return max(tell([*options, file]) for file in files)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

# SPDX-License-Identifier: MIT
"""What 'profan ranks --format json' says against figures that are known.

usage: ranks.py golden RANKS.json FOLDER CASE   FOLDER: ranks_*.csv
       ranks.py better RANKS.json FOLDER CASE   clocks nearer to the truth, laws
       ranks.py truth RANKS.json TRUTH.csv      what mktrace --ranks planted, laws
       ranks.py laws RANKS.json                 sums that must hold
       ranks.py pipeline RANKS.json TRUTH.csv.pipeline MICROBATCHES SLOWER
                                                bubbles that it planted
       ranks.py damage PROFAN MKTRACE FOLDER OPTION...
                                                one rank of a job, damaged
"""
import csv
import json
import os
import shutil
import subprocess
import sys

CAUSES = {"compute": "computation", "copy": "copies"}
bad = []


def near(what, got, want, within):
    if got is None or abs(float(got) - float(want)) > within:
        bad.append(f"{what}: {got}, not {want}")


def same(what, got, want):
    if str(got) != str(want):
        bad.append(f"{what}: {got}, not {want}")


def load(path):
    with open(path, encoding="utf-8") as f:
        d = json.load(f)
    figures = {k: v for k, v in d.items() if not isinstance(v, (list, dict))}
    figures.update(d.get("scalars", {}))
    tables = d.get("tables", d)
    return figures, tables


def rows_of(folder, name, case):
    with open(f"{folder}/ranks_{name}.csv", encoding="utf-8") as f:
        return [r for r in csv.DictReader(f) if r["case"] == case]


# There a rank's first stretch is never repaired, and what waits in a full
# stream waits for nothing else: against the job that was made again without
# its one straggler, the figures here must be the better ones, and near.
def check_costs(figures, ranks, known):
    least = max(known, key=lambda r: int(r["T_ns"]) - int(r["T_if_median_ns"]))
    total, true = int(least["T_ns"]), int(least["true_ideal_ns"])
    near("total", figures["total_ns"], total, 3)
    near("ideal", figures["ideal_ns"], least["ideal_ns"], 0.006 * total)
    ours = total - ranks[int(least["rank"])]["saved_ns"]
    if total - true > 0.01 * total and \
            abs(int(least["T_if_median_ns"]) - true) < 0.01 * total:
        near("without the straggler", ours, true, 0.001 * (total - true))
        near("nearer than theirs", ours, true,
             abs(int(least["T_if_median_ns"]) - true))
    else:
        near("saved", ours, least["T_if_median_ns"], 0.004 * total)


def check_golden(path, folder, case):
    figures, t = load(path)
    clocks = {r["rank"]: r for r in t["clocks"]}
    for r in rows_of(folder, "clock", case):
        c, name = clocks[int(r["rank"])], f"clock of {r['rank']}"
        near(name, c["offset_ns"], r["offset_ns"], 2)
        near(name + ": drift", c["drift_ppm"] or 0, r["drift_ppm"], 0.01)
        near(name + ": scatter", c["scatter_ns"], r["scatter_ns"], 2)
        same(name + ": ends", c["seen_count"], r["observations"])
    met = {(r["group"], r["number"]): r for r in t["meetings"]}
    for r in rows_of(folder, "collectives", case):
        m, name = met[r["group"], int(r["n"])], f"{r['group']} {r['n']}"
        for key in ("kind", "step", "ranks", "last_rank"):
            same(f"{name}: {key}", m[key], r[key])
        for key in ("spread_ns", "gain_ns", "transfer_ns"):
            near(f"{name}: {key}", m[key], r[key], 2)
        for ours, key in (("computation_ns", "why_compute"),
                          ("communication_ns", "why_communication"),
                          ("copy_ns", "why_copy"), ("idle_ns", "why_idle"),
                          ("before_ns", "why_earlier")):
            if r[key]:
                near(f"{name}: {key}", m[ours], r[key],
                     2 if ours == "before_ns" else 0)
        # there meetings are followed in the order of clocks that differ, so
        # that a search may stop at a rank which itself waited for another
        if r["root_cause"] == "other communication":
            continue
        same(f"{name}: root", m["root_rank"], r["root_rank"])
        same(f"{name}: cause", m["root_cause"],
             CAUSES.get(r["root_cause"], r["root_cause"]))
    ranks = {r["rank"]: r for r in t["ranks"]}
    for r in rows_of(folder, "ranks", case):
        c, name = ranks[int(r["rank"])], f"rank {r['rank']}"
        same(name, c["count"], r["collectives"])
        same(name + ": last", c["last_count"], r["last"])
        for ours, key in (("late_ns", "others_wait_ns"),
                          ("gain_ns", "gain_ns"), ("waited_ns", "waited_ns")):
            near(f"{name}: {key}", c[ours], r[key], 300)
        if r["root_cause"] not in ("", "other communication"):
            same(name + ": cause", c["cause"],
                 CAUSES.get(r["root_cause"], r["root_cause"]))
    check_costs(figures, ranks, rows_of(folder, "slowdown", case))
    kinds = {(r["kind"], r["group_size"], r["bytes"]): r
             for r in t["collectives"]}
    for r in rows_of(folder, "bandwidth", case):
        k = kinds[r["kind"], int(r["group_size"]), int(r["bytes"])]
        same(r["kind"], k["count"], r["count"])
        near(r["kind"], k["algorithm_gb_per_s"], r["algorithm_gbps"], 0.01)
        near(r["kind"], k["bus_gb_per_s"], r["bus_gbps"], 0.01)


def check_better(path, folder, case):
    _, t = load(path)
    clocks = {r["rank"]: r["offset_ns"] for r in t["clocks"]}
    known = rows_of(folder, "clock", case)
    ours = max(abs(clocks[int(r["rank"])] - float(r["true_offset_ns"]))
               for r in known)
    theirs = max(abs(float(r["offset_ns"]) - float(r["true_offset_ns"]))
                 for r in known)
    if ours > theirs or ours > 1500:
        bad.append(f"offsets are {ours} wrong, elsewhere {theirs}")


def check_laws(path):
    figures, t = load(path)
    for r in t["ranks"]:
        parts = ("computation_ns", "exposed_wait_ns", "exposed_transfer_ns",
                 "exposed_other_ns", "exposed_copy_ns", "idle_ns")
        same(f"rank {r['rank']}: sum", sum(r[p] for p in parts),
             r["window_ns"])
        for p in parts:
            if r[p] < 0:
                bad.append(f"rank {r['rank']}: {p} is {r[p]}")
    for w in t["work"]:
        if w["kernel_ns"] is not None:
            same(f"work of {w['rank']}: sum", w["middle_ns"] + w["more_ns"] +
                 w["slower_ns"] + w["some_ns"], w["kernel_ns"])
    for s in t["spread"][:4]:
        key = s["figure"].replace(" ", "_") + "_ns"
        values = [r[key] for r in t["ranks"]]
        same(f"spread of {key}", max(values), s["max_ns"])
        if s["max_ns"]:
            near(f"imbalance of {key}", s["imbalance"],
                 1 - sum(values) / len(values) / max(values), 1e-9)
    for m in t["meetings"]:
        if m["computation_ns"] is None:
            continue
        parts = ("computation_ns", "communication_ns", "copy_ns", "idle_ns",
                 "before_ns")
        same(f"{m['group']} {m['number']}: sum", sum(m[p] for p in parts),
             m["late_ns"])
    same("last", sum(r["last_count"] for r in t["ranks"]),
         sum(m["last_rank"] is not None for m in t["meetings"]))
    same("spread", sum(s["spread_ns"] for s in t["collectives"]),
         sum(m["spread_ns"] for m in t["meetings"]))
    if figures["slowdown"] < 0.995:
        bad.append(f"slowdown {figures['slowdown']}")


def check_truth(path, truth):
    figures, t = load(path)
    with open(truth, encoding="utf-8") as f:
        want = {r["key"]: r["value"] for r in csv.DictReader(f)}
    late = [r for r in csv.DictReader(open(truth + ".ranks",
                                           encoding="utf-8"))]
    ranks = {r["rank"]: r for r in t["ranks"]}
    first = float(want["zero_ns"])
    for c in t["clocks"]:
        r = late[c["rank"]]
        base = late[c["reference_rank"]]
        at = (float(r["offset_ns"]) - float(base["offset_ns"]) +
              (float(r["drift_ppm"]) - float(base["drift_ppm"])) * first / 1e6)
        near(f"clock of {c['rank']}", c["offset_ns"], at, 5000)
    if figures["residual_ns"] > 5000:
        bad.append(f"residual {figures['residual_ns']}")
    straggler = int(want["straggler"])
    for w in t["work"]:
        same(f"work of {w['rank']}", w["why"],
             want["work"] if w["rank"] == straggler else "as others")
    if straggler < 0:
        if figures["slowdown"] >= 1.01:
            bad.append(f"not even: {figures['slowdown']}")
        return
    cost = float(want["total_ns"]) - float(want["without_ns"])
    worst = max(t["ranks"], key=lambda r: r["saved_ns"] or 0)
    same("straggler", worst["rank"], straggler)
    same("cause", ranks[straggler]["cause"], want["cause"])
    near("total", figures["total_ns"], want["total_ns"], 0.001 *
         float(want["total_ns"]))
    near("cost", worst["saved_ns"], cost, 0.01 * float(want["total_ns"]))
    near("cost of cost", worst["saved_ns"], cost, 0.01 * cost)


def check_pipeline(path, truth, microbatches, slower):
    figures, t = load(path)
    with open(truth, encoding="utf-8") as f:
        want = list(csv.DictReader(f))
    ranks = {r["rank"]: r for r in t["receives"]}
    stages = 1 + max(int(w["stage"]) for w in want)
    ideal = (stages - 1) / (int(microbatches) + stages - 1)
    same("ranks", sorted(ranks), [int(w["rank"]) for w in want])
    same("what ranks cost", [r["saved_ns"] for r in t["ranks"]],
         [None] * len(want))
    for w in want:
        r, name = ranks[int(w["rank"])], f"rank {w['rank']}"
        step = float(w["step_ns"])
        same(f"{name}: stage", r["stage"], w["stage"])
        same(f"{name}: stages", r["stage_count"], stages)
        same(f"{name}: microbatches", r["microbatches"], microbatches)
        near(f"{name}: computation", r["computation_ns"],
             w["computation_ns"], 1e-4 * step)
        near(f"{name}: steps", r["step_ns"], step, 0.001 * step)
        near(f"{name}: bubble", r["bubble_ns"], w["bubble_ns"],
             0.01 * float(w["bubble_ns"]))
        near(f"{name}: waits", r["receive_wait_ns"], w["receive_wait_ns"],
             0.01 * float(w["receive_wait_ns"]))
        same(f"{name}: sum", r["input_ns"] + r["drain_ns"], r["bubble_ns"])
        near(f"{name}: share", r["bubble"], r["bubble_ns"] / r["step_ns"],
             1e-9)
        near(f"{name}: ideal", r["ideal_bubble"], ideal, 1e-9)
        same(f"{name}: sends", r["left_count"], 0)
    slow = [s["stage"] for s in t["stages"] if s["factor"] > 1.1]
    same("stages", [s["stage"] for s in t["stages"]], list(range(stages)))
    same("slow stage", slow, [int(slower)] if slower != "-" else [])
    for s in t["stages"]:
        own = [w for w in want if int(w["stage"]) == s["stage"]]
        steps = s["step_count"] / len(own)
        for key in ("computation_ns", "bubble_ns"):
            mean = sum(float(w[key]) for w in own) / len(own) / steps
            near(f"stage {s['stage']}: {key}", s[key], mean, 0.01 * mean)


# ---- one rank whose trace is damaged ----
ODD = 5


def damages(doc, text):
    """What is done to it, the text, and whether it must be left out."""
    events = doc["traceEvents"]
    met = [e for e in events if e.get("cat") == "kernel" and
           "nccl" in e["name"]]
    begins = [e["ts"] for e in events if e["name"].startswith("ProfilerStep")]

    def only(keep):
        return json.dumps({**doc, "traceEvents": [e for e in events
                                                  if keep(e)]})

    for part in range(1, 100, 7 if os.environ.get("LONG") else 49):
        # all of them are in the first 97 %
        yield f"cut at {part} %", text[:len(text) * part // 100], part < 97
    last = max(met, key=lambda e: e["ts"])
    yield "without its last", only(lambda e: e is not last), True
    for i in (0, len(met) // 3, len(met) // 2):
        # without its first it is as if it had begun later
        yield f"without number {i}", only(lambda e: e is not met[i]), i > 0
    for t in begins[1:]:
        yield "ends early", only(lambda e: e["ph"] == "M" or e["ts"] < t), True
        yield "begins late", only(lambda e: e["ph"] == "M" or e["ts"] >= t), \
            False
    yield "whole", text, False


def check_damage(profan, mktrace, folder, *options):
    job, path = folder + "/damaged", folder + f"/damaged/rank-{ODD}.json"

    def ask(*args):
        out = subprocess.run([profan, "ranks", *args, "--limit", "-1",
                              "--format", "json"], capture_output=True,
                             text=True, check=True).stdout
        d = json.loads(out)
        for r in d["tables"].get("ranks", []):
            del r["trace_id"]
        return d["scalars"], d["tables"]

    def look(what, is_out, odd):
        db, fleet = folder + "/damaged.db", folder + "/damaged.fleet"
        for command in ("ingest", "merge"):
            subprocess.run([profan, command, "-q", job, "-o",
                            db if command == "ingest" else fleet],
                           stderr=subprocess.DEVNULL, check=False)
        (s, t), other = ask(db), ask(fleet)
        if (s, t) != other:
            bad.append(f"{what}: a fleet says something else")
        if not is_out:
            if "left_out" in s or not s["finding"].startswith("Rank 2 comp"):
                bad.append(f"{what}: {s['finding']}, {s.get('left_out')}")
            return
        if not s.get("left_out", "").startswith(f"rank {odd}, "):
            bad.append(f"{what}: {s['finding']}, {s.get('left_out')}")
            return
        # as if it had never been there, but what it costs is not known
        rest = ",".join(str(r) for r in range(8) if r != odd)
        _, want = ask(db, "--rank", rest)
        if want != ask(fleet, "--rank", rest)[1]:
            bad.append(f"{what}: --rank of a fleet")
        for name in ("clocks", "meetings", "collectives", "steps"):
            if t[name] != want[name]:
                bad.append(f"{what}: {name} are not those of the others")
        if "total_ns" in s or any(r["saved_ns"] is not None
                                  for r in t["ranks"]):
            bad.append(f"{what}: a cost")

    shutil.rmtree(job, ignore_errors=True)
    subprocess.run([mktrace, "--ranks", "8", "--steps", "4", "--layers", "2",
                    "--straggler", "2", "--out", job, *options], check=True)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    each = list(damages(json.loads(text), text))
    if not os.environ.get("LONG"):  # some of each, others of several machines
        each = each[2 * (len(options) % 2)::4]
    for what, damaged, is_out in each:
        with open(path, "w", encoding="utf-8") as f:
            f.write(damaged)
        look(what, is_out, ODD)
    # several of them: nothing is said of any
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:len(text) // 2])
    with open(job + "/rank-6.json", encoding="utf-8") as f:
        other = f.read()
    with open(job + "/rank-6.json", "w", encoding="utf-8") as f:
        f.write(other[:len(other) // 3])
    subprocess.run([profan, "ingest", "-q", job, "-o", folder + "/damaged.db"],
                   stderr=subprocess.DEVNULL, check=False)
    said = ask(folder + "/damaged.db")[0]
    if "withheld" not in said:
        bad.append(f"two damaged: {said['finding']}")
    with open(job + "/rank-6.json", "w", encoding="utf-8") as f:
        f.write(other)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    with open(job + "/rank-3.json", encoding="utf-8") as f:
        text = f.read()
    with open(job + "/again-3.json", "w", encoding="utf-8") as f:
        f.write(text[:len(text) // 2])
    look("two traces", True, 3)


if __name__ == "__main__":
    {"golden": check_golden, "better": check_better, "truth": check_truth,
     "laws": check_laws, "pipeline": check_pipeline,
     "damage": check_damage}[sys.argv[1]](*sys.argv[2:])
    if sys.argv[1] in ("better", "truth"):
        check_laws(sys.argv[2])
    for line in bad[:20]:
        print(line)
    if bad:
        print(len(bad), "differ")
    sys.exit(bool(bad))

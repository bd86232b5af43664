# SPDX-License-Identifier: MIT
# Pages of 'profan report', without a browser: structure, policy, figures
# against the commands' JSON, the timeline against the events, hostile names,
# the same bytes for the same input, what is left out for its size.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"

page() { # NAME PAGE-OPTION...
	page_name=$1
	shift
	run 0 "$profan" report -q "$tmp/$page_name.db" -o "$tmp/$page_name.html" \
		"$@"
}

told() { # NAME: what check.py said
	while IFS= read -r line; do
		case $line in
		ok\ *) ok "$1: ${line#ok }" ;;
		*) not_ok "$1: ${line#not ok }" ;;
		esac
	done <"$tmp/checks"
}

check() { # NAME: every promise of its page
	if ! page "$1"; then
		not_ok "$1: page" "$tmp/err"
		return
	fi
	"$PYTHON" -S "$top_srcdir/tests/report/check.py" "$profan" "$tmp/$1.db" \
		"$tmp/$1.html" >"$tmp/checks" 2>"$tmp/err" ||
		not_ok "$1: check.py" "$tmp/err"
	told "$1"
}

ingest() { # NAME FILE
	run 0 "$profan" ingest -q "$2" -o "$tmp/$1.db" ||
		not_ok "$1: ingest" "$tmp/err"
}

# ---- made here ----
"$mktrace" --steps 5 --layers 2 >"$tmp/train.json"
ingest train "$tmp/train.json"
check train
"$mktrace" --steps 2 --layers 1 --chrome >"$tmp/chrome.json"
ingest chrome "$tmp/chrome.json"
check chrome
"$mktrace" --steps 3 --layers 1 --no-stacks --inference >"$tmp/plain.json"
ingest plain "$tmp/plain.json"
check plain
"$PYTHON" -S "$top_srcdir/tests/report/hostile.py" >"$tmp/hostile.json"
ingest hostile "$tmp/hostile.json"
check hostile
echo '{"traceEvents": []}' >"$tmp/empty.json"
ingest empty "$tmp/empty.json"
check empty

# ---- a release of torch is not claimed ----
page train --format html
if grep -q 'does not say its version; table as of torch [12]' "$tmp/train.html"; then
	ok "train: the page says by which release's rules its table is"
else
	not_ok "train: the page says by which release's rules its table is"
fi

# ---- names are shown, and act nowhere ----
page hostile --format md
if run 0 "$profan" report "$tmp/hostile.db" --format md &&
	! grep -E '<(script|img|svg|a)' "$tmp/out" | sed 's/`[^`]*`//g' |
	grep -qE '<(script|img|svg|a)'; then
	ok "hostile: names in Markdown are code"
else
	not_ok "hostile: names in Markdown are code" "$tmp/out"
fi
page hostile
if grep -q '\\u{202e}' "$tmp/hostile.html" &&
	! grep -q "$(printf '\342\200\256')" "$tmp/hostile.html"; then
	ok "hostile: what acts is shown instead"
else
	not_ok "hostile: what acts is shown instead"
fi

# ---- a comparison ----
"$mktrace" --steps 5 --layers 3 --seed 2 >"$tmp/other.json"
ingest other "$tmp/other.json"
compare() { # A B
	run 0 "$profan" diff -q "$tmp/$1.db" "$tmp/$2.db" --format html \
		-o "$tmp/diff.html" || not_ok "diff $1 $2: page" "$tmp/err"
	"$PYTHON" -S "$top_srcdir/tests/report/check.py" "$profan" "$tmp/$1.db" \
		"$tmp/diff.html" "$tmp/$2.db" >"$tmp/checks" 2>"$tmp/err" ||
		not_ok "diff $1 $2: check.py" "$tmp/err"
	told "diff $1 $2"
}
compare train other
if grep -q '<td><abbr title="The steps of A and B lie .*>[a-zAB0-9.,%&; ]*</abbr><td>' \
	"$tmp/diff.html" && grep -q '<dt><abbr title=.*>Shift</abbr>' "$tmp/diff.html"
then
	ok "diff: how sure a change is is explained, and what a figure says"
else
	not_ok "diff: how sure a change is is explained, and what a figure says"
fi
compare train train
if grep -q 'Nothing changed: all counts per step are equal' \
	"$tmp/diff.html" && grep -q '<section id=unchanged>' "$tmp/diff.html"
then
	ok "diff: what is unchanged is said"
else
	not_ok "diff: what is unchanged is said"
fi
compare hostile hostile
# B begins with something before its steps
"$PYTHON" -S -c '
import json, sys
t = json.load(sys.stdin)
first = min(float(e["ts"]) for e in t["traceEvents"] if "ts" in e)
t["traceEvents"].append({"ph": "X", "cat": "cpu_op", "name": "aten::early",
    "pid": 1, "tid": 77, "ts": first - 7000, "dur": 3, "args": {}})
sys.stdout.write(json.dumps(t))' <"$tmp/other.json" >"$tmp/early.json"
ingest early "$tmp/early.json"
compare train early
if grep -q '"shift_ns": *[1-9]' "$tmp/diff.html"; then
	ok "diff: one side of the timeline is moved"
else
	not_ok "diff: one side of the timeline is moved"
fi
run 2 "$profan" diff "$tmp/train.db" "$tmp/other.db" -o "$tmp/x.html" &&
	ok "diff: --output needs --format html" ||
	not_ok "diff: --output needs --format html" "$tmp/err"

run 2 "$profan" diff "$tmp/train.db" "$tmp/other.db" --format html \
	-o "$tmp/x.html" --sort nonsense && [ ! -e "$tmp/x.html" ] &&
	ok "diff: no page in an order that there is not" ||
	not_ok "diff: no page in an order that there is not" "$tmp/err"

payloads() { # PAGE: how many groups of slices it has
	grep -c 'octet-stream" id="p[0-9]' "$1"
}
# other GPUs: only structure is compared, and that is said
sed 's/NVIDIA H100/NVIDIA H999/g' "$tmp/other.json" >"$tmp/gpu.json"
ingest gpu "$tmp/gpu.json"
compare train gpu
if grep -q '<div class=severe><dt>Comparable</dt> <dd><strong>no</strong>.*different: [^;]*GPU' \
	"$tmp/diff.html" && grep -q '<dt>GPU</dt> <dd>A NVIDIA H100.*, B NVIDIA H999' \
	"$tmp/diff.html" && grep -q 'times are not judged' "$tmp/diff.html"; then
	ok "diff: other GPUs are named, and times not judged"
else
	not_ok "diff: other GPUs are named, and times not judged"
fi
diff_page() { # A B OPTION...
	a=$1 b=$2
	shift 2
	run 0 "$profan" diff -q "$tmp/$a.db" "$tmp/$b.db" --format html \
		-o "$tmp/diff.html" "$@" || not_ok "diff $*: page" "$tmp/err"
	bytes=$(wc -c <"$tmp/diff.html")
}
for size in 100 110 120; do
	diff_page train other --max-html ${size}K
	if [ "$bytes" -gt $((size << 10)) ] &&
		grep -q 'octet-stream' "$tmp/diff.html"; then
		not_ok "diff: --max-html ${size}K is kept" "$bytes bytes"
	elif grep -q 'Not in the timeline: .* of B, .*--max-html 64M' \
		"$tmp/diff.html" ||
		grep -q 'There is no timeline' "$tmp/diff.html"; then
		ok "diff: --max-html ${size}K is kept, and says what is missing"
	else
		not_ok "diff: --max-html ${size}K says what is missing"
	fi
done
diff_page train other --max-html 64M
if grep -q 'Not in the timeline\|no timeline' "$tmp/diff.html"; then
	not_ok "diff: --max-html 64M has all"
else
	ok "diff: --max-html 64M has all"
fi
for want in full:8 gpu+ops:6 gpu:4 none:0; do
	diff_page train other --timeline ${want%:*}
	count=$(payloads "$tmp/diff.html")
	[ "$count" = "${want#*:}" ] && ok "diff: --timeline ${want%:*}" ||
		not_ok "diff: --timeline ${want%:*}" "$count blocks"
done
diff_page train other --timeline gpu
if grep -q 'Not in the timeline.*of B, as <code>--timeline</code> says' \
	"$tmp/diff.html"; then
	ok "diff: says what was not wanted"
else
	not_ok "diff: says what was not wanted"
fi
diff_page train other --source-url 'https://host.example/r/%f#L%l'
if grep -q 'href="https://host.example/r/[a-z_/.]*py#L[0-9]*"' \
	"$tmp/diff.html"; then
	ok "diff: --source-url"
else
	not_ok "diff: --source-url"
fi
run 2 "$profan" diff "$tmp/train.db" "$tmp/other.db" --source-url 'http://a/%f' &&
	run 2 "$profan" diff "$tmp/train.db" "$tmp/other.db" --max-html 8T &&
	ok "diff: odd sizes and URLs are refused" ||
	not_ok "diff: odd sizes and URLs are refused" "$tmp/err"
diff_page train other --step 2..3 --by kernel
if grep -q '<code>profan diff train.db other.db --by kernel --step 2..3 --f' \
	"$tmp/diff.html"; then
	ok "diff: the page names its command with what changes figures"
else
	not_ok "diff: the page names its command with what changes figures"
fi

# ---- the rules as a table ----
bad=
for option in '--limit 3' '--sort none' '--group-by-input-shape' \
	'--torch 2.4' '--header x' '--max-name-width 9'; do
	# shellcheck disable=SC2086
	run 2 "$profan" table verdicts "$tmp/train.db" $option || bad=$option
done
run 0 "$profan" table verdicts "$tmp/train.db" --step 2 || bad='--step 2'
if [ "$bad" ]; then
	not_ok "table verdicts: its own options only" "$bad" "$tmp/err"
else
	ok "table verdicts: its own options only"
fi

# ---- the commands that it names ----
run 0 "$profan" report "$tmp/train.db" --format json
"$PYTHON" -S -c '
import json, sys
for v in json.load(sys.stdin)["tables"]["verdicts"]:
    print(v["command"])' <"$tmp/out" >"$tmp/commands"
mkdir "$tmp/try"
while IFS= read -r line; do
	rm -f "$tmp/try/slice.json"
	if (cd "$tmp/try" && ln -sf ../train.db train.db &&
		eval "$line") >"$tmp/err" 2>&1; then
		ok "the command of a verdict works: ${line%% --from*}"
	else
		not_ok "the command of a verdict: $line" "$tmp/err"
	fi
done <"$tmp/commands"

# ---- units: the list of base/num.c is that of the page that is the program ----
"$PYTHON" -S - "$top_srcdir" >"$tmp/units" 2>&1 <<'END'
import re, sys
num, js, check = (open(f"{sys.argv[1]}/{file}").read() for file in (
    "src/base/num.c", "reports/app/document.js", "tests/report/check.py"))
units = {"%"}
for name in "pf_num_time_units", "byte_units":
    units |= set(re.findall('"(.*?)"', re.search(
        name + r"\[\w+\] = \{(.*?)\}", num, re.S)[1]))
glued = re.compile(re.search(r"text\.split\(\s*/\((.*)\)/\)", js)[1])
print("too few", *(u for u in units if not glued.fullmatch(f"1.50 {u}")))
print("not glued", *(u for u in ("steps", "x", "S", "m", "min", "GPUs")
                     if not glued.search(f"15 {u}.")))
print("checked", *sorted(
    set(re.search('UNITS = r"(.*)"', check)[1].split("|")) ^ units))
END
[ "$(cat "$tmp/units")" = 'too few
not glued steps x S m min GPUs
checked' ]
result "units are the same in C and in the page" "$tmp/units"

# ---- the same bytes ----
cp "$tmp/train.html" "$tmp/first.html"
(
	mkdir "$tmp/elsewhere" && cd "$tmp/elsewhere" || exit 1
	TZ=Asia/Tokyo LANG=de_DE.UTF-8 LC_ALL='' "$profan" report -q \
		"$tmp/train.db" -o ./b.html
)
same "the same page at another time and place" "$tmp/first.html" \
	"$tmp/elsewhere/b.html"
run 0 "$profan" report "$tmp/train.db" -o -
same "standard output" "$tmp/first.html" "$tmp/out"
if [ -e "$tmp/train.html.partial" ]; then
	not_ok "no partial file is left"
else
	ok "no partial file is left"
fi
run 3 "$profan" report "$tmp/train.db" -o "$tmp/nowhere/x.html" &&
	ok "a folder that is not there" ||
	not_ok "a folder that is not there" "$tmp/err"

# ---- sizes ----
for size in 60K 90K 120K; do
	page train --max-html "$size"
	bytes=$(wc -c <"$tmp/train.html")
	if grep -q 'Not in the timeline\|no timeline' "$tmp/train.html"; then
		ok "--max-html $size: says what is left out"
	else
		not_ok "--max-html $size: says what is left out" "$bytes bytes"
	fi
done
page train --max-html 400K
bytes=$(wc -c <"$tmp/train.html")
if [ "$bytes" -le 409600 ]; then
	ok "--max-html is kept"
else
	not_ok "--max-html is kept" "$bytes bytes"
fi
page train --timeline none
if grep -q 'octet-stream' "$tmp/train.html"; then
	not_ok "--timeline none"
else
	ok "--timeline none"
fi
page train --timeline gpu
if [ "$(payloads "$tmp/train.html")" = 2 ]; then # with the path
	ok "--timeline gpu"
else
	not_ok "--timeline gpu"
fi
for size in 0x8 M 8T -1 99999999999; do
	run 2 "$profan" report "$tmp/train.db" --max-html=$size ||
		not_ok "--max-html $size is refused" "$tmp/err"
done
ok "odd sizes are refused"

# ---- links to code ----
page train --source-url 'https://host.example/r/%f#L%l'
if grep -q 'href="https://host.example/r/[a-z_/.]*py#L[0-9]*"' \
	"$tmp/train.html"; then
	ok "--source-url"
else
	not_ok "--source-url" "$tmp/err"
fi
for url in 'http://a/%f' 'javascript:%f' 'https://a/b' 'https://a/%f"' \
	'https://a/%f x'; do
	run 2 "$profan" report "$tmp/train.db" --source-url "$url" ||
		not_ok "--source-url $url is refused" "$tmp/err"
done
ok "odd URLs are refused"
page hostile --source-url 'https://host.example/r/%f#L%l'
if grep -oE 'href="https[^"]*"' "$tmp/hostile.html" | grep -q '[<> ]\|\.\.'
then
	not_ok "--source-url: files are escaped" "$tmp/hostile.html"
else
	ok "--source-url: files are escaped"
fi

# ---- names without template arguments ----
cat >"$tmp/templates.py" <<'EOF'
"""How often template arguments of kernels stand on a page, and in timelines."""
import base64, gzip, html, json, re, subprocess, sys
profan, db, page = sys.argv[1:4]
rows = json.loads(subprocess.run(
    [profan, "query", db, "SELECT DISTINCT name FROM gpu_event JOIN event "
     "ON event.id = event_id WHERE name LIKE '%<%'", "--format", "json"],
    capture_output=True, check=True).stdout)
tails = {r["name"][r["name"].index("<"):][:12]
         for r in list(rows["tables"].values())[0]}
raw = open(page, "rb").read()
packed = "".join(gzip.decompress(base64.b64decode(data)).decode("latin-1")
                 for data in re.findall(rb'octet-stream"[^>]*>([^<]*)', raw))
island = "".join(re.findall(r'id="tl">([^<]*)', raw.decode()))
packed += island.replace("\\u003c", "<").replace("\\u003e", ">")
text = html.unescape(re.sub(r"<script.*?</script>", "", raw.decode(),
                            flags=re.S))
titles = html.unescape(" ".join(re.findall('title="([^"]*)"', raw.decode())))
for part in (text, titles, packed):
    print(sum(part.count(t) for t in tails))
print(len(tails))
EOF
templates() { # DB PAGE: counts in text, titles and timeline; names
	"$PYTHON" -S "$tmp/templates.py" "$profan" "$tmp/$1" "$tmp/$2" |
		tr '\n' ' '
}
check_names() { # WHAT COUNTS WANTED: "some" or "none"
	# shellcheck disable=SC2086
	set -- "$1" "$3" $2
	case $2:$3:$4:$5 in
	none:0:0:0) ok "$1" ;;
	some:0:* | some:*:0:* | some:*:*:0 | none:*) not_ok "$1" "$*" ;;
	*) ok "$1" ;;
	esac
}
page train
check_names "names are whole" "$(templates train.db train.html)" some
page train --names short
check_names "--names short" "$(templates train.db train.html)" none
if grep -q 'vectorized_elementwise_kernel' "$tmp/train.html"; then
	ok "--names short leaves the rest of names"
else
	not_ok "--names short leaves the rest of names"
fi
NAMES=short "$PYTHON" -S "$top_srcdir/tests/report/check.py" "$profan" \
	"$tmp/train.db" "$tmp/train.html" >"$tmp/checks" 2>"$tmp/err"
if grep -q '^ok figures' "$tmp/checks" && ! grep '^not ok' "$tmp/checks"; then
	ok "--names short: tables, sentences and timeline"
else
	not_ok "--names short: tables, sentences and timeline" "$tmp/checks" \
		"$tmp/err"
fi
for options in '' --redact; do
	# shellcheck disable=SC2086
	diff_page train other --names short $options
	check_names "diff --names short $options" \
		"$(templates train.db diff.html)" none
done
diff_page train other
check_names "diff: names are whole" "$(templates train.db diff.html)" some
run 2 "$profan" report "$tmp/train.db" --names long &&
	ok "an odd choice of names" || not_ok "an odd choice of names" "$tmp/err"
page train

# Before torch 1.10 records say no totals: a peak is not known, not 0.
mkdir "$tmp/relative"
{
	printf '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", '
	printf '"pid": 1, "tid": 1, "ts": 1, "dur": 99}'
	for at in 10 20 30; do
		printf ', {"ph": "i", "s": "t", "cat": "cpu_instant_event", '
		printf '"name": "[memory]", "pid": 1, "tid": 1, "ts": %d, ' $at
		printf '"args": {"Device Type": 1, "Device Id": 0, '
		printf '"Bytes": 1024}}'
	done
	printf ']}'
} >"$tmp/relative/relative.json"
ingest relative "$tmp/relative/relative.json"
page relative
if grep -q 'at most 3.0 KiB more than at the start, .*into the capture' \
	"$tmp/relative.html" && ! grep -q 'peak 0' "$tmp/relative.html"; then
	ok "a peak without totals is not 0"
else
	not_ok "a peak without totals is not 0" "$tmp/relative.html"
fi

# An annotation may have the name of a cause: the cause is found all the same.
mkdir "$tmp/named"
"$mktrace" --steps 3 --layers 2 --plant loader |
	sed 's/"Optimizer.step#AdamW.step"/"data loading"/' \
		>"$tmp/named/named.json"
ingest named "$tmp/named/named.json"
for options in '' --redact; do
	# shellcheck disable=SC2086
	page named $options
	grep -o 'id=A1><p>[^(]*' "$tmp/named.html"
done | uniq >"$tmp/found"
if [ "$(wc -l <"$tmp/found")" -eq 1 ]; then
	ok "--redact: an annotation with the name of a cause"
else
	not_ok "--redact: an annotation with the name of a cause" "$tmp/found"
fi

# ---- names of people, machines and folders ----
cat >"$tmp/private.py" <<'EOF'
import json, sys
e, t = [], 0
e.append({"ph": "M", "name": "thread_name", "pid": 4242, "tid": 987654,
          "args": {"name": "planted-thread"}})
e.append({"ph": "M", "name": "process_name", "pid": 4242, "tid": 0,
          "args": {"name": "planted-process"}})
for n in range(9):
    for cat, name, at, dur in (
            ("user_annotation", "ProfilerStep#%d" % n, 0, 900),
            ("user_annotation", "planted-run", 1, 890),
            ("python_function", "/home/planted/deep/src/train.py(3): go",
             2, 880),
            ("python_function", "/home/planted/deep/model.py(4): fw", 3, 870),
            ("python_function",
             "/opt/planted/lib/python3.11/site-packages/lib/x.py(7): f",
             4, 860),
            ("python_function", "C:\\\\planted\\\\a b\\\\w.py(9): w", 5, 850),
            ("cpu_op", "aten::mm", 10, 100),
            ("python_function",
             "/home/planted/a planted/main.py(1): <module>", 901, 95),
            ("cpu_op", "aten::add", 910, 70)):
        e.append({"ph": "X", "cat": cat, "name": name, "pid": 4242,
                  "tid": 987654, "ts": t + at, "dur": dur, "args": {}})
    e.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel",
              "pid": 4242, "tid": 987654, "ts": t + 20, "dur": 5,
              "args": {"correlation": n + 1}})
    e.append({"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7,
              "ts": t + 600, "dur": 50, "args": {"correlation": n + 1,
              "device": 0, "stream": 7}})
    t += 1000
json.dump({"traceName": "/home/planted/t.json", "schemaVersion": 1,
           "distributedInfo": {"rank": 0, "world_size": 1,
                               "host": "planted-host"},
           "planted-key": "planted", "traceEvents": e}, sys.stdout)
EOF
cat >"$tmp/open.py" <<'EOF'
import base64, gzip, re, sys
text = open(sys.argv[1], "rb").read()
for data in re.findall(rb'octet-stream" id="p.">([^<]*)', text):
    text += gzip.decompress(base64.b64decode(data))
sys.stdout.buffer.write(text)
EOF
mkdir "$tmp/planted"
"$PYTHON" -S "$tmp/private.py" >"$tmp/planted/private.json"
ingest private "$tmp/planted/private.json"
page private --redact
"$PYTHON" -S "$tmp/open.py" "$tmp/private.html" >"$tmp/all"
for format in md text csv json; do
	run 0 "$profan" report "$tmp/private.db" --redact --format $format ||
		not_ok "--redact --format $format" "$tmp/err"
	cat "$tmp/out" >>"$tmp/all"
done
if grep -aoE '.{30}(planted|987654|4242|/home|/opt).{20}' "$tmp/all" \
	>"$tmp/found"; then
	not_ok "--redact leaves no name of a person, machine or folder" \
		"$tmp/found"
elif grep -aq 'train.py' "$tmp/all" && grep -aq '>main.py &lt;module' "$tmp/all"; then
	ok "--redact leaves no name of a person, machine or folder"
else
	not_ok "--redact leaves file names" "$tmp/private.html"
fi
# the annotation of the other one counts
sed 's/planted-run", 1/planted-step %d" % n, 1/; s/gemm/planted-gemm/' \
	"$tmp/private.py" | "$PYTHON" -S - >"$tmp/planted/counts.json"
ingest counts "$tmp/planted/counts.json"
: >"$tmp/all"
for pair in private:counts counts:counts; do
	a=${pair%:*} b=${pair#*:}
	diff_page "$a" "$b" --redact
	"$PYTHON" -S "$tmp/open.py" "$tmp/diff.html" >>"$tmp/all"
	for format in md text csv json; do
		run 0 "$profan" diff "$tmp/$a.db" "$tmp/$b.db" --redact \
			--columns count --format $format ||
			not_ok "diff --redact --format $format" "$tmp/err"
		cat "$tmp/out" >>"$tmp/all"
	done
done
# names of kernels are the program's, and stay
if sed 's/planted-gemm//g' "$tmp/all" |
	grep -aoE '.{30}(planted|987654|4242|/home|/opt|/tmp).{20}' \
		>"$tmp/found"; then
	not_ok "diff --redact leaves no name of a person, machine or folder" \
		"$tmp/found"
elif grep -aq 'annotation [0-9]' "$tmp/all" && grep -aq 'train.py' "$tmp/all"
then
	ok "diff --redact leaves no name of a person, machine or folder"
else
	not_ok "diff --redact numbers annotations" "$tmp/diff.html"
fi
run 0 "$profan" diff "$tmp/private.db" "$tmp/counts.db" --format json
"$PYTHON" -S -c 'import json, sys
print(json.dumps(json.load(sys.stdin)["tables"]["waterfall"]))' \
	<"$tmp/out" >"$tmp/open-figures"
run 0 "$profan" diff "$tmp/private.db" "$tmp/counts.db" --format json --redact
"$PYTHON" -S -c 'import json, sys
print(json.dumps(json.load(sys.stdin)["tables"]["waterfall"]))' \
	<"$tmp/out" >"$tmp/redacted-figures"
same "diff: figures stay what they are" "$tmp/open-figures" \
	"$tmp/redacted-figures"
page private
"$PYTHON" -S "$tmp/open.py" "$tmp/private.html" >"$tmp/all"
if grep -aq 'lib/x.py' "$tmp/all" && ! grep -aq 'site-packages' "$tmp/all"; then
	ok "paths begin with their package"
else
	not_ok "paths begin with their package"
fi

# ---- several ranks: the first, and of the others the most idle ----
cat >"$tmp/rank.py" <<'EOF'
import json, sys
folder, later, first = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def write(source, ranks, later, first):
    t = json.load(open(folder + source))
    for e in t["traceEvents"]:
        if "ts" in e:
            e["ts"] = float(e["ts"]) + later
        if e.get("name", "").startswith("ProfilerStep#"):
            e["name"] = "ProfilerStep#%d" % (int(e["name"][13:]) + first)
    t["distributedInfo"] = {"rank": "RANK", "world_size": 4}
    text = json.dumps(t)
    for rank in ranks:
        with open(folder + "/r%d.json" % rank, "w") as f:
            f.write(text.replace('"RANK"', str(rank)))

write("/train.json", (0, 1, 3), 0, 0)
write("/idle.json", (2,), later, first)
EOF
"$mktrace" --steps 5 --layers 2 --plant loader >"$tmp/idle.json"
make_ranks() { # NAME LATER FIRST: rank 2 waits for data
	"$PYTHON" -S "$tmp/rank.py" "$tmp" "$2" "$3"
	run 0 "$profan" ingest -q "$tmp/r0.json" "$tmp/r1.json" \
		"$tmp/r2.json" "$tmp/r3.json" -o "$tmp/$1.db" ||
		not_ok "$1: ingest" "$tmp/err"
}
says() { # NAME TEXT WHAT
	if grep -q "$2" "$tmp/$1.html"; then
		ok "$1: $3"
	else
		grep -o 'The timeline shows.*' "$tmp/$1.html" >"$tmp/found"
		not_ok "$1: $3" "$tmp/found"
	fi
}
make_ranks ranks 0 0
check ranks
says ranks 'rank 0, the first of 4 traces, and rank 2, of the others the one' \
	"the page says which ranks it shows"
says ranks 'clock that they were recorded with' "the clock is the traces' own"
says ranks 'profan report ranks.db --rank N' "and how to get others"
keys=$(grep -o '"key": *"r[0-9]*[.][a-z]*"' "$tmp/ranks.html" |
	tr -d ' \n')
want='"key":"r0.gpu""key":"r0.path""key":"r0.ops""key":"r0.python"'
want=$want'"key":"r2.gpu""key":"r2.path""key":"r2.ops""key":"r2.python"'
[ "$keys" = "$want" ] && ok "ranks: groups" || not_ok "ranks: groups" "$keys"
page ranks --rank 3
if [ "$(payloads "$tmp/ranks.html")" = 4 ] &&
	! grep -q 'The timeline shows' "$tmp/ranks.html"; then
	ok "ranks: --rank shows one"
else
	not_ok "ranks: --rank shows one"
fi
page ranks --max-html 300K
bytes=$(wc -c <"$tmp/ranks.html")
if [ "$bytes" -le 307200 ]; then
	ok "ranks: --max-html is kept"
else
	not_ok "ranks: --max-html is kept" "$bytes bytes"
fi
page ranks --max-html $((bytes >> 10))K
says ranks 'Not in the timeline.*of rank 2' "what is left out is said by rank"
make_ranks later 60000000 0
page later
says later 'moved so that a step begins in both' "ranks of another minute"
make_ranks other-steps 60000000 1000
page other-steps
says other-steps 'moved so that both begin' "ranks without a step in common"

# ---- real traces, where they are ----
for name in h100_bert_small two_ranks_rank-0 v100_resnet50_workers0 \
	cpu_only_rank34 b200_vllm_eager mi300_vllm_graph_decode; do
	file=$shared/traces/$name.json.gz
	if [ ! -f "$file" ]; then
		skip "$name" "it is not here"
		continue
	elif ! is_quick "$file"; then
		skip "$name" "NOT TESTED: make check-long does"
		continue
	fi
	ingest "$name" "$file"
	check "$name"
done
tap_done

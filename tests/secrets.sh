# SPDX-License-Identifier: MIT
# A secret of its own in every text of a trace: --redact shows none but those
# it says it keeps, in any output.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
[ -n "$PYTHON" ] || skip_all "python3 is missing"
secrets="$PYTHON -S $top_srcdir/tests/secrets.py"
$secrets make "$tmp" >"$tmp/names" || exit 99
{
	read -r rank0 && read -r rank1 && read -r one && read -r two
} <"$tmp/names"
"$profan" ingest -q "$rank0" -o "$one" &&
	"$profan" ingest -q "$rank0" "$rank1" -o "$two" || exit 99

# environments are not even stored, whatever form they have
echo '{"environ":["A=SECRET1"],"environment_variables":{"B":"SECRET2"},
"nested":{"env":["C=SECRET3"]},"traceEvents":[{"ph":"X","name":"a",
"cat":"cpu_op","ts":1,"dur":1,"pid":1,"tid":1,"args":{"x":1}}]}' \
	>"$tmp/environment.json"
"$profan" ingest -q "$tmp/environment.json" -o "$tmp/environment.db" &&
	[ -s "$tmp/environment.db" ] &&
	! grep -a SECRET "$tmp/environment.db" >"$tmp/secret"
result "lists and objects of an environment are not stored" "$tmp/secret"

: >"$tmp/shown"
none() { # NAME: nothing in $tmp/page that is not kept
	$secrets find "$tmp" "$tmp/page" >"$tmp/found" || exit 99
	cat "$tmp/found" >>"$tmp/shown"
	! grep -v '^kept: ' "$tmp/found" >"$tmp/secret"
	result "$1" "$tmp/secret"
}
for db in "$one" "$two"; do
	for format in html md text csv json; do
		run 0 "$profan" report --redact -f $format -o - "$db" ||
			run 0 "$profan" report --redact -f $format "$db" ||
			not_ok "report $format" "$tmp/err"
		cat "$tmp/out" "$tmp/err" >"$tmp/page"
		none "report of ${db##*xw}, $format"
	done
	for format in html md text csv json; do
		case $format in html) set -- -o - ;; *) set -- ;; esac
		run 0 "$profan" diff --redact --columns count -f $format \
			"$@" "$db" "$two" || not_ok "diff $format" "$tmp/err"
		cat "$tmp/out" "$tmp/err" >"$tmp/page"
		none "diff of ${db##*xw} and two, $format"
	done
done
for n in 3 4; do # other captures
	sed "s/\"record_shapes\": 1/\"record_shapes\": $n/" "$rank0" \
		>"$rank0.$n.json"
	"$profan" ingest -q "$rank0.$n.json" -o "$one$n" || exit 99
done
run 0 "$profan" diff --redact "$one" "${one}3" -- "${one}4" "$two" ||
	not_ok "diff of four" "$tmp/err"
cat "$tmp/out" "$tmp/err" >"$tmp/page"
none "diff of several captures"

# an annotation that is called as one of our words
cat >"$tmp/ours.json" <<'EOF'
[{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1","pid":1,"tid":1,"ts":0,"dur":90},
{"ph":"X","cat":"user_annotation","name":"launch latency","pid":1,"tid":1,"ts":1,"dur":80},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":2,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":10,"dur":50,"args":{"device":0,"stream":7,"correlation":1}}]
EOF
run 0 "$profan" ingest -q "$tmp/ours.json" -o "$tmp/ours.db"
run 0 "$profan" report --redact -f html -o - "$tmp/ours.db"
sed 's/<[^>]*>/ /g' "$tmp/out" >"$tmp/page"
grep -q '0 ns *10.0 us *launch latency *cudaLaunchKernel *annotation 1' \
	"$tmp/page"
result "our own words stay" "$tmp/page"

# the search finds what there is
sort -u "$tmp/shown" >"$tmp/kept"
[ "$(wc -l <"$tmp/kept")" -gt 20 ]
result "what is kept is there" "$tmp/kept"
run 0 "$profan" report -o - "$one" || not_ok "a page" "$tmp/err"
mv "$tmp/out" "$tmp/page"
$secrets find "$tmp" "$tmp/page" | grep -v '^kept: ' >"$tmp/found"
[ "$(wc -l <"$tmp/found")" -gt 25 ]
result "without --redact there are more" "$tmp/found"
tap_done

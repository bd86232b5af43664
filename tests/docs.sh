# SPDX-License-Identifier: MIT
# Help, man page and completion against the tables of commands and options,
# and the keys of JSON output against the man page.
. "${top_srcdir:=$(cd "$(dirname "$0")/.." && pwd)}/tests/tap.sh"
man=$top_builddir/src/profan.1

# commands as "profan help" lists them
"$profan" help >"$tmp/help" || not_ok "help" "$tmp/help"
awk '/^Options:/ { exit } /^  [a-z]/ { print $1 }' "$tmp/help" >"$tmp/commands"
[ -s "$tmp/commands" ]
result "help lists commands" "$tmp/help"

# in groups that the numbers of the entries do not part
sed -n '/^Options:/,$d; s/^\([A-Z].*[^.]\):$/\1/p' "$tmp/help" >"$tmp/groups"
[ "$(wc -l <"$tmp/groups")" = 5 ] && [ "$(sort -u "$tmp/groups" | wc -l)" = 5 ]
result "help has five groups" "$tmp/groups"

# option names in a command's --help, and in a part of the man page
help_options() {
	awk '/^Options:/ { on = 1; next } /^$/ { on = 0 } on' "$1" |
		grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' | sed 's/^ *//' | sort
}
man_options() { # FILE SECTION-PATTERN
	sed 's/\\-/-/g; s/\\f[A-Z]//g' "$1" |
		awk -v part="$2" '
		/^\.S[SH] / { on = index($2 " " $3 " " $4 " " $5, part) == 1; next }
		/^\.TP/ { head = 1; next }
		on && head { print }
		{ head = 0 }' |
		sed 's/^\.BR* //; s/ ", " /, /' |
		grep -oE '^(-[a-zA-Z], )?--[a-z-]+' | sort
}

man_options "$man" 'Options of every command' >"$tmp/common"
for command in $(cat "$tmp/commands"); do
	if ! run 0 "$profan" "$command" --help; then
		not_ok "$command: --help" "$tmp/err"
		continue
	fi
	ok "$command: --help"
	cp "$tmp/out" "$tmp/usage"
	awk 'length($0) > 80 { bad = 1 } END { exit bad }' "$tmp/usage"
	result "$command: help has at most 80 columns" "$tmp/usage"
	run 0 "$profan" help "$command"
	same "$command: 'help $command' is the same" "$tmp/usage" "$tmp/out"
	help_options "$tmp/usage" >"$tmp/want"
	{
		man_options "${man%.1}-$command.1" DESCRIPTION
		case $(cat "$tmp/usage") in
		*--sort\ COLUMN*) man_options "$man" 'Options of every analysis' ;;
		esac
		case $(cat "$tmp/usage") in
		*--width*) cat "$tmp/common" ;;
		*) grep -vE -- '--(format|width|color)$' "$tmp/common" ;;
		esac
	} | sort >"$tmp/got"
	same "$command: options of the man page" "$tmp/want" "$tmp/got"
done

grep -A1 '^\.SH BUGS' "$man" >"$tmp/bugs"
[ "$(grep -cE '<[^@>]+@[^>]+>.*<https:[^>]+>' "$tmp/bugs")" = 1 ]
result "the man page says where to write" "$tmp/bugs"

# and no command that is not there
sed -n 's/^\.BR profan\\-\([a-z]*\) (1)/\1/p' "$man" | sort >"$tmp/got"
sort "$tmp/commands" >"$tmp/want"
same "commands of the man page" "$tmp/want" "$tmp/got"

# rules that pages name are there
{
	cut -d, -f1 "$top_srcdir/tests/golden/table-verdicts/out"
	echo V0 # nothing found
} >"$tmp/rules"
grep -ohwE '[AV][0-9]{1,2}' "$man" "${man%.1}"-*.1 \
	"$top_srcdir"/docs/guide/*.md | sort -u | grep -vxFf "$tmp/rules" >"$tmp/bad"
[ ! -s "$tmp/bad" ]
result "rules that pages name are there" "$tmp/bad"

# words in quotes on the page of causes are those that help explains
tr '\n' ' ' <"$top_srcdir/docs/guide/gpu-idle.md" |
	grep -oE '`[a-z]+( [a-z]+)*`' | tr -d '`' | grep -v '^profan ' |
	while IFS= read -r word; do
		"$profan" help "$word" >"$tmp/out" 2>&1 || echo "$word"
	done >"$tmp/bad"
[ ! -s "$tmp/bad" ]
result "causes of the guide are explained" "$tmp/bad"

# what whatis(1) shows
for page in "$man" "${man%.1}"-*.1; do
	grep -qE '^profan.* [\\]- [a-z]' "$page" || echo "$page"
done >"$tmp/bad"
[ ! -s "$tmp/bad" ]
result "the man pages say in a line what they are of" "$tmp/bad"

if command -v man >/dev/null 2>&1 && man --version 2>/dev/null |
	grep -q '^man '; then
	for page in "$man" "${man%.1}"-*.1; do
		MANWIDTH=80 man --warnings -l "$page" >"$tmp/out" 2>>"$tmp/err"
		[ -s "$tmp/out" ] || echo "$page: empty" >>"$tmp/err"
	done
	[ ! -s "$tmp/err" ]
	result "the man pages are well formed" "$tmp/err"
else
	skip "the man pages are well formed" "man is missing"
fi

run 2 "$profan" help 'no such word' && grep -q "help words" "$tmp/err"
result "who asks for a word that is not there is told of those that are"

# the example of ARCHITECTURE.md compiles
mkdir -p "$tmp/example/src/analysis/time" "$tmp/example/src/cmd"
awk -v out="$tmp/example/" '
	/^```c$/ { want = 1; next }
	/^```$/ { file = ""; next }
	want { file = out $2; sub(/:$/, "", file); want = 0 }
	file { print > file }' "$top_srcdir/ARCHITECTURE.md"
for file in "$tmp"/example/src/*/*.c "$tmp"/example/src/*/*/*.c; do
	# shellcheck disable=SC2086  # a compiler may have arguments
	${CC:-cc} -std=gnu11 -Wall -Wextra -Werror -fsyntax-only \
		-I"$top_builddir" -I"$tmp/example/src" -I"$top_srcdir/src" "$file" 2>"$tmp/err"
	result "the example compiles: ${file##*/}" "$tmp/err"
done

# completion: the shells that are here must take it
for shell in bash zsh fish; do
	if ! run 0 "$profan" help --completion "$shell"; then
		not_ok "completion for $shell" "$tmp/err"
		continue
	fi
	cp "$tmp/out" "$tmp/script"
	if ! command -v "$shell" >/dev/null 2>&1; then
		skip "completion for $shell" "$shell is missing"
	elif "$shell" -n "$tmp/script" 2>"$tmp/err"; then
		ok "completion for $shell"
	else
		not_ok "completion for $shell" "$tmp/err"
	fi
done
if command -v bash >/dev/null 2>&1; then
	cat >"$tmp/ask" <<'EOF'
source <("$profan" help --completion bash)
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _profan; echo "${COMPREPLY[*]}"; }
ask profan inf
ask profan info --form
ask profan info --format ''
ask profan help inf
ask profan table ver
ask profan table x ver
ask profan info ver
EOF
	formats=$("$profan" info --help | sed -n "s/.*-f, --format *//p")
	printf 'info\n--format\n%s\ninfo\nverdicts\n\n\n' \
		"$(echo "$formats" | tr '|' ' ')" >"$tmp/want"
	profan=$profan bash "$tmp/ask" >"$tmp/got" 2>&1
	same "bash completes commands, options and words" "$tmp/want" "$tmp/got"
fi

# the keys of "profan info --format json" are those of the man page
if [ -z "$PYTHON" ]; then
	skip "keys of JSON" "python3 is missing"
	tap_done
fi
cat >"$tmp/keys.py" <<'EOF'
import json, sys
doc = json.load(sys.stdin)
assert sorted(doc) == [
    "command", "notes", "scalars", "tables", "version"], sorted(doc)
print("scalars:", ", ".join(doc["scalars"]))
for name, rows in doc["tables"].items():
    for row in rows[:1]:
        print(name + ":", ", ".join(row))
EOF
"$mktrace" --steps 2 --layers 1 >"$tmp/t.json" &&
	run 0 "$profan" ingest -q "$tmp/t.json" -o "$tmp/t.db" &&
	run 0 "$profan" info "$tmp/t.db" --format json &&
	"$PYTHON" -S "$tmp/keys.py" <"$tmp/out" >"$tmp/keys" 2>"$tmp/err" ||
	not_ok "JSON of info" "$tmp/err"
awk '/^The tables of/ { on = 1 } /^\.SH/ { on = 0 }
	on && /^\.TP/ { if (line) print line; line = ""; head = 1; next }
	on && head { sub(/^\.B /, ""); line = $0 ":"; head = 0; next }
	on && line { line = line " " $0 }
	END { print line }' "$man" >"$tmp/documented"
while IFS= read -r line; do
	if grep -qxF -- "$line" "$tmp/documented"; then
		ok "JSON keys: ${line%%:*}"
	else
		not_ok "JSON keys: $line" "$tmp/documented"
	fi
done <"$tmp/keys"
tap_done

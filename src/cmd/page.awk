# SPDX-License-Identifier: MIT
# The page of a command: awk -v window=FILE -f page.awk cmd_NAME.c NAME.1
# The entry in cmd_NAME.c has what --help prints, too: the summary, the details
# that the description begins with, and the examples.  NAME.1 begins with
# ".SS profan NAME ARGUMENTS"; more forms follow .TQ, then .PP.  @window@ stands
# for the options of FILE, @help@ below an option for what --help says of it.

function roff(text) {
	gsub(/\\/, "\\e", text)
	gsub(/-/, "\\-", text)
	return text
}
# Names of commands and options are bold; lines have at most 79 columns.
function prose(text,    word, count, line, out, i) {
	text = roff(text)
	gsub(/'profan [^']*'/, "\\fB&\\fP", text)
	gsub(/\\fB'/, "\\fB", text)
	gsub(/'\\fP/, "\\fP", text)
	gsub(/\\-\\-[a-z][a-z\\-]*/, "\\fB&\\fP", text)
	gsub(/\n\n/, " .PP ", text)
	count = split(text, word, / +/)
	for (i = 1; i <= count; i++) {
		if (word[i] == ".PP") {
			out = out line "\n.PP\n"
			line = ""
		} else if (!line) {
			line = word[i]
		} else if (length(line " " word[i]) < 80) {
			line = line " " word[i]
		} else {
			out = out line "\n"
			line = (word[i] ~ /^[.']/ ? "\\&" : "") word[i]
		}
	}
	return out line
}
function entry(line, part) {
	while (match(line, /"([^"\\]|\\.)*"/)) {
		part = substr(line, RSTART + 1, RLENGTH - 2)
		line = substr(line, RSTART + RLENGTH)
		gsub(/\\n/, "\n", part)
		gsub(/\\"/, "\"", part)
		text[field] = text[field] part
	}
	if (line ~ /,$/)
		field = ""
}
function describe() {
	printf ".SH DESCRIPTION\n%s\n", prose(text["details"])
	has_text = 1
}
# { 0, "name", ARGUMENT, "help" " more", PF_OPT_...
function option(row,    name) {
	match(row, /"[^"]*"/)
	name = substr(row, RSTART + 1, RLENGTH - 2)
	row = substr(row, RSTART + RLENGTH)
	sub(/^,[ \t]*("([^"\\]|\\.)*"|[A-Za-z_]+),/, "", row)
	field = "help " name
	entry(row)
	field = ""
}
FILENAME ~ /\.c$/ && /^\t\{ [^ ]+, "/ { row = "" ; is_option = 1 }
FILENAME ~ /\.c$/ && is_option {
	row = row $0
	if ((end = index(row, "PF_OPT_"))) {
		option(substr(row, 1, end - 1))
		is_option = 0
	}
	next
}
FILENAME ~ /\.c$/ {
	if (match($0, /^\t\.(summary|details|examples) =/))
		field = substr($1, 2)
	if (field)
		entry($0)
	next
}
FNR == 1 { print; next }
FNR == 2 {
	name = $3
	form = substr($0, index($0, " " name) + length(name) + 2)
	printf ".TH PROFAN\\-%s 1 \"%s\" profan \"User commands\"\n", \
		toupper(name), date
	printf ".SH NAME\nprofan\\-%s \\- %s\n", name, roff(text["summary"])
	printf ".SH SYNOPSIS\n.B profan %s\n%s\n", name, form
	next
}
$0 == ".TQ" && !has_text { print ".br"; is_form = 1; next }
is_form && $0 != ".PP" { print; next }
!has_text {
	describe()
	if (is_form) {
		is_form = 0
		next
	}
}
$0 == "@window@" {
	while ((getline line < window) > 0)
		print line
	next
}
$0 == "@help@" {
	if (!text["help " of])
		exit 1
	print prose(toupper(substr(text["help " of], 1, 1)) substr(text["help " of], 2) ".")
	next
}
match($0, /\\-\\-[a-z\\-]+/) {
	of = substr($0, RSTART + 4, RLENGTH - 4)
	gsub(/\\/, "", of)
}
{ print }
END {
	if (!has_text)
		describe()
	if (text["examples"])
		printf ".SH EXAMPLES\n.nf\n%s.fi\n", roff(text["examples"])
	print ".SH SEE ALSO"
	print ".BR profan (1):"
	print "options of every command and of every analysis, formats and the keys of"
	print "JSON, exit status, environment, files"
}

# SPDX-License-Identifier: MIT
# The page of a command, from its part: awk -v summary=WORDS -f page.awk PART.
# A part begins with ".SS profan NAME ARGUMENTS"; more forms follow .TQ, then .PP.
NR == 1 { print; next }
NR == 2 {
	name = $3
	form = substr($0, index($0, " " name) + length(name) + 2)
	printf ".TH PROFAN\\-%s 1 \"\" profan \"User commands\"\n", toupper(name)
	printf ".SH NAME\nprofan\\-%s \\- %s\n", name, summary
	printf ".SH SYNOPSIS\n.B profan %s\n%s\n", name, form
	next
}
$0 == ".TQ" && !has_text { print ".br"; is_form = 1; next }
is_form && $0 != ".PP" { print; next }
!has_text {
	print ".SH DESCRIPTION"
	has_text = 1
	if (is_form) {
		is_form = 0
		next
	}
}
{ print }
END {
	print ".SH SEE ALSO"
	print ".BR profan (1):"
	print "options of every command and of every analysis, formats and the keys of"
	print "JSON, exit status, environment, files"
}

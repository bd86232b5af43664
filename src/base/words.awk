# SPDX-License-Identifier: MIT
# Writes data/words.csv as C source.  The rows of a word follow each other.
BEGIN {
	FS = ","
	print "/* Made by src/base/words.awk; do not edit. */"
	print "#include \"events/names.h\""
	print "\nconst struct pf_word_row pf_word_rows[] = {"
}
NR > 1 {
	text = substr($0, length($1 $2) + 3)
	if ($1 != last)
		first[++words] = sprintf("\t[PF_WORD_%s] = %d,", toupper($1),
			NR - 2)
	last = $1
	printf "\t{ PF_WORD_%s, PF_MATCH_%s, sizeof(\"%s\") - 1, \"%s\" },\n",
		toupper($1), toupper($2), text, text
}
END {
	print "};\n"
	print "const size_t pf_word_row_count ="
	print "\tsizeof(pf_word_rows) / sizeof(*pf_word_rows);\n"
	print "const unsigned short pf_word_first[PF_WORD_COUNT] = {"
	for (i = 1; i <= words; i++)
		print first[i]
	print "};"
}

/* SPDX-License-Identifier: MIT */
/*
 * Small readers and writers of text, a few microseconds each.  The first byte
 * chooses one; what each must do is said beside it.
 */
#include "config.h"

#include "fuzz/fuzz.h"

#include <csv.h>
#include <string.h>

#include "base/demangle.h"
#include "base/json.h"
#include "base/num.h"
#include "base/opt.h"
#include "base/utf8.h"
#include "events/names.h"
#include "show/escape.h"
#include "show/render.h"
#include "store/argtext.h"
#include "page/redact.c"
#include "formats/event.h"
#include "formats/number.h"
#include "formats/json/mend.h"

/* A NUL behind, exactly as long, so that sanitizers see every overrun. */
static char *text_of(const uint8_t *data, size_t size)
{
	char *s = malloc(size + 1);

	FUZZ_CHECK(s);
	memcpy(s, data, size);
	s[size] = '\0';
	return s;
}

/* No byte acts, but those that are allowed. */
static bool is_visible_but(const struct pf_buf *b, const char *allowed)
{
	uint32_t code;

	for (size_t i = 0, n; i < b->len; i += n) {
		n = pf_utf8_next(b->data + i, b->len - i, &code);
		if (!n || code == PF_UTF8_BAD || code == 127 || !code ||
		    (code < ' ' && !strchr(allowed, (int)code)))
			return false;
	}
	return true;
}

static bool is_visible(const struct pf_buf *b)
{
	return is_visible_but(b, "\x7f");
}

/* What was written as JSON and read back is written the same. */
static void json(const char *s, size_t len)
{
	struct pf_buf out = { 0 }, back = { 0 }, again = { 0 };

	pf_jsonw_quote(&out, s, len, len & 1);
	FUZZ_CHECK(out.len >= 2 && out.data[0] == '"' &&
		   out.data[out.len - 1] == '"');
	FUZZ_CHECK(is_visible(&out));
	FUZZ_CHECK(pf_json_unescape(out.data + 1, out.len - 2, &back));
	pf_jsonw_quote(&again, back.data, back.len, len & 1);
	/* but a NUL, which never comes back */
	FUZZ_CHECK(memchr(s, 0, len) ||
		   (again.len == out.len &&
		    !memcmp(again.data, out.data, out.len)));
	pf_buf_clear(&back);
	pf_json_unescape(s, len, &back);
	pf_buf_release(&out);
	pf_buf_release(&back);
	pf_buf_release(&again);
}

/* Nothing that ends a text or an attribute, or acts. */
static void html(const char *s, size_t len)
{
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, "");
	pf_escape_html(&out, s, len);
	FUZZ_CHECK(strcspn(out.data, "<>\"'") == out.len);
	for (const char *p = out.data; (p = strchr(p, '&')); p++)
		FUZZ_CHECK(!strncmp(p, "&amp;", 5) || !strncmp(p, "&lt;", 4) ||
			   !strncmp(p, "&gt;", 4) || !strncmp(p, "&#", 2) ||
			   !strncmp(p, "&quot;", 6));
	pf_buf_release(&out);
}

/* No line break, no bar without a backslash before it, an even code span. */
static void md(const char *s, size_t len)
{
	struct pf_buf out = { 0 };

	pf_buf_adds(&out, "");
	pf_escape_md(&out, s, len);
	FUZZ_CHECK(is_visible(&out));
	for (size_t i = 0; i < out.len; i++)
		FUZZ_CHECK(out.data[i] != '|' ||
			   (i && out.data[i - 1] == '\\'));
	pf_buf_clear(&out);
	pf_escape_md_line(&out, s, len);
	FUZZ_CHECK(is_visible(&out));
	pf_buf_clear(&out);
	pf_escape_md_words(&out, s, len);
	FUZZ_CHECK(is_visible(&out));
	pf_buf_clear(&out);
	pf_escape_md_sentence(&out, s, len);
	FUZZ_CHECK(is_visible(&out));
	pf_buf_release(&out);
}

/* On a terminal nothing acts, and nothing is wider than it may be. */
static void terminal(const char *s, size_t len)
{
	struct pf_buf out = { 0 };
	size_t columns = len % 40;

	pf_buf_adds(&out, "");
	pf_escape_text(&out, s, len, columns, len & 64);
	FUZZ_CHECK(is_visible(&out));
	FUZZ_CHECK(columns < 4 ||
		   pf_utf8_columns(out.data, out.len) <= columns);
	pf_buf_clear(&out);
	pf_escape_visible(&out, s, len);
	FUZZ_CHECK(is_visible_but(&out, "\t\n"));
	pf_buf_release(&out);
}

/* What is read back of a row must be its text, nothing but it. */
struct read_back {
	const char *s;
	size_t len, fields, rows;
};

static void on_field(void *field, size_t len, void *arg)
{
	struct read_back *r = arg;

	if (r->fields++ == 1)
		FUZZ_CHECK(len == r->len && !memcmp(field, r->s, len));
}

static void on_row(int c, void *arg)
{
	(void)c;
	((struct read_back *)arg)->rows++;
}

static void csv(const char *s, size_t len)
{
	static const struct pf_col cols[] = { { "a", "A", PF_TEXT } };
	const struct pf_style style = { .format = &pf_format_csv,
					.command = "fuzz" };
	struct read_back r = { s, len, 0, 0 };
	struct pf_table *t;
	struct pf_doc doc = { 0 };
	struct pf_err err = { 0 };
	char *text = NULL;
	size_t size = 0;
	struct csv_parser parser;
	FILE *f = open_memstream(&text, &size);

	t = pf_doc_table(&doc, "t", "T", cols, 1);
	pf_table_text(t, s, len);
	FUZZ_CHECK(f && !pf_render_doc(&style, &doc, f, &err));
	fclose(f);
	FUZZ_CHECK(!csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI));
	FUZZ_CHECK(csv_parse(&parser, text, size, on_field, on_row, &r) ==
		   size);
	FUZZ_CHECK(!csv_fini(&parser, on_field, on_row, &r));
	FUZZ_CHECK(r.rows == 2 && r.fields == 2);
	csv_free(&parser);
	free(text);
	pf_doc_release(&doc);
}

/*
 * Numbers: read within their text and the eight bytes behind it, which do not
 * count, and times are exact where they fit.
 */
static void numbers(const char *s, size_t len)
{
	struct pf_time time = { 0 };
	int64_t n = 0, ns = 0;
	char *padded = malloc(len + 9);
	const char *end;
	char shown[PF_NUM_MAX];

	FUZZ_CHECK(padded);
	memcpy(padded, s, len);
	memset(padded + len, 0, 9);
	end = pf_number_time(padded, &time);
	FUZZ_CHECK(!end || (end > padded && end <= padded + len));
	FUZZ_CHECK(!time.overflow || !time.ns);
	end = pf_number_decimal(padded, &n);
	FUZZ_CHECK(!end || (end > padded && end <= padded + len));
	end = pf_number_integer(padded, &n);
	FUZZ_CHECK(!end || (end > padded && end <= padded + len));
	end = end ? s + (end - padded) : NULL;
	if (end && !pf_num_int(s, &ns) && strlen(s) == (size_t)(end - s))
		FUZZ_CHECK(n == ns);
	free(padded);
	if (!pf_num_ns(s, &ns))
		FUZZ_CHECK(ns >= 0);
	FUZZ_CHECK(pf_num_or_none(s) >= -1);
	if (len >= 8) {
		memcpy(&n, s, 8);
		FUZZ_CHECK(strlen(pf_num_show_ns(shown, n)) < PF_NUM_MAX);
		FUZZ_CHECK(strlen(pf_num_show_bytes(shown, n)) < PF_NUM_MAX);
		FUZZ_CHECK(strlen(pf_num_show_count(shown, n)) < PF_NUM_MAX);
	}
}

struct args {
	int64_t n, ns;
	const char *word;
	bool flag;
	int choice;
	struct pf_opt_list list;
};

/* Options: words split at newlines; refused, or values within their limits. */
static void options(char *s)
{
	static const struct pf_opt opts[] = {
		{ 'n', "limit", "N", "n", PF_OPT_INT, offsetof(struct args, n),
		  1, 1000 },
		{ 't', "time", "TIME", "t", PF_OPT_NS,
		  offsetof(struct args, ns), 0, 0 },
		{ 'o', "output", "FILE", "o", PF_OPT_STRING,
		  offsetof(struct args, word), 0, 0 },
		{ 'a', "all", NULL, "a", PF_OPT_FLAG,
		  offsetof(struct args, flag), 0, 0 },
		{ 0, "by", "x|yes|z", "b", PF_OPT_CHOICE,
		  offsetof(struct args, choice), 0, 0 },
		{ 'l', "list", "L", "l", PF_OPT_LIST,
		  offsetof(struct args, list), 0, 0 },
		{ 0 },
	};
	const struct args defaults = { .n = 5, .choice = 1 };
	struct args args = defaults;
	const struct pf_opt_set set = { opts, &args, &defaults };
	struct pf_err err = { 0 };
	char *argv[65];
	int argc = 0, before;

	while (s && *s && argc < 64) {
		char *end = strchr(s, '\n');

		argv[argc++] = s;
		if (end)
			*end++ = '\0';
		s = end;
	}
	argv[argc] = NULL;
	before = argc;
	if (pf_opt_parse(&set, 1, false, &argc, argv, &err))
		FUZZ_CHECK(err.code == PF_EUSAGE && err.text[0]);
	FUZZ_CHECK(argc >= 0 && argc <= before);
	FUZZ_CHECK(args.n >= 1 && args.n <= 1000 && args.ns >= 0);
	FUZZ_CHECK(args.choice >= 0 && args.choice <= 2);
	FUZZ_CHECK(!args.word || *args.word);
	pf_opt_release(&set, 1);
}

/* Names: an end, and what is shown of a path has no folder. */
static void names(const char *s, size_t len)
{
	struct pf_buf out = { 0 };
	char *plain = pf_demangle_take(s, strlen(s));

	FUZZ_CHECK(!plain || strlen(plain) <= PF_DEMANGLED_MAX);
	free(plain);
	pf_buf_adds(&out, "");
	redact_path(s, len, "", true, &out);
	FUZZ_CHECK(!memchr(out.data, '/', out.len) &&
		   !memchr(out.data, '\\', out.len));
	pf_buf_clear(&out);
	pf_name_without_counts(s, &out);
	pf_name_classify(s);
	pf_buf_release(&out);
}

/* Members of arguments lie in their text; environments go. */
static void arguments(const char *s, size_t len)
{
	static const int64_t slots[PF_SLOT_COUNT];
	struct pf_argtext it = { s, len, 0 };
	struct pf_buf out = { 0 };
	struct pf_arg arg;
	size_t before = 0;

	while (pf_argtext_next(&it, &arg)) {
		FUZZ_CHECK(it.at > before && it.at <= len);
		FUZZ_CHECK(arg.key >= s && arg.key + arg.key_len <= s + len);
		FUZZ_CHECK(arg.value >= s &&
			   arg.value + arg.value_len <= s + len);
		before = it.at;
	}
	pf_argtext_build(s, len, (1u << PF_SLOT_COUNT) - 1, slots, &out);
	pf_buf_clear(&out);
	pf_redact_environment(s, len, &out);
	FUZZ_CHECK(out.len <= len + 2);
	pf_buf_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *s;

	if (!size || size > 4096)
		return 0;
	s = text_of(data + 1, size - 1);
	switch (data[0] % 9) {
	case 0:
		json(s, size - 1);
		break;
	case 1:
		html(s, size - 1);
		break;
	case 2:
		md(s, size - 1);
		break;
	case 3:
		terminal(s, size - 1);
		break;
	case 4:
		csv(s, size - 1);
		break;
	case 5:
		numbers(s, size - 1);
		break;
	case 6:
		options(s);
		break;
	case 7:
		names(s, size - 1);
		break;
	default:
		arguments(s, size - 1);
	}
	free(s);
	return 0;
}

/* SPDX-License-Identifier: MIT */
/*
 * The reader against itself: fed whole, in pieces of every size, cut at every
 * byte, and with either scanner, it says the same.
 */
#include "unit/support.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "formats/json/chrome.h"

static const char plain_text[] =
	"{\"schemaVersion\": 1, \"traceEvents\": [\n"
	"{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::add\","
	" \"pid\": 7, \"tid\": 7, \"ts\": 10.5, \"dur\": 2.001,"
	" \"args\": {\"External id\": 5, \"Input Dims\": [[1, 2], []],"
	" \"Ev Idx\": 0}},\n"
	"{\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": 7, \"tid\": 7,"
	" \"args\": {\"name\": \"main\"}},\n"
	"{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"k<\\\"x\\\">\","
	" \"pid\": 0, \"tid\": 3, \"ts\": 12, \"dur\": 1, \"args\":"
	" {\"device\": 0, \"stream\": 3, \"correlation\": 9,"
	" \"External id\": 5, \"x\": 1.50}},\n"
	"{\"ph\":\"s\",\"id\":9,\"pid\":7,\"tid\":7,\"ts\":11,"
	"\"cat\":\"ac2g\",\"name\":\"ac2g\"},\n"
	"{\"ph\": \"i\", \"name\": \"[memory]\", \"pid\": \"7\", \"tid\": 7,"
	" \"ts\": \"11.25\", \"s\": \"t\", \"args\": {\"Bytes\": -64}}\n"
	"], \"baseTimeNanoseconds\": 1000}\n";

static const char damaged_text[] =
	"\xef\xbb\xbf{\"a\": [1,2,...], \"traceEvents\": [,"
	"{\"ph\":\"X\",\"name\":\"C:\\Temp\",\"ts\":1,\"dur\":2,\"pid\":1,"
	"\"tid\":1},"
	"{\"ph\":\"X\",\"name\":\"bad \"quote\" here\" \"ts\":2,\"dur\":1,"
	"\"pid\":1,\"tid\":1},"
	"{\"ph\":\"X\",\"name\":\"t\tb\",\"ts\":3,\"dur\":NaN,\"pid\":1,"
	"\"tid\":1,\"args\":{\"a\":1,\"a\":2,}},"
	"{\"ph\":\"Q\",\"name\":\"?\",\"ts\":4},{\"ph\":\"X\",\"name\":\"u\"},"
	"5,null,{\"ph\":\"B\",\"name\":\"b\",\"ts\":\"5\",\"pid\":1},"
	"{\"ph\":\"E\",\"ts\":6.5,\"pid\":1}"
	"{\"ph\":\"X\",\"name\":\"x\",\"ts\":99999999999999999,\"dur\":1},"
	"{\"ph\":\"X\",\"name\":\"end\",\"ts\":7,\"dur\":1,\"pid\":1,"
	"\"tid\":1,\"args\":{\"$a\":1,\"b\":$a}},]}trailing";

/* Quotes that nobody escaped, where it is known where their string ends. */
static const char quotes_text[] =
	"{\"distributedInfo\":{\"backend\":\"n\"c\"},\"traceEvents\": [\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":1,"
	"\"ts\":1,\"dur\":2,\"args\":{\"Call stack\":\"x \"y\"/t.py(1): f;"
	"a'b\"c.py(2): g\" , \"Input Dims\":[[1]],\"last\":\"p \"q\"\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\"{\"k\": \"v\"}\"\", "
	"\"pid\":1,\"tid\":1,\"ts\":2,\"dur\":2},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"lost \"z\", \"x\": y\", "
	"\"pid\":1,\"tid\":1,\"ts\":3,\"dur\":2},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"list\",\"args\":{\"l\":"
	"[\"a\"b\"]},\"pid\":1,\"tid\":1,\"ts\":4,\"dur\":2},\n"
	"{\"ph\":\"X\",\"name\":\"t.py(1): \"f\"\",\"pid\":1,\"tid\":1,"
	"\"ts\":5,\"dur\":2,\"args\":{\"m\":\"\"M\"\"}}\n"
	"], \"traceName\": \"run \"final\"/t.json\"\n}\n";

static const char array_text[] =
	"[{\"ph\":\"X\",\"name\":\"a\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":2}"
	",{\"ph\":\"C\",\"name\":\"c\",\"ts\":2,\"pid\":1,"
	"\"args\":{\"v\":3,\"w\":\"4\"}}";

/* One writer's events, and what no shape of the one before may take. */
static const char shapes_text[] =
	"["
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":1,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":2,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"ab\",\"pid\":1,\"tid\""
	":2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":3,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":4,\"v\":\"st\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":5,\"v\":6}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":5,\"v\":[1]}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":\"1\",\"ti"
	"d\":2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":5,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":12,\"tid\""
	":2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":5,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":\"1.5\",\"dur\":2,\"args\":{\"x\":5,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":\"5\",\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":1e5,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":1e5,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":15,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"\\u0041\",\"pid\":1,\""
	"tid\":2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":15,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":null,\"pid\":1,\"tid\":2"
	",\"ts\":1.5,\"dur\":2,\"args\":{\"x\":15,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":-1,\"args\":{\"x\":15,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":1.0005,\"args\":{\"x\":15,\"v\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"a\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"x\":15,\"x\":\"s\"}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"id\":1},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"id\":2},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"id\":\"2\"},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"id\":\"3\"},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"id\":3},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":null},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{\"y\":1}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{ }},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"args\":{}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"bp\":\"e\",\"args\":{\"bytes\":1}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"bp\":\"f\",\"args\":{\"bytes\":2}},\n"
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"b\",\"pid\":1,\"tid\":"
	"2,\"ts\":1.5,\"dur\":2,\"bp\":\"f\",\"args\":{\"bytes\":2.5}},\n"
	"{\"ph\":\"X\",\"cat\":\"x\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"t"
	"s\":1.5,\"dur\":2,\"args\":{\"device\":0,\"stream\":1}},\n"
	"{\"ph\":\"X\",\"cat\":\"x\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"t"
	"s\":1.5,\"dur\":2,\"args\":{\"device\":1,\"stream\":1}},\n"
	"{\"ph\":\"X\",\"cat\":\"x\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"t"
	"s\":1.5,\"dur\":2,\"args\":{\"device\":1,\"stream\":1}},\n"
	"{\"ph\":\"i\",\"cat\":\"x\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"t"
	"s\":1.5,\"dur\":2,\"args\":{\"device\":1,\"stream\":1}},\n"
	"{\"ph\":\"Q\",\"cat\":\"x\",\"name\":\"k\",\"pid\":1,\"tid\":2,\"t"
	"s\":1.5,\"dur\":2,\"args\":{\"device\":1,\"stream\":1}}"
	",\n{\"ph\":\"X\",\"cat\":\"y\",\"name\":\"s1\",\"pid\":1,\"tid\":2,"
	"\"ts\":1.5,\"dur\":2,\"args\":{\"z\":1}}"
	",\n{\"ph\":\"X\",\"cat\":\"y\",\"name\":\"s2\",\"pid\":1,\"tid\":2,"
	"\"ts\":1.5,\"dur\":2,\"args\":{\"z\":\"5\"}}"
	",\n{\"ph\":\"X\",\"cat\":\"y\",\"name\":\"s2\",\"pid\":1,\"tid\":2,"
	"\"ts\":1.5,\"dur\":2,\"args\":{\"z\":7}}"
	"]";

static const struct {
	const char *text;
	size_t len;
} texts[] = {
	{ plain_text, sizeof(plain_text) - 1 },
	{ damaged_text, sizeof(damaged_text) - 1 },
	{ array_text, sizeof(array_text) - 1 },
	{ quotes_text, sizeof(quotes_text) - 1 },
	{ shapes_text, sizeof(shapes_text) - 1 },
};
#define TEXTS (sizeof(texts) / sizeof(*texts))

/* ---- one log of everything that came out ---- */

static void log_entry(struct pf_buf *log, const struct pf_dict *d, uint32_t i)
{
	if (i == PF_ID_NONE) {
		pf_buf_adds(log, " -");
		return;
	}
	pf_buf_adds(log, " <");
	pf_buf_add(log, d->text.data + d->entries[i].text_at,
		   d->entries[i].text_len);
	pf_buf_adds(log, ">");
}

static void log_events(struct pf_buf *log, const struct pf_chrome *c,
		       int64_t first_order)
{
	for (size_t i = 0; i < c->out.batch.count; i++) {
		const struct pf_event *ev = &c->out.batch.events[i];

		pf_buf_addf(log, "%" PRId64 " %c kind %d %" PRId64 "+%" PRId64,
			    first_order + ev->order, ev->ph, ev->kind,
			    ev->start_ns, ev->dur_ns);
		log_entry(log, &c->out.names, ev->name);
		log_entry(log, &c->out.tracks, ev->track);
		log_entry(log, &c->out.args, ev->args);
		for (int k = 0; k < __builtin_popcount(ev->mask); k++)
			pf_buf_addf(
				log, " %" PRId64,
				c->out.batch.slots[ev->slot_at + (uint32_t)k]);
		pf_buf_addc(log, '\n');
	}
}

static void log_texts(struct pf_buf *log, const struct pf_buf *texts_of)
{
	size_t at = 0;
	uint32_t lens[2];

	while (at < texts_of->len) {
		memcpy(lens, texts_of->data + at, sizeof(lens));
		at += sizeof(lens);
		pf_buf_adds(log, "member ");
		pf_buf_add(log, texts_of->data + at, lens[0] + lens[1]);
		pf_buf_addc(log, '\n');
		at += lens[0] + lens[1];
	}
}

static void log_repairs(struct pf_buf *log, const struct pf_repairs *r)
{
	for (int k = 0; k < PF_REPAIR_KINDS; k++)
		if (r->of[k].count)
			pf_buf_addf(log, "%s %" PRId64 " at %" PRId64 "\n",
				    pf_repair_word((enum pf_repair_kind)k),
				    r->of[k].count, r->of[k].first_offset);
}

/* Feed text in pieces; what a piece leaves over comes again with the next. */
static void feed(const char *text, size_t len, size_t piece,
		 enum pf_scanner scanner, struct pf_buf *log)
{
	char *buf = pf_calloc(len + PF_SCAN_PAD + 1, 1);
	struct pf_doc_state state = { 0 };
	struct pf_repairs repairs = { 0 };
	struct pf_buf members = { 0 };
	struct pf_err err = { 0 };
	struct pf_chrome c;
	size_t have = 0, fed = 0, used;
	int64_t offset = 0, events = 0;
	bool final = false;

	pf_chrome_init(&c, scanner);
	while (!final) {
		size_t n = piece < len - fed ? piece : len - fed;

		memcpy(buf + have, text + fed, n);
		fed += n;
		have += n;
		final = fed == len;
		memset(buf + have, 0, PF_SCAN_PAD);
		pf_parsed_begin(&c.out);
		if (pf_chrome_parse(&c, &state, buf, have, offset, final, &used,
				    &err)) {
			pf_buf_addf(log, "error %s\n", err.text);
			break;
		}
		log_events(log, &c, events);
		log_texts(&members, &c.out.batch.members);
		events += c.out.batch.event_count;
		pf_repairs_add(&repairs, &c.out.batch.repairs);
		pf_dict_settle(&c.out.names);
		pf_dict_settle(&c.out.args);
		pf_dict_settle(&c.out.tracks);
		pf_dict_settle(&c.out.categories);
		have -= used;
		offset += (int64_t)used;
		memmove(buf, buf + used, have);
	}
	pf_buf_add(log, members.data, members.len);
	pf_buf_release(&members);
	log_repairs(log, &repairs);
	pf_buf_addf(log, "%" PRId64 " events, place %d\n", events, state.place);
	pf_chrome_release(&c);
	free(buf);
}

static void test_every_piece_size(void **state)
{
	struct pf_buf whole = { 0 }, pieces = { 0 };

	(void)state;
	for (size_t t = 0; t < TEXTS; t++) {
		pf_buf_clear(&whole);
		feed(texts[t].text, texts[t].len, texts[t].len, PF_SCANNER_BEST,
		     &whole);
		for (size_t piece = 1; piece < texts[t].len; piece++) {
			pf_buf_clear(&pieces);
			feed(texts[t].text, texts[t].len, piece,
			     piece & 1 ? PF_SCANNER_PLAIN : PF_SCANNER_BEST,
			     &pieces);
			assert_string_equal(pieces.data, whole.data);
		}
	}
	pf_buf_release(&whole);
	pf_buf_release(&pieces);
}

/* A cut file keeps the events that are whole, and both scanners agree. */
static void test_every_cut(void **state)
{
	struct pf_buf simd = { 0 }, plain = { 0 };

	(void)state;
	for (size_t t = 0; t < TEXTS; t++)
		for (size_t len = 1; len <= texts[t].len; len++) {
			char *copy = pf_memdup0(texts[t].text, len);

			pf_buf_clear(&simd);
			pf_buf_clear(&plain);
			feed(copy, len, len, PF_SCANNER_BEST, &simd);
			feed(copy, len, len, PF_SCANNER_PLAIN, &plain);
			assert_string_equal(simd.data, plain.data);
			free(copy);
		}
	pf_buf_release(&simd);
	pf_buf_release(&plain);
}

static void expect(const struct pf_buf *log, const char *line)
{
	if (!strstr(log->data, line))
		fail_msg("no '%s' in:\n%s", line, log->data);
}

static void test_plain_events(void **state)
{
	struct pf_buf log = { 0 };

	(void)state;
	feed(plain_text, sizeof(plain_text) - 1, sizeof(plain_text) - 1,
	     PF_SCANNER_BEST, &log);
	expect(&log, "0 X kind 1 10500+2001 <aten::add> <h0000000177>"
		     " <{\"External id\":$a,\"Input Dims\":[[1,2],[]],"
		     "\"Ev Idx\":$c}> 5 0\n");
	/* order 1 is the metadata event */
	expect(&log, "2 X kind 7 12000+1000 <k<\"x\">> <g0000000103>"
		     " <{\"device\":0,\"stream\":3,\"correlation\":$b,"
		     "\"External id\":$a,\"x\":$p}> 5 9 2402\n");
	expect(&log, "3 s kind 18 11000+0 <ac2g> <f0000000177>"
		     " <{\"@id\":$n}> 9\n");
	expect(&log, "4 i kind 14 11250+0 <[memory]> <h0000000177>"
		     " <{\"Bytes\":$j,\"@s\":\"t\"}> -64\n");
	expect(&log, "member baseTimeNanoseconds1000\n");
	expect(&log, "5 events, place 3\n");
	pf_buf_release(&log);
}

static void test_damaged_events(void **state)
{
	static const char *const lines[] = {
		" <C:\\Temp> ",          " <t\tb> ",
		"<{\"a\":$p}> 32\n",     "7 B kind 0 5000+0 <b> ",
		"8 E kind 0 6500+0 <> ", " <{\"$a\":$p,\"b\":null}> 16\n",
		"control_byte 1 ",       "bad_escape 1 ",
		"not_a_number 1 ",       "unquoted_value 2 ",
		"duplicate_key 1 ",      "missing_comma 1 ",
		"malformed_event 1 ",    "no_time 1 ",
		"time_range 1 ",         "phase 1 ",
		"not_an_event 2 ",       "trailing_bytes 1 ",
		"member a[1,2,null]\n",  "11 events, place 3\n",
	};
	struct pf_buf log = { 0 };

	(void)state;
	feed(damaged_text, sizeof(damaged_text) - 1, sizeof(damaged_text) - 1,
	     PF_SCANNER_BEST, &log);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		expect(&log, lines[i]);
	pf_buf_release(&log);
}

/*
 * The longest reading that the rest bears out, and what else there is: bare
 * words behind a quote and lists stay lost, and are counted.
 */
static void test_bare_quotes(void **state)
{
	static const char *const lines[] = {
		" <{\"Call stack\":\"x \\\"y\\\"/t.py(1): f;a'b\\\"c.py(2): "
		"g\","
		"\"Input Dims\":[[1]],\"last\":\"p \\\"q\\\"\"}>",
		" <\"{\"k\": \"v\"}\"> ",
		" <t.py(1): \"f\"> ",
		" <{\"m\":\"\\\"M\\\"\"}>",
		"member traceName\"run \\\"final\\\"/t.json\"\n",
		"member distributedInfo{\"backend\":\"n\\\"c\"}\n",
		"bare_quote 18 at ",
		"malformed_event 2 at ",
		"\n5 events, place 3\n",
	};
	struct pf_buf log = { 0 };

	(void)state;
	feed(quotes_text, sizeof(quotes_text) - 1, sizeof(quotes_text) - 1,
	     PF_SCANNER_BEST, &log);
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		expect(&log, lines[i]);
	assert_null(strstr(log.data, "cut_off"));
	pf_buf_release(&log);
}

/* Quotes without end: each byte is looked at a few times, not once a quote. */
static void test_many_quotes(void **state)
{
	static const char *const pieces[] = { "\"",       "\" ", "\",",
					      "\",\"k\"", "\"}", "\" , \"" };
	const size_t len = 4u << 20;
	struct pf_buf text = { 0 }, log = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(*pieces); i++) {
		pf_buf_clear(&text);
		pf_buf_clear(&log);
		pf_buf_adds(&text, "[{\"name\":\"a\" b");
		while (text.len < len)
			pf_buf_adds(&text, pieces[i]);
		pf_buf_adds(&text, "x");
		feed(text.data, text.len, text.len, PF_SCANNER_BEST, &log);
		expect(&log, "malformed_event 1 at 1\n");
		expect(&log, "cut_off 1 at 1\n");
	}
	pf_buf_release(&text);
	pf_buf_release(&log);
}

/* What each letter stands for; all others are counted. */
static void test_phases(void **state)
{
	static const struct {
		const char *letters;
		enum pf_kind kind;
	} of[] = {
		{ "XBE", PF_KIND_HOST },      { "iIR", PF_KIND_INSTANT },
		{ "C", PF_KIND_COUNTER },     { "stf", PF_KIND_FLOW },
		{ "bneSTpF", PF_KIND_ASYNC },
	};
	struct pf_buf log = { 0 };
	char text[99], line[32];

	(void)state;
	for (char ph = ' '; ph < 127; ph++) {
		if (strchr("M\"\\", ph))
			continue;
		int n = snprintf(text, sizeof(text),
				 "[{\"ph\":\"%c\",\"ts\":1,\"dur\":2,"
				 "\"name\":\"n\",\"pid\":1,\"tid\":1}]",
				 ph);

		snprintf(line, sizeof(line), "phase 1 at");
		if (strchr("NODVvc()=", ph)) /* of what takes no time */
			snprintf(line, sizeof(line), "state 1 at");
		for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++)
			if (strchr(of[i].letters, ph))
				snprintf(line, sizeof(line), "0 %c kind %d ",
					 ph, of[i].kind);
		pf_buf_clear(&log);
		feed(text, (size_t)n, (size_t)n, PF_SCANNER_BEST, &log);
		expect(&log, line);
	}
	pf_buf_release(&log);
}

static void test_not_json(void **state)
{
	struct pf_buf log = { 0 };

	(void)state;
	feed("hello", 5, 5, PF_SCANNER_BEST, &log);
	expect(&log, "error is neither a profan database nor "
		     "a trace (no JSON at byte 0)\n");
	pf_buf_release(&log);
}

/* A chunk is cut behind a comma between two events, if there is one. */
static void test_cut(void **state)
{
	const char text[] = "[{\"a\":{\"b\":1}},\n {\"c\":[{}, {}]}, 5";

	(void)state;
	assert_int_equal(pf_chrome_cut(text, 16), 16);
	assert_int_equal(pf_chrome_cut(text, sizeof(text) - 1),
			 strstr(text, "{}]") - text);
	assert_int_equal(pf_chrome_cut("[{}", 3), 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_events),
		cmocka_unit_test(test_damaged_events),
		cmocka_unit_test(test_bare_quotes),
		cmocka_unit_test(test_many_quotes),
		cmocka_unit_test(test_every_piece_size),
		cmocka_unit_test(test_every_cut),
		cmocka_unit_test(test_phases),
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

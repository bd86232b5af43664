/* SPDX-License-Identifier: MIT */
/*
 * The page that is the program, with the database inside: profan.html, which
 * 'make wasm' makes, and behind its script the database as base64 of gzip.
 * reports/app/main.js takes it as if it had been dropped.  What the page asks
 * first is answered here, before its script: a large database takes seconds to
 * be unpacked and looked through there.
 */
#include "config.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "base/asset.h"
#include "base/inside.h"
#include "base/json.h"
#include "base/log.h"
#include "base/num.h"
#include "base/outplace.h"
#include "base/path.h"
#include "base/port.h"
#include "cmd/cmd.h"
#include "page/page.h"
#include "show/escape.h"

#define PAGE "profan.html"
/* Its script, and what it ends with. */
#define SCRIPT    "<script id=\"app\">"
#define END       "</body>"
#define GENERATOR "content=\"profan " PACKAGE_VERSION "\""

struct view_args {
	const char *out;
	bool force, no_open;
};

#define FIELD(f) offsetof(struct view_args, f)

static const struct pf_opt opts[] = {
	{ 'o', "output", "FILE", "write this file (DB.html)", PF_OPT_STRING,
	  FIELD(out), 0, 0 },
	{ 0, "force", NULL, "replace FILE, also if it is no page of profan's",
	  PF_OPT_FLAG, FIELD(force), 0, 0 },
	{ 0, "no-open", NULL, "do not open it in the browser", PF_OPT_FLAG,
	  FIELD(no_open), 0, 0 },
	{ 0 },
};

/* ---- the page without a database ---- */

/* Behind the script; or NULL: that is no such page. */
static const char *find_end(const struct pf_buf *page)
{
	const char *script = strstr(page->data, SCRIPT);

	return script ? strstr(script, END) : NULL;
}

static int read_page(struct pf_buf *page, struct pf_buf *path,
		     struct pf_err *err)
{
	FILE *f = NULL;
	char bytes[65536];
	size_t n;

	if (pf_asset_find(PAGE, "../share/profan/" PAGE, PKGDATADIR "/" PAGE,
			  path))
		f = fopen(path->data, "rbe");
	while (f && (n = fread(bytes, 1, sizeof(bytes), f)))
		pf_buf_add(page, bytes, n);
	if (f)
		fclose(f);
	if (page->len && find_end(page))
		return 0;
	return pf_fail(err, PF_EIO,
		       "this profan was built without the page ('make wasm' "
		       "makes it): 'profan report' writes a page that needs "
		       "none");
}

/* ---- the database in it ---- */

struct packer {
	struct pf_outfile *out;
	z_stream z;
	struct pf_buf packed, text;
	struct pf_err *err;
};

static void packer_release(struct packer *p)
{
	pf_buf_release(&p->packed);
	pf_buf_release(&p->text);
}

/* Give what was packed to the file, but for what makes no whole 3 bytes. */
static int flush(struct packer *p, bool is_end)
{
	size_t len = is_end ? p->packed.len : p->packed.len / 3 * 3;

	pf_buf_clear(&p->text);
	pf_base64(&p->text, p->packed.data, len);
	memmove(p->packed.data, p->packed.data + len, p->packed.len - len);
	p->packed.len -= len;
	return pf_outfile_write(p->out, p->text.data, p->text.len, p->err);
}

static int pack(struct packer *p, unsigned char *bytes, size_t len, bool is_end)
{
	int rc;

	p->z.next_in = bytes;
	p->z.avail_in = (uInt)len;
	do {
		pf_buf_reserve(&p->packed, 65536);
		p->z.next_out = (Bytef *)p->packed.data + p->packed.len;
		p->z.avail_out = (uInt)(p->packed.cap - p->packed.len);
		rc = deflate(&p->z, is_end ? Z_FINISH : Z_NO_FLUSH);
		p->packed.len = p->packed.cap - p->z.avail_out;
		PF_TRY(rc == Z_STREAM_ERROR || flush(p, rc == Z_STREAM_END));
	} while (!p->z.avail_out || (is_end && rc != Z_STREAM_END));
	return 0;
}

static int add_database(struct packer *p, const char *path)
{
	gz_header header = { .os = 255 }; /* the same bytes anywhere */
	int fd = pf_inside_open(path, O_RDONLY | O_CLOEXEC, 0), rc = 0;
	static unsigned char bytes[1 << 18];
	ssize_t n = -1;

	if (fd < 0 || deflateInit2(&p->z, 6, Z_DEFLATED, 15 + 16, 9,
				   Z_DEFAULT_STRATEGY) != Z_OK) {
		rc = pf_fail_errno(p->err, "cannot read '%s'", path);
		if (fd >= 0)
			close(fd);
		return rc;
	}
	deflateSetHeader(&p->z, &header);
	while (!rc && (n = read(fd, bytes, sizeof(bytes))) > 0)
		rc = pack(p, bytes, (size_t)n, false);
	if (!rc && n < 0)
		rc = pf_fail_errno(p->err, "cannot read '%s'", path);
	if (!rc)
		rc = pack(p, bytes, 0, true);
	deflateEnd(&p->z);
	close(fd);
	return rc;
}

/* ---- what the page asks first ---- */

/* As reports/app asks it, but for the database behind the command. */
static const char *const summary[] = { "summary", "--format", "json", NULL };
static const char *const timeline[] = { "timeline", "--tracks", "gpu",
					"--pixels", "1000",     "--limit",
					"-1",       "--format", "json",
					NULL };
static const char *const *const asked[] = { summary, timeline };

/* One answer, unless it is an error: the page then asks for itself. */
static int add_answer(struct pf_jsonw *w, struct pf_ctx *cx, const char *db,
		      const char *const *words)
{
	const struct pf_cmd *cmd = pf_cmd_find(words[0], cx->err);
	struct pf_err ignored = { 0 };
	char *argv[PF_LEN(timeline)] = { 0 }, *text = NULL;
	size_t len = 0;
	int argc = 0, rc;
	FILE *out = open_memstream(&text, &len);

	if (!cmd || !out)
		return pf_fail_errno(cx->err, "cannot ask for '%s'", words[0]);
	while ((argv[argc] = (char *)words[argc + 1]))
		argc++;
	rc = pf_cmd_run_on(cmd, argc, argv, cx->db, db, out, &ignored);
	fclose(out);
	if (!rc) {
		pf_jsonw_object(w);
		pf_jsonw_key(w, "args");
		pf_jsonw_array(w);
		for (int i = 0; words[i]; i++) {
			pf_jsonw_string(w, words[i], strlen(words[i]));
			if (!i)
				pf_jsonw_string(w, db, strlen(db));
		}
		pf_jsonw_end(w);
		pf_jsonw_key(w, "out");
		pf_jsonw_string(w, text, len);
		pf_jsonw_end(w);
	}
	free(text);
	return 0;
}

/* A page of another version may not ask as we do, nor say what we say. */
static int add_answers(struct pf_buf *to, struct pf_ctx *cx, const char *db,
		       const struct pf_buf *page)
{
	PF_AUTO(pf_buf_release) struct pf_buf text = { 0 };
	struct pf_jsonw w = { .out = &text };

	if (!strstr(page->data, GENERATOR))
		return 0;
	pf_jsonw_array(&w);
	for (size_t i = 0; i < PF_LEN(asked); i++)
		PF_TRY(add_answer(&w, cx, db, asked[i]));
	pf_jsonw_end(&w);
	pf_buf_adds(to, "<script type=\"application/octet-stream\" "
			"id=\"answers\" data-name=\"");
	pf_escape_html(to, db, strlen(db));
	pf_buf_adds(to, "\">");
	PF_TRY(pf_payload_pack(&text, to, cx->err));
	pf_buf_adds(to, "</script>\n");
	return 0;
}

static int write_page(struct pf_ctx *cx, const struct pf_buf *page,
		      const char *db, struct pf_outfile *out)
{
	const char *script = strstr(page->data, SCRIPT), *end = find_end(page);
	PF_AUTO(packer_release)
	struct packer p = { .out = out, .err = cx->err };
	PF_AUTO(pf_buf_release) struct pf_buf head = { 0 };

	pf_buf_add(&head, page->data, (size_t)(script - page->data));
	PF_TRY(add_answers(&head, cx, db, page));
	pf_buf_add(&head, script, (size_t)(end - script));
	pf_buf_adds(&head, "<script type=\"application/octet-stream\" "
			   "id=\"database\" data-name=\"");
	pf_escape_html(&head, db, strlen(db));
	pf_buf_adds(&head, "\">");
	PF_TRY(pf_outfile_write(out, head.data, head.len, cx->err));
	PF_TRY(add_database(&p, cx->db->path));
	PF_TRY(pf_outfile_write(out, "</script>\n", 10, cx->err));
	PF_TRY(pf_outfile_write(
		out, end, page->len - (size_t)(end - page->data), cx->err));
	return pf_outfile_commit(out, cx->err);
}

/* ---- the browser ---- */

/* Where somebody sits before it; a failure is none: the path is said. */
static void open_page(const char *path)
{
	static const char *const openers[] = { "xdg-open", "open" };
	extern char **environ;
	pid_t pid;

	if (!isatty(STDERR_FILENO) ||
	    (!getenv("DISPLAY") && !getenv("WAYLAND_DISPLAY") &&
	     !getenv("BROWSER")))
		return;
	for (size_t i = 0; i < PF_LEN(openers); i++) {
		char *argv[] = { (char *)openers[i], (char *)path, NULL };

		if (!posix_spawnp(&pid, openers[i], NULL, NULL, argv, environ))
			return;
	}
}

/* "job.html" of "runs/job.db", or of "job.json.gz": in the folder where we are. */
static void add_name(struct pf_buf *out, const char *db, const char *ending)
{
	const char *base = pf_path_base(db), *dot;
	size_t len = strlen(base);

	for (int i = 0; i < 2; i++) {
		dot = pf_memrchr(base, '.', len);
		if (!dot || dot == base ||
		    (i && strcmp(base + len, ".gz") != 0 &&
		     strcmp(base + len, ".zst") != 0))
			break;
		len = (size_t)(dot - base);
	}
	pf_buf_add(out, base, len);
	pf_buf_adds(out, ending);
}

/*
 * The page is an input, too: "profan.html" beside the program is what the
 * default database would be written to there.
 */
static struct pf_outfile *open_output(struct pf_ctx *cx, const char *name,
				      const char *page, bool is_forced)
{
	struct pf_outrule rule = { .replace = is_forced, .option = "--force" };
	PF_OWN const char **inputs = NULL;

	pf_db_protect(cx->db, &rule);
	inputs = pf_calloc(rule.input_count + 1, sizeof(*inputs));
	memcpy(inputs, rule.inputs, rule.input_count * sizeof(*inputs));
	inputs[rule.input_count++] = page;
	rule.inputs = inputs;
	return pf_output_open(cx, name, &rule);
}

static int run(struct pf_ctx *cx, void *argv)
{
	const struct view_args *a = argv;
	PF_AUTO(pf_buf_release)
	struct pf_buf page = { 0 }, from = { 0 }, name = { 0 }, db = { 0 };
	struct pf_outfile *out = NULL;
	struct stat info;
	int rc = read_page(&page, &from, cx->err);

	if (!rc) {
		if (a->out)
			pf_buf_adds(&name, a->out);
		else
			add_name(&name, cx->db_name, ".html");
		/* a name in the page, and no option there */
		if (*pf_path_base(cx->db_name) == '-')
			pf_buf_adds(&db, "./");
		add_name(&db, cx->db_name, ".db");
		out = open_output(cx, name.data, from.data, a->force);
		rc = out ? write_page(cx, &page, db.data, out) : -1;
	}
	pf_outfile_free(out);
	if (!rc && strcmp(name.data, "-") != 0 && !stat(name.data, &info)) {
		pf_log(PF_LOG_NOTE, "wrote '%s', %s", name.data,
		       PF_SHOW_BYTES(info.st_size));
		if (!a->no_open && !cx->quiet)
			open_page(name.data);
	}
	return rc;
}

PF_COMMAND(507, view) = {
	.name = "view",
	.group = PF_GROUP_GIVE,
	.args = "[DB]",
	.summary = "write a page that is profan, with the database in it",
	.details = "Every analysis, every event and SQL, offline, in any "
		   "browser, without profan: the page is the program, compiled "
		   "for it.  It is as large as the database and 2 MB; 'profan "
		   "report' writes a light page of one analysis.  At a "
		   "terminal the page is opened in the browser, too.",
	.needs = PF_NEEDS_DB,
	.opts = opts,
	.args_bytes = sizeof(struct view_args),
	.examples = "profan view job.db\n"
		    "profan view trace.json.gz -o review.html --no-open\n",
	.run = run,
};

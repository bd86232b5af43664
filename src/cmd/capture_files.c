/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "cmd/capture_files.h"

void pf_capture_names_release(struct pf_capture_names *n)
{
	for (size_t i = 0; i < n->count; i++)
		free(n->items[i]);
	free(n->items);
	memset(n, 0, sizeof(*n));
}

static void add_name(struct pf_capture_names *n, char *name)
{
	n->items = pf_grow(n->items, &n->cap, n->count + 1, sizeof(*n->items));
	n->items[n->count++] = name;
}

/* ---- the pattern as a regular expression for names ---- */

static void add_literal(struct pf_buf *out, char c)
{
	if (strchr("\\^$.[]|()*+?{}", c))
		pf_buf_addc(out, '\\');
	pf_buf_addc(out, c);
}

/* What stands for the sequence at p (behind its %); p behind it. */
static const char *add_sequence(struct pf_buf *out, const char *p)
{
	const char *end;

	switch (*p) {
	case 'p':
	case 't':
	case 'n':
		pf_buf_adds(out, "[0-9]+");
		return p + 1;
	case 'h':
		pf_buf_adds(out, ".*");
		return p + 1;
	case 'q':
		end = p[1] == '{' ? strchr(p, '}') : NULL;
		if (end) {
			pf_buf_adds(out, "[A-Za-z0-9._-]*");
			return end + 1;
		}
		break;
	case '%':
		add_literal(out, '%');
		return p + 1;
	}
	/* as the agent does with what it does not know */
	add_literal(out, '%');
	return p;
}

static int compile(regex_t *re, const char *base, struct pf_err *err)
{
	struct pf_buf text = { 0 };
	int rc;

	pf_buf_addc(&text, '^');
	for (const char *p = base; *p;) {
		if (*p == '%')
			p = add_sequence(&text, p + 1);
		else
			add_literal(&text, *p++);
	}
	/* A name that is taken gets a number. */
	pf_buf_adds(&text, "(\\.[0-9]{1,3})?$");
	rc = regcomp(re, text.data, REG_EXTENDED | REG_NOSUB);
	pf_buf_release(&text);
	return rc ? pf_fail(err, PF_EUSAGE, "'%s' is no name for files", base)
		  : 0;
}

/* ---- the folder ---- */

static int make_folder(const char *path, struct pf_err *err)
{
	char *copy = pf_strdup(path);
	int rc = 0;

	for (char *p = copy + 1; !rc && *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST)
			rc = -1;
		*p = '/';
	}
	if (!rc && mkdir(copy, 0777) && errno != EEXIST)
		rc = -1;
	if (rc)
		pf_fail_errno(err, "cannot make folder '%s'", path);
	free(copy);
	return rc;
}

static int list(const struct pf_capture_files *f, struct pf_capture_names *out,
		struct pf_err *err)
{
	struct dirent **found;
	int n = scandir(f->folder, &found, NULL, versionsort);

	if (n < 0)
		return pf_fail_errno(err, "cannot read folder '%s'", f->folder);
	for (int i = 0; i < n; i++) {
		if (!regexec(&f->names, found[i]->d_name, 0, NULL, 0))
			add_name(out, pf_strdup(found[i]->d_name));
		free(found[i]);
	}
	free(found);
	return 0;
}

/* A folder's name as a part of the pattern: % is %%. */
static void add_folder(struct pf_buf *out, const char *folder)
{
	for (; *folder; folder++)
		pf_buf_adds(out,
			    *folder == '%' ? "%%" : (char[]){ *folder, '\0' });
}

static int make_absolute(struct pf_capture_files *f, const char *base,
			 struct pf_err *err)
{
	char *real = realpath(f->folder, NULL);
	struct pf_buf text = { 0 };

	if (!real)
		return pf_fail_errno(err, "cannot use folder '%s'", f->folder);
	free(f->folder);
	f->folder = pf_strdup(real);
	free(real);
	add_folder(&text, f->folder);
	pf_buf_addc(&text, '/');
	pf_buf_adds(&text, base);
	f->pattern = text.data;
	return 0;
}

int pf_capture_files_init(struct pf_capture_files *f, const char *pattern,
			  struct pf_err *err)
{
	const char *slash = strrchr(pattern, '/');
	const char *base = slash ? slash + 1 : pattern;

	memset(f, 0, sizeof(*f));
	if (slash && memchr(pattern, '%', (size_t)(slash - pattern)))
		return pf_fail(err, PF_EUSAGE,
			       "'%s': only the file's name may have %% "
			       "sequences, not its folder",
			       pattern);
	if (!*base)
		return pf_fail(err, PF_EUSAGE, "'%s' names a folder", pattern);
	if (compile(&f->names, base, err))
		return -1;
	f->folder = slash == pattern ? pf_strdup("/")
		    : slash ? pf_memdup0(pattern, (size_t)(slash - pattern))
			    : pf_strdup(".");
	if (make_folder(f->folder, err) || make_absolute(f, base, err) ||
	    list(f, &f->before, err)) {
		pf_capture_files_release(f);
		return -1;
	}
	return 0;
}

void pf_capture_files_release(struct pf_capture_files *f)
{
	if (f->folder)
		regfree(&f->names);
	free(f->folder);
	free(f->pattern);
	pf_capture_names_release(&f->before);
	memset(f, 0, sizeof(*f));
}

static bool was_there(const struct pf_capture_files *f, const char *name)
{
	for (size_t i = 0; i < f->before.count; i++)
		if (!strcmp(f->before.items[i], name))
			return true;
	return false;
}

int pf_capture_files_new(const struct pf_capture_files *f,
			 struct pf_capture_names *out, struct pf_err *err)
{
	struct pf_capture_names all = { 0 };
	int rc = list(f, &all, err);

	for (size_t i = 0; !rc && i < all.count; i++) {
		struct pf_buf path = { 0 };

		if (was_there(f, all.items[i]))
			continue;
		pf_buf_addf(&path, "%s/%s", f->folder, all.items[i]);
		add_name(out, path.data);
	}
	pf_capture_names_release(&all);
	return rc;
}

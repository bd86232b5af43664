/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "base/outfile.h"
#include "cmd/output.h"

/* Does it begin as pages and summaries of ours do? */
static bool is_our_page(const char *path)
{
	static const char page[] = "<meta name=\"generator\" content=\"profan ";
	static const char summary[] = "<!-- profan:";
	char head[2048] = { 0 };
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

	if (fd >= 0)
		close(fd);
	if (n == 0)
		return true; /* nothing is lost */
	return n > 0 &&
	       (!strncmp(head, summary, strlen(summary)) ||
		(!strncmp(head, "<!DOCTYPE html>", 15) && strstr(head, page)));
}

int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_outrule *rule, const struct pf_buf *text,
		    struct pf_err *err)
{
	struct pf_outrule own = *rule;
	struct pf_outfile *f;
	int rc;

	own.is_ours = is_our_page;
	f = pf_outfile_open(path ? path : "-", &own, cx->out, err);
	rc = f ? pf_outfile_write(f, text->data, text->len, err) : -1;
	if (!rc)
		rc = pf_outfile_commit(f, err);
	pf_outfile_free(f);
	return rc;
}

int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_outrule *rule, const struct pf_buf *text,
		   struct pf_err *err)
{
	char size[PF_NUM_MAX];

	if (pf_output_write(cx, path, rule, text, err))
		return -1;
	if (path && strcmp(path, "-") != 0)
		pf_log(PF_LOG_NOTE, "wrote '%s', %s", path,
		       pf_num_show_bytes(size, (int64_t)text->len));
	return 0;
}

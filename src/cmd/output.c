/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/num.h"
#include "cmd/output.h"

static int write_file(const char *path, const struct pf_buf *text,
		      struct pf_err *err)
{
	struct pf_buf partial = { 0 };
	FILE *out;
	int rc = 0;

	pf_buf_addf(&partial, "%s.partial", path);
	out = fopen(partial.data, "wb");
	if (!out) {
		rc = pf_fail_errno(err, "cannot write '%s'", partial.data);
		pf_buf_release(&partial);
		return rc;
	}
	if (fwrite(text->data, 1, text->len, out) != text->len)
		rc = pf_fail_errno(err, "cannot write '%s'", partial.data);
	if (fclose(out) && !rc)
		rc = pf_fail_errno(err, "cannot write '%s'", partial.data);
	if (!rc && rename(partial.data, path))
		rc = pf_fail_errno(err, "cannot write '%s'", path);
	if (rc)
		unlink(partial.data);
	pf_buf_release(&partial);
	return rc;
}

int pf_output_write(struct pf_ctx *cx, const char *path,
		    const struct pf_buf *text, struct pf_err *err)
{
	if (path && strcmp(path, "-") != 0)
		return write_file(path, text, err);
	fwrite(text->data, 1, text->len, cx->out);
	return 0;
}

int pf_output_page(struct pf_ctx *cx, const char *path,
		   const struct pf_buf *text, struct pf_err *err)
{
	char size[PF_NUM_MAX];

	if (pf_output_write(cx, path, text, err))
		return -1;
	if (path && strcmp(path, "-") != 0)
		pf_log(PF_LOG_NOTE, "wrote '%s', %s", path,
		       pf_num_show_bytes(size, (int64_t)text->len));
	return 0;
}

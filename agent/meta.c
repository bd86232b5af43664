/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "agent.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <unistd.h>

static void text(struct pf_log *meta, const char *key, const char *value)
{
	pf_log_line(meta, key, value, strlen(value));
}

/* One thread makes the state, and its stack may be the smallest there is. */
static char buffer[32768];

/* The start of a file, as it is; a newline at its end goes. */
static void file(struct pf_log *meta, const char *key, const char *path)
{
	size_t len = 0;
	ssize_t n;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	while (len < sizeof(buffer) &&
	       (n = read(fd, buffer + len, sizeof(buffer) - len)) > 0)
		len += (size_t)n;
	close(fd);
	if (len && buffer[len - 1] == '\n')
		len--;
	pf_log_line(meta, key, buffer, len);
}

void pf_meta_process(struct pf_log *meta, const struct pf_options *o)
{
	static const char *const ranks[] = { "RANK",
					     "LOCAL_RANK",
					     "WORLD_SIZE",
					     "SLURM_PROCID",
					     "OMPI_COMM_WORLD_RANK",
					     "PMI_RANK",
					     "CUDA_VISIBLE_DEVICES",
					     NULL };
	struct utsname host;
	ssize_t n;

	text(meta, "agent", PACKAGE_NAME " " PACKAGE_VERSION);
	pf_log_number(meta, "pid", (uint64_t)getpid());
	pf_log_number(meta, "ppid", (uint64_t)getppid());
	n = readlink("/proc/self/exe", buffer, PATH_MAX);
	if (n > 0)
		pf_log_line(meta, "exe", buffer, (size_t)n);
	if (o->cmdline)
		file(meta, "cmdline", "/proc/self/cmdline");
	if (!uname(&host)) {
		text(meta, "host", host.nodename);
		text(meta, "arch", host.machine);
	}
	file(meta, "boot_id", "/proc/sys/kernel/random/boot_id");
	for (int i = 0; ranks[i]; i++) {
		const char *value = secure_getenv(ranks[i]);
		if (value)
			pf_log_line(meta, ranks[i], value,
				    strnlen(value, 4096));
	}
}

void pf_meta_cupti(struct pf_log *meta, const struct pf_agent *a)
{
	const struct pf_options *o = a->options;
	char sizes[PF_KINDS * 16] = "", groups[256];
	size_t at = 0;

	if (a->cupti.version)
		pf_log_number(meta, "cupti_version", a->cupti.version);
	if (a->cupti.path[0])
		text(meta, "cupti_path", a->cupti.path);
	if (a->cupti.error[0]) {
		text(meta, "cupti_error", a->cupti.error);
		return;
	}
	text(meta, "clock", a->encoder.realtime ? "realtime" : "monotonic");
	pf_options_groups(o->groups, groups, sizeof(groups));
	text(meta, "kinds", groups);
	text(meta, "graph", o->whole_graphs ? "graph" : "node");
	for (int i = 0; i < PF_KINDS; i++)
		if (a->cupti.sizes[i] && at < sizeof(sizes))
			at += (size_t)snprintf(sizes + at, sizeof(sizes) - at,
					       "%s%d:%u", at ? "," : "", i,
					       a->cupti.sizes[i]);
	text(meta, "record_sizes", sizes);
}

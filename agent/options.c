/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "options.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct pf_options options;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static const char *const group_names[PF_GROUPS] = {
	"kernel", "memcpy",   "memset",   "runtime", "driver",
	"sync",   "overhead", "info",     "events",  "memory",
	"uvm",    "env",      "external", "latency", "nvtx",
};

#define BIT(x) (1u << PF_GROUP_##x)
static const uint32_t default_groups = BIT(KERNEL) | BIT(MEMCPY) | BIT(MEMSET) |
				       BIT(RUNTIME) | BIT(DRIVER) | BIT(SYNC) |
				       BIT(OVERHEAD) | BIT(INFO) | BIT(NVTX);

static const struct {
	const char *name;
	int number;
} signals[] = {
	{ "HUP", SIGHUP },     { "USR1", SIGUSR1 }, { "USR2", SIGUSR2 },
	{ "WINCH", SIGWINCH }, { "URG", SIGURG },   { "CONT", SIGCONT },
};

/*
 * One line on stderr.  It is the program's: a pipe that is full is not waited
 * for, and one that nobody reads any more raises no signal.
 */
static void put_line(const char *line, size_t len)
{
	struct pollfd err = { .fd = STDERR_FILENO, .events = POLLOUT };
	static const struct timespec now = { 0, 0 };
	sigset_t ours, before, pending;
	int cancel;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
	sigemptyset(&ours);
	sigaddset(&ours, SIGPIPE);
	sigaddset(&ours, SIGXFSZ);
	sigaddset(&ours, SIGTTOU);
	sigpending(&pending);
	for (int s = 1; s < NSIG; s++)
		if (sigismember(&ours, s) == 1 && sigismember(&pending, s) == 1)
			sigdelset(&ours, s); /* blocked, and the program's */
	pthread_sigmask(SIG_BLOCK, &ours, &before);
	if (poll(&err, 1, 0) == 1 && err.revents & POLLOUT &&
	    write(STDERR_FILENO, line, len) < 0)
		while (sigtimedwait(&ours, NULL, &now) > 0)
			;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_setcancelstate(cancel, NULL);
}

__attribute__((format(printf, 1, 0))) static void say(const char *format,
						      va_list ap)
{
	static const char prefix[] = "profan agent: ";
	char line[1024];
	size_t at = sizeof(prefix) - 1;
	int n, saved = errno;

	memcpy(line, prefix, at);
	n = vsnprintf(line + at, sizeof(line) - at - 1, format, ap);
	if (n > 0) {
		at += (size_t)n < sizeof(line) - at - 1 ? (size_t)n
							: sizeof(line) - at - 2;
		line[at++] = '\n';
		put_line(line, at);
	}
	errno = saved;
}

void pf_warn(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

void pf_note(const char *format, ...)
{
	va_list ap;

	if (!pf_options_get()->verbose)
		return;
	va_start(ap, format);
	say(format, ap);
	va_end(ap);
}

/* A decimal number of at most `most`; `otherwise` if unset or not one. */
static uint64_t number(const char *name, uint64_t otherwise, uint64_t least,
		       uint64_t most)
{
	const char *text = secure_getenv(name);
	char *end;
	unsigned long long v;

	if (!text || !*text)
		return otherwise;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || *end || *text == '-' || v < least || v > most) {
		pf_warn("%s='%.40s' is not a number from %llu to %llu", name,
			text, (unsigned long long)least,
			(unsigned long long)most);
		return otherwise;
	}
	return v;
}

/* Seconds with a fraction, in ns. */
static uint64_t seconds(const char *name)
{
	const char *text = secure_getenv(name), *p = text;
	uint64_t ns = 0, unit = 1000000000u;

	if (!text || !*text)
		return 0;
	for (; *p >= '0' && *p <= '9' && ns < UINT64_C(1000000000000000000);
	     p++)
		ns = ns * 10 + (uint64_t)(*p - '0') * unit;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			ns += (uint64_t)(*p - '0') * (unit /= 10);
	if (*p || p == text) {
		pf_warn("%s='%.40s' is not a number of seconds", name, text);
		return 0;
	}
	return ns;
}

static bool is(const char *name, const char *value)
{
	const char *text = secure_getenv(name);

	return text && !strcmp(text, value);
}

static uint32_t group_bit(const char *name, size_t len)
{
	if (len == 3 && !memcmp(name, "all", 3))
		return (1u << PF_GROUPS) - 1;
	for (int i = 0; i < PF_GROUPS; i++)
		if (strlen(group_names[i]) == len &&
		    !memcmp(name, group_names[i], len))
			return 1u << i;
	pf_warn("PROFAN_KINDS: '%.*s' is unknown", (int)(len < 40 ? len : 40),
		name);
	return 0;
}

/* A list of names alone says what is on; +name and -name change that. */
static uint32_t parse_groups(const char *text)
{
	uint32_t groups = default_groups;
	bool fresh = false;

	while (text && *text) {
		size_t len = strcspn(text, ",");
		if (*text == '-') {
			groups &= ~group_bit(text + 1, len - 1);
		} else if (*text == '+') {
			groups |= group_bit(text + 1, len - 1);
		} else if (len) {
			groups = (fresh ? groups : 0) | group_bit(text, len);
			fresh = true;
		}
		text += len + (text[len] == ',');
	}
	return groups;
}

static int parse_signal(const char *text)
{
	if (!text)
		return SIGUSR2;
	if (!strncmp(text, "SIG", 3))
		text += 3;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (!strcmp(text, signals[i].name))
			return signals[i].number;
	pf_warn("PROFAN_SIGNAL='%.40s' is unknown, USR2 is used", text);
	return SIGUSR2;
}

static void copy(char *to, size_t room, const char *from)
{
	if (from && strlen(from) < room)
		memcpy(to, from, strlen(from) + 1);
	else if (from)
		pf_warn("'%.40s...' is too long", from);
}

static enum pf_start parse_start(void)
{
	static const char *const names[] = { "on", "off", "api", "signal" };

	for (int i = 0; i < 4; i++)
		if (is("PROFAN_START", names[i]))
			return (enum pf_start)i;
	return PF_START_ON;
}

static void read_all(void)
{
	struct pf_options *o = &options;

	copy(o->out, sizeof(o->out), "profan-%h-%p.pfr");
	copy(o->out, sizeof(o->out), secure_getenv("PROFAN_OUT"));
	copy(o->cupti, sizeof(o->cupti), secure_getenv("PROFAN_CUPTI"));
	o->groups = parse_groups(secure_getenv("PROFAN_KINDS"));
	o->whole_graphs = is("PROFAN_GRAPH", "graph");
	o->realtime = is("PROFAN_CLOCK", "realtime");
	o->nvtx = !is("PROFAN_NVTX", "0") && o->groups & BIT(NVTX);
	o->subscribe = !is("PROFAN_SUBSCRIBE", "0");
	o->cmdline = !is("PROFAN_CMDLINE", "0");
	o->all_api = is("PROFAN_API", "all");
	o->verbose = secure_getenv("PROFAN_VERBOSE") &&
		     !is("PROFAN_VERBOSE", "0") && !is("PROFAN_VERBOSE", "");
	o->start = parse_start();
	o->signal = parse_signal(secure_getenv("PROFAN_SIGNAL"));
	o->delay_ns = seconds("PROFAN_DELAY_S");
	o->duration_ns = seconds("PROFAN_DURATION_S");
	o->flush_ns = number("PROFAN_FLUSH_MS", 1000, 1, 3600000) * 1000000;
	o->exit_ns = number("PROFAN_EXIT_MS", 2000, 0, 3600000) * 1000000;
	o->max_bytes = number("PROFAN_MAX_MB", 4096, 1, 1 << 24) << 20;
	o->buffer_bytes = number("PROFAN_BUFFER_KB", 1024, 16, 1 << 16) << 10;
	o->buffers_bytes = number("PROFAN_BUFFERS_MB", 256, 1, 1 << 14) << 20;
	o->device_buffer_bytes =
		number("PROFAN_DEVICE_BUFFER_KB", 0, 0, 1 << 21) << 10;
	o->device_buffers = number("PROFAN_DEVICE_BUFFERS", 0, 0, 1 << 20);
	if (o->buffers_bytes < o->buffer_bytes)
		o->buffers_bytes = o->buffer_bytes;
}

const struct pf_options *pf_options_get(void)
{
	pthread_once(&once, read_all);
	return &options;
}

void pf_options_groups(uint32_t groups, char *out, size_t room)
{
	size_t at = 0;

	out[0] = '\0';
	for (int i = 0; i < PF_GROUPS; i++)
		if (groups & 1u << i && at < room)
			at += (size_t)snprintf(out + at, room - at, "%s%s",
					       at ? "," : "", group_names[i]);
}

/* ---- the name of the file ---- */

struct name {
	char *out;
	size_t at, room;
};

static void add(struct name *n, const char *text)
{
	for (; *text; text++, n->at++)
		if (n->at < n->room)
			n->out[n->at] = *text;
}

static void add_number(struct name *n, long long v)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", v);
	add(n, text);
}

/* A variable's value may not lead out of the folder. */
static void add_variable(struct name *n, const char *p, size_t len)
{
	static const char fine[] = "abcdefghijklmnopqrstuvwxyz0123456789"
				   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._-";
	char name[256], one[2] = { 0 };
	const char *value = NULL;

	if (len < sizeof(name)) {
		memcpy(name, p, len);
		name[len] = '\0';
		value = secure_getenv(name);
	}
	if (!value) {
		add(n, "none");
		return;
	}
	for (; *value; value++) {
		one[0] = strchr(fine, *value) ? *value : '_';
		add(n, one);
	}
}

static const char *add_sequence(struct name *n, const char *p, unsigned file)
{
	char host[256] = "", one[2] = { *p };
	const char *end;

	switch (*p) {
	case 'p':
		add_number(n, getpid());
		break;
	case 'h':
		gethostname(host, sizeof(host) - 1);
		add(n, host);
		break;
	case 't':
		add_number(n, (long long)time(NULL));
		break;
	case 'n':
		add_number(n, file);
		break;
	case 'q':
		end = p[1] == '{' ? strchr(p, '}') : NULL;
		if (end) {
			add_variable(n, p + 2, (size_t)(end - p - 2));
			return end + 1;
		}
		/* fall through */
	default: /* also %% */
		if (*p != '%')
			add(n, "%");
		add(n, one);
		return *p ? p + 1 : p;
	}
	return p + 1;
}

int pf_options_path(const struct pf_options *o, unsigned file, char *out,
		    size_t room)
{
	struct name n = { out, 0, room };
	char one[2] = { 0 };
	const char *p = o->out;

	/* no copy: the stack may be the smallest there is */
	if (*p != '/' && getcwd(out, room)) {
		n.at = strlen(out);
		add(&n, "/");
	}
	while (*p) {
		if (*p == '%') {
			p = add_sequence(&n, p + 1, file);
			continue;
		}
		one[0] = *p++;
		add(&n, one);
	}
	if (n.at >= room)
		return -1;
	out[n.at] = '\0';
	return 0;
}

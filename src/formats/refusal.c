/* SPDX-License-Identifier: MIT */
#include "config.h"

#include <strings.h>

#include "formats/refusal.h"

#include "base/mem.h"

#define NSYS                                                                   \
	"is a report of Nsight Systems: 'nsys export --type sqlite FILE' "     \
	"makes a database that profan reads"
#define NCU                                                                    \
	"is a report of Nsight Compute, which has counters of single kernels " \
	"and no trace: capture with nsys, torch.profiler or profan capture"
#define PERFETTO                                                               \
	"is a trace of Perfetto: 'traceconv json FILE FILE.json' makes a "     \
	"trace that profan reads"
#define NSYS_TABLE                                                             \
	"is a table of 'nsys stats', which has no trace: the report that it "  \
	"is of has one, 'nsys export --type sqlite REPORT.nsys-rep'"
#define ROCPROF_TABLE                                                          \
	"is a table of rocprof (version 1 or 2) or omniperf: trace with "      \
	"'rocprofv3 --runtime-trace --output-format rocpd -- PROGRAM'"
#define XPROF                                                                  \
	"is a table that TensorBoard's profiler made of a trace: read the "    \
	"*.xplane.pb of that run"

/* Bytes at a place; no trace that profan reads begins with them. */
static const struct {
	size_t at;
	const char *bytes;
	size_t len;
	const char *what;
} magics[] = {
	{ 0, "SQLite format 3", 16, "is an SQLite database, not a JSON trace" },
	{ 0, "\x80", 1, "is a pickle, not a JSON trace" },
	{ 0, "PK\x03\x04", 4,
	  "is a ZIP archive (as torch.save writes them), not a trace" },
	{ 0, "version https://git-lfs", 23,
	  "is a Git LFS pointer, not the file itself; fetch it with 'git lfs "
	  "pull'" },
	{ 0,
	  "\xfd"
	  "7zXZ",
	  5, "is xz data: use 'xz -dc FILE | profan ingest -'" },
	{ 0, "BZh", 3,
	  "is bzip2 data: use 'bzip2 -dc FILE | profan ingest -'" },
	{ 0, "\x04\x22\x4d\x18", 4,
	  "is lz4 data: use 'lz4 -dc FILE | profan ingest -'" },
	{ 257, "ustar", 5, "is a tar archive: unpack it, and name the folder" },
	{ 0,
	  "\x7f"
	  "ELF",
	  4, "is a program: 'profan capture PROGRAM' records one" },
	{ 0, "\xff\xfe", 2,
	  "is text in UTF-16: use 'iconv -f UTF-16 -t UTF-8 FILE | profan "
	  "ingest -'" },
	{ 0, "\xfe\xff", 2,
	  "is text in UTF-16: use 'iconv -f UTF-16 -t UTF-8 FILE | profan "
	  "ingest -'" },
	{ 0, "NVIDIA Tegra Profiler Report", 28, NSYS },
	{ 0, "NVR\0", 4, NCU },
	{ 23, "brain.Event:", 12,
	  "is a log of TensorBoard, which has scalars and no trace: profiles "
	  "are in plugins/profile beside it" },
	{ 0, "<", 1, "is markup, not a JSON trace" },
};

/* Columns of tables, some of which are in the first line. */
static const struct {
	const char *columns[3];
	const char *what;
} tables[] = {
	{ { "Total Time (ns)", "Instances", "Name" }, NSYS_TABLE },
	{ { "Total Time (ns)", "Num Calls", "Name" }, NSYS_TABLE },
	{ { "Total Time (ns)", "Count", "Operation" }, NSYS_TABLE },
	{ { "Total Time (ns)", "Instances", "Range" }, NSYS_TABLE },
	{ { "Start (ns)", "Duration (ns)", "Name" }, NSYS_TABLE },
	{ { "Name", "Calls", "TotalDurationNs" }, ROCPROF_TABLE },
	{ { "KernelName", "gpu-id", "queue-id" }, ROCPROF_TABLE },
	{ { "Dispatch_ID", "Kernel_Name", "GPU_ID" }, ROCPROF_TABLE },
	{ { "Dispatch_ID", "BeginNs", "EndNs" }, ROCPROF_TABLE },
	{ { "Dispatch_ID", "Start_Timestamp", "GPU_ID" }, ROCPROF_TABLE },
};

static const struct {
	const char *tail;
	bool is_source; /* another program makes a trace of it */
	const char *what;
} names[] = {
	{ ".nsys-rep", true, NSYS },
	{ ".qdrep", true, NSYS },
	{ ".qdstrm", true,
	  "is what Nsight Systems recorded: 'QdstrmImporter -i FILE' makes a "
	  "report of it, and 'nsys export --type sqlite' a database that "
	  "profan reads" },
	{ ".ncu-rep", false, NCU },
	{ ".pftrace", true, PERFETTO },
	{ ".perfetto-trace", true, PERFETTO },
	{ ".overview_page.pb", false, XPROF },
	{ ".input_pipeline.pb", false, XPROF },
	{ ".tensorflow_stats.pb", false, XPROF },
	{ ".kernel_stats.pb", false, XPROF },
	{ ".op_stats.pb", false, XPROF },
	{ ".memory_profile.json.gz", false, XPROF },
	{ ".pod_viewer.json.gz", false, XPROF },
};

static bool has_word(const char *line, size_t len, const char *word)
{
	return memmem(line, len, word, strlen(word)) != NULL;
}

static const char *of_table(const char *head, size_t len)
{
	const char *end = memchr(head, '\n', len);

	if (!end || memchr(head, '{', (size_t)(end - head)))
		return NULL;
	for (size_t i = 0; i < PF_LEN(tables); i++) {
		size_t found = 0;

		for (size_t k = 0; k < 3; k++)
			found += has_word(head, (size_t)(end - head),
					  tables[i].columns[k]);
		if (found == 3)
			return tables[i].what;
	}
	return NULL;
}

const char *pf_refusal_of_bytes(const char *head, size_t len)
{
	for (size_t i = 0; i < PF_LEN(magics); i++)
		if (len >= magics[i].at + magics[i].len &&
		    !memcmp(head + magics[i].at, magics[i].bytes,
			    magics[i].len))
			return magics[i].what;
	return of_table(head, len);
}

static bool ends_with(const char *path, const char *tail)
{
	const size_t n = strlen(path), k = strlen(tail);

	return n > k && !strcasecmp(path + n - k, tail);
}

/* "profile_step_10_stacks.txt", as export_stacks() is told to write. */
const char *pf_refusal_of_empty(const char *path)
{
	return ends_with(path, "stacks.txt")
		       ? "is empty: torch writes stacks only with "
			 "experimental_config=_ExperimentalConfig("
			 "verbose=True); the trace beside it has them: "
			 "profan stacks"
		       : "is empty";
}

static size_t find_name(const char *path)
{
	size_t i = 0;

	while (i < PF_LEN(names) && !ends_with(path, names[i].tail))
		i++;
	return i;
}

const char *pf_refusal_of_name(const char *path)
{
	size_t i = find_name(path);

	return i < PF_LEN(names) ? names[i].what : NULL;
}

bool pf_refusal_is_named(const char *name)
{
	size_t i = find_name(name);

	return i < PF_LEN(names) && names[i].is_source;
}

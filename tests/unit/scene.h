/* SPDX-License-Identifier: MIT */
/*
 * A small trace, written by hand, in a database of its own, and the document
 * that an analysis makes of it.
 */
#ifndef PF_TESTS_SCENE_H
#define PF_TESTS_SCENE_H

#include "unit/support.h"

#include "store/db.h"
#include "table/doc.h"

/* Events for TRACE(): times in us; host threads 7, 8 and 9; streams. */
#define RANGE(cat, name, ts, dur, pid, args)                                   \
	"{\"ph\": \"X\", \"cat\": \"" cat "\", \"name\": \"" name              \
	"\", \"pid\": " #pid ", \"tid\": " #pid ", \"ts\": " #ts               \
	", \"dur\": " #dur ", \"args\": {" args "}},\n"
#define HOST(cat, name, ts, dur)  RANGE(cat, name, ts, dur, 9, "\"a\": 1")
#define OTHER(cat, name, ts, dur) RANGE(cat, name, ts, dur, 8, "\"a\": 1")
#define CALL(name, ts, dur, number)                                            \
	RANGE("cuda_runtime", name, ts, dur, 7, "\"correlation\": " #number)
#define WORK(cat, name, ts, dur, stream, number)                               \
	WORK_WITH(cat, name, ts, dur, stream, number, "")
/* More arguments, each with a comma before it. */
#define WORK_WITH(cat, name, ts, dur, stream, number, more)                    \
	RANGE(cat, name, ts, dur, stream,                                      \
	      "\"device\": 0, \"stream\": " #stream                            \
	      ", \"correlation\": " #number more)
#define TRACE(events)                                                          \
	"{\"baseTimeNanoseconds\": 1, \"traceEvents\": [\n" events             \
	"{\"ph\": \"i\", \"name\": \"x\", \"pid\": 9, \"tid\": 9, \"ts\": "    \
	"0}]}"

struct scene {
	char *dir, *trace, *path;
	struct pf_db db;
	struct pf_doc doc;
};

/* Fails the test if the trace cannot be read. */
void scene_open(struct scene *s, const char *json);
void scene_close(struct scene *s);
/* Forget the document, for the next analysis. */
void scene_clear(struct scene *s);

/* Fail the test if there is no such table, row, column or scalar. */
const struct pf_table *scene_table(const struct scene *s, const char *name);
const struct pf_cell *scene_cell(const struct scene *s, const char *table,
				 size_t row, const char *key);
const struct pf_cell *scene_scalar(const struct scene *s, const char *key);

/* The cell holds this. */
void scene_int(const struct pf_cell *cell, int64_t want);
void scene_real(const struct pf_cell *cell, double want);
void scene_text(const struct pf_cell *cell, const char *want);
void scene_null(const struct pf_cell *cell);

#endif

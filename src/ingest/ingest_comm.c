/* SPDX-License-Identifier: MIT */
/*
 * GPU work that operators of communication launched.  While threads are
 * merged, every range of such an operator becomes what is known inside it,
 * taken over from the range around it; calls remember the innermost one.
 * Numbers of ranges begin at 1, so that 0 is none.
 */
#include "config.h"

#include "base/mem.h"
#include "events/words.h"
#include "ingest/ingest_impl.h"
#include "base/search.h"

void pf_ingest_comm_note_name(struct pf_ingest *in, uint32_t id,
			      const char *text, size_t len)
{
	unsigned n = pf_word_n(PF_WORD_COMM_OP, text, len);

	if (!n)
		return;
	in->comm_names =
		pf_grow(in->comm_names, &in->comm_names_cap,
			in->comm_name_count + 1, sizeof(*in->comm_names));
	in->comm_names[in->comm_name_count].id = id;
	in->comm_names[in->comm_name_count++].rule =
		(enum pf_comm_rule)(PF_COMM_NAME + n);
}

/*
 * The range of a backend alone may be one of the user's own of that name, or
 * that of a collective which ends when the collective does, long after its
 * thread went on: an operator or a range of the user in it launches work of
 * its own.  Operators of c10d itself hold what they launch.
 */
static bool is_own_work(const struct pf_ingest *in, uint32_t around,
			const struct pf_run_event *ev)
{
	unsigned kind = in->type[ev->type].kind;

	return around && in->comms[around - 1].rule >= PF_COMM_NCCL &&
	       (kind == PF_KIND_CPU_OP || kind == PF_KIND_ANNOTATION);
}

/* Ids grow, so names are in their order. */
static enum pf_comm_rule find_rule(const struct pf_ingest *in, uint32_t name)
{
	size_t low, count = in->comm_name_count;

	if (!count || name < in->comm_names[0].id ||
	    name > in->comm_names[count - 1].id)
		return PF_COMM_NONE;
	low = PF_SEARCH(i, count, in->comm_names[i].id < name);
	return in->comm_names[low].id == name ? in->comm_names[low].rule
					      : PF_COMM_NONE;
}

uint32_t pf_ingest_comm_enter(struct pf_ingest *in, uint32_t around,
			      const struct pf_run_event *ev, int64_t event_id)
{
	enum pf_comm_rule rule = find_rule(in, ev->name);
	struct pf_ingest_comm op = { .args = PF_ID_NONE, .name = PF_ID_NONE };

	if (!rule)
		return is_own_work(in, around, ev) ? 0 : around;
	if (in->comm_count == UINT32_MAX)
		return around;
	if (around)
		op = in->comms[around - 1];
	if (!op.rule || rule < op.rule)
		op.rule = rule;
	if (rule == PF_COMM_RECORD) {
		op.record_id = event_id;
		op.args = ev->args < PF_ID_INLINE ? ev->args : PF_ID_NONE;
	} else if (rule != PF_COMM_C10D || !op.is_named) {
		op.name = ev->name;
		op.is_named = rule != PF_COMM_C10D;
	}
	in->comms = pf_grow(in->comms, &in->comms_cap, in->comm_count + 1,
			    sizeof(*in->comms));
	in->comms[in->comm_count++] = op;
	return (uint32_t)in->comm_count;
}

sqlite3_stmt *pf_ingest_comm_prepare(struct pf_ingest *in, struct pf_err *err)
{
	return pf_db_prepare(
		in->db,
		"INSERT INTO comm_event(trace_id, event_id, rule, record_id,"
		" record_args, name_id)"
		" VALUES(?1, ?2, ?3, nullif(?4, 0), nullif(?5, ?7),"
		" nullif(?6, ?7))",
		err);
}

int pf_ingest_comm_put(struct pf_ingest *in, sqlite3_stmt *st, int64_t event_id,
		       uint32_t comm, struct pf_err *err)
{
	const struct pf_ingest_comm *op = &in->comms[comm - 1];
	int rc;

	sqlite3_bind_int64(st, 1, in->trace_id);
	sqlite3_bind_int64(st, 2, event_id);
	sqlite3_bind_int(st, 3, (int)op->rule);
	sqlite3_bind_int64(st, 4, op->record_id);
	sqlite3_bind_int64(st, 5, op->args);
	sqlite3_bind_int64(st, 6, op->name);
	sqlite3_bind_int64(st, 7, PF_ID_NONE);
	rc = pf_db_step(in->db, st, err);
	sqlite3_reset(st);
	return rc < 0 ? -1 : 0;
}

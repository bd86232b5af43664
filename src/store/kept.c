/* SPDX-License-Identifier: MIT */
/*
 * An array that has been decoded is never written again, so that those who
 * were given it need no lock; one is held while columns are added.
 */
#include "config.h"

#include "store/kept.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "base/mem.h"
#include "store/block.h"

/*
 * A thing that is being made has an entry already, so that two threads never
 * make it twice; the lock is free meanwhile, for other things and for what the
 * thing is made of.  What fails leaves no entry: who waited makes it then.
 */

struct entry {
	struct entry *next;
	pf_memo_make *make;
	void (*release)(void *);
	char *arg;  /* or NULL */
	void *made; /* NULL: somebody is at it */
};

struct pf_memo {
	pthread_mutex_t lock;
	pthread_cond_t settled; /* something was made, or was not */
	struct entry *first;
};

struct pf_memo *pf_memo_new(void)
{
	struct pf_memo *m = pf_calloc(1, sizeof(*m));

	pthread_mutex_init(&m->lock, NULL);
	pthread_cond_init(&m->settled, NULL);
	return m;
}

static struct entry *find(struct pf_memo *m, pf_memo_make *make,
			  const char *arg)
{
	struct entry *e = m->first;

	while (e && (e->make != make || !e->arg != !arg ||
		     (arg && strcmp(e->arg, arg) != 0)))
		e = e->next;
	return e;
}

static struct entry *add(struct pf_memo *m, pf_memo_make *make,
			 void (*release)(void *), const char *arg)
{
	struct entry *e = pf_calloc(1, sizeof(*e));

	e->make = make;
	e->release = release;
	e->arg = arg ? pf_strdup(arg) : NULL;
	e->next = m->first;
	m->first = e;
	return e;
}

static void drop(struct pf_memo *m, struct entry *e)
{
	struct entry **at = &m->first;

	while (*at != e)
		at = &(*at)->next;
	*at = e->next;
	free(e->arg);
	free(e);
}

const void *pf_memo_get(struct pf_db *db, pf_memo_make *make,
			void (*release)(void *), const char *arg,
			struct pf_err *err)
{
	struct pf_memo *m = db->memo;
	struct entry *e;
	void *made;

	pthread_mutex_lock(&m->lock);
	while ((e = find(m, make, arg)) && !e->made)
		pthread_cond_wait(&m->settled, &m->lock);
	if (e) {
		pthread_mutex_unlock(&m->lock);
		return e->made;
	}
	e = add(m, make, release, arg);
	pthread_mutex_unlock(&m->lock);
	made = make(db, arg, err);
	pthread_mutex_lock(&m->lock);
	e->made = made;
	if (!made)
		drop(m, e);
	pthread_cond_broadcast(&m->settled);
	pthread_mutex_unlock(&m->lock);
	return made;
}

void pf_memo_free(struct pf_memo *m)
{
	struct entry *next;

	if (!m)
		return;
	for (struct entry *e = m->first; e; e = next) {
		next = e->next;
		e->release(e->made);
		free(e->arg);
		free(e);
	}
	pthread_cond_destroy(&m->settled);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

struct kept_entry {
	struct pf_block block;
	uint64_t columns; /* decoded */
};

struct pf_kept {
	pthread_mutex_t lock;
	struct pf_map places; /* block id -> entries */
	struct pf_arena arrays;
	struct kept_entry *entries;
	size_t count, cap;
	size_t used_bytes, max_bytes;
};

void pf_kept_start(struct pf_db *db, size_t max_bytes)
{
	struct pf_kept *k;

	if (db->kept)
		return;
	k = pf_calloc(1, sizeof(*k));
	pthread_mutex_init(&k->lock, NULL);
	pf_map_init(&k->places);
	k->max_bytes = max_bytes;
	db->kept = k;
}

static void drop_blocks(struct pf_kept *k)
{
	for (size_t i = 0; i < k->count; i++)
		pf_buf_release(&k->entries[i].block.inline_text);
	free(k->entries);
	k->entries = NULL;
	k->count = k->cap = 0;
	pf_arena_release(&k->arrays);
	pf_map_release(&k->places);
}

void pf_kept_stop(struct pf_db *db)
{
	struct pf_kept *k = db->kept;

	pthread_mutex_lock(&k->lock);
	drop_blocks(k);
	pf_map_init(&k->places);
	k->max_bytes = 0;
	pthread_mutex_unlock(&k->lock);
}

void pf_kept_free(struct pf_kept *k)
{
	if (!k)
		return;
	drop_blocks(k);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

bool pf_kept_take(struct pf_db *db, size_t bytes)
{
	struct pf_kept *k = db->kept;
	bool has_room;

	pthread_mutex_lock(&k->lock);
	has_room = k->used_bytes + bytes <= k->max_bytes;
	if (has_room)
		k->used_bytes += bytes;
	pthread_mutex_unlock(&k->lock);
	return has_room;
}

void pf_kept_give_back(struct pf_db *db, size_t bytes)
{
	pthread_mutex_lock(&db->kept->lock);
	db->kept->used_bytes -= bytes;
	pthread_mutex_unlock(&db->kept->lock);
}

static struct kept_entry *find_entry(struct pf_kept *k, int64_t block_id,
				     uint32_t count)
{
	uint64_t *place = pf_map_at(&k->places, (uint64_t)block_id);

	if (*place == UINT64_MAX) {
		*place = k->count;
		*PF_ONE_MORE(k->entries, k->count, k->cap) =
			(struct kept_entry){ .block = { .count = count,
							.capacity = count } };
	}
	return &k->entries[*place];
}

static size_t width_of(int column)
{
	if (column >= PF_COL_INLINE && column < PF_COL_SLOT)
		return 0;
	return column >= PF_COL_NAME && column < PF_COL_INLINE ? 4 : 8;
}

static size_t bytes_of(uint64_t columns, uint32_t count)
{
	size_t sum = 0;

	for (int c = 0; c < PF_COL_COUNT; c++)
		if (columns >> c & 1)
			sum += width_of(c) * count;
	return sum;
}

static void set_array(struct pf_block *b, int column, void *array)
{
	switch (column) {
	case PF_COL_START:
		b->start_ns = array;
		break;
	case PF_COL_DUR:
		b->dur_ns = array;
		break;
	case PF_COL_ORDER:
		b->order = array;
		break;
	case PF_COL_NAME:
		b->name = array;
		break;
	case PF_COL_TYPE:
		b->type = array;
		break;
	case PF_COL_ARGS:
		b->args = array;
		break;
	case PF_COL_PARENT:
		b->parent = array;
		break;
	case PF_COL_MASK:
		b->mask = array;
		break;
	default:
		b->slot[column - PF_COL_SLOT] = array;
	}
}

static int add_columns(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		       struct kept_entry *e, uint64_t columns,
		       struct pf_err *err)
{
	struct pf_block *b = &e->block;

	for (int c = 0; c < PF_COL_COUNT; c++)
		if ((columns >> c & 1) && width_of(c))
			set_array(b, c,
				  pf_arena_alloc(&db->kept->arrays,
						 width_of(c) * b->capacity));
	PF_TRY(pf_block_load(db, st, block_id, b->count, columns, b, err));
	e->columns |= columns;
	return 0;
}

/* With the lock. */
static int load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		uint32_t count, uint64_t columns, struct pf_block *out,
		struct pf_err *err)
{
	struct pf_kept *k = db->kept;
	struct kept_entry *e = find_entry(k, block_id, count);
	uint64_t missing = columns & ~e->columns;

	if (e->block.count != count)
		return 0;
	if (missing) {
		size_t bytes = sizeof(*e) + bytes_of(missing, count);

		if (k->used_bytes + bytes > k->max_bytes)
			return 0;
		PF_TRY(add_columns(db, st, block_id, e, missing, err));
		k->used_bytes += bytes;
		if (missing & PF_COLBIT(PF_COL_INLINE))
			k->used_bytes += e->block.inline_text.len;
	}
	*out = e->block;
	for (int c = 0; c < PF_COL_COUNT; c++)
		if (!(columns >> c & 1) && width_of(c))
			set_array(out, c, NULL);
	return 1;
}

int pf_kept_load(struct pf_db *db, sqlite3_stmt *st, int64_t block_id,
		 uint32_t count, uint64_t columns, struct pf_block *out,
		 struct pf_err *err)
{
	int rc;

	if (!db->kept)
		return 0;
	pthread_mutex_lock(&db->kept->lock);
	rc = load(db, st, block_id, count, columns, out, err);
	pthread_mutex_unlock(&db->kept->lock);
	return rc;
}

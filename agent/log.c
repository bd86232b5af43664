/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "log.h"

#include <stdio.h>
#include <string.h>

void pf_log_init(struct pf_log *l, void *memory, size_t room)
{
	pthread_mutex_init(&l->lock, NULL);
	l->data = memory;
	l->room = room;
	atomic_init(&l->len, 0);
}

size_t pf_log_length(const struct pf_log *l)
{
	return atomic_load_explicit(&l->len, memory_order_acquire);
}

size_t pf_log_add_locked(struct pf_log *l, const void *bytes, size_t len)
{
	size_t at = atomic_load_explicit(&l->len, memory_order_relaxed);

	if (len > l->room - at)
		return SIZE_MAX;
	memcpy(l->data + at, bytes, len);
	atomic_store_explicit(&l->len, at + len, memory_order_release);
	return at;
}

bool pf_log_add(struct pf_log *l, const void *bytes, size_t len)
{
	size_t at;

	pthread_mutex_lock(&l->lock);
	at = pf_log_add_locked(l, bytes, len);
	pthread_mutex_unlock(&l->lock);
	return at != SIZE_MAX;
}

bool pf_log_line(struct pf_log *l, const char *key, const void *value,
		 size_t len)
{
	static const char hex[] = "0123456789ABCDEF";
	const uint8_t *v = value;
	size_t at, end = l->room;
	bool fits = false;

	pthread_mutex_lock(&l->lock);
	at = atomic_load_explicit(&l->len, memory_order_relaxed);
	if (strlen(key) + 2 > end - at)
		goto out;
	memcpy(l->data + at, key, strlen(key));
	at += strlen(key);
	l->data[at++] = '=';
	for (size_t i = 0; i < len; i++) {
		if (end - at < 4)
			goto out;
		if (v[i] >= 0x20 && v[i] != 0x7F && v[i] != '%') {
			l->data[at++] = v[i];
			continue;
		}
		l->data[at++] = '%';
		l->data[at++] = (uint8_t)hex[v[i] >> 4];
		l->data[at++] = (uint8_t)hex[v[i] & 15];
	}
	l->data[at++] = '\n';
	fits = true;
	atomic_store_explicit(&l->len, at, memory_order_release);
out:
	pthread_mutex_unlock(&l->lock);
	return fits;
}

bool pf_log_number(struct pf_log *l, const char *key, uint64_t value)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%llu", (unsigned long long)value);

	return pf_log_line(l, key, text, (size_t)n);
}

/* SPDX-License-Identifier: MIT */
/* Kineto categories and what they mean (spellings of 2021 to 2026). */
#pragma once

#include <stddef.h>

#include "formats/event.h"

/* The kind that a category's text names; PF_KIND_HOST if it is unknown. */
enum pf_kind pf_category_kind(const char *text, size_t len);

/*
 * The kind of an event, from its phase, the kind of its category, its name
 * (canonical text) and whether its args have both a device and a stream.
 */
enum pf_kind pf_event_kind(char ph, enum pf_kind category, const char *name,
			   size_t name_len, bool on_device);

/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/repair.h"

#define REPAIR(kind, word, text) [PF_REPAIR_##kind] = { word, text }
#define SKIP(kind, word, text)   [PF_SKIP_##kind] = { word, text }
static const struct {
	const char *word, *text;
} repair_words[PF_REPAIR_KINDS] = {
	REPAIR(CONTROL_BYTE, "control_byte",
	       "control bytes inside strings kept"),
	REPAIR(BAD_ESCAPE, "bad_escape", "bad escapes kept as backslashes"),
	REPAIR(BARE_QUOTE, "bare_quote",
	       "quotes inside strings kept that are not escaped"),
	REPAIR(BAD_UTF8, "bad_utf8", "invalid UTF-8 bytes replaced"),
	REPAIR(LONE_SURROGATE, "lone_surrogate", "lone surrogates replaced"),
	REPAIR(NOT_A_NUMBER, "not_a_number", "NaN or Infinity read as null"),
	REPAIR(BAD_NUMBER, "bad_number", "malformed numbers read as null"),
	REPAIR(UNQUOTED, "unquoted_value", "unquoted values read as null"),
	REPAIR(TRAILING_COMMA, "trailing_comma", "stray commas dropped"),
	REPAIR(MISSING_COMMA, "missing_comma", "missing commas between events"),
	REPAIR(BAD_MEMBER, "bad_member",
	       "unreadable text before the events ignored"),
	REPAIR(DUPLICATE_KEY, "duplicate_key",
	       "duplicate keys, the last one kept"),
	REPAIR(NO_DURATION, "no_duration",
	       "complete events without dur read as 0"),
	REPAIR(NEGATIVE_DURATION, "negative_duration",
	       "negative durations read as 0"),
	REPAIR(ROUNDED_TIME, "rounded_time", "times finer than 1 ns rounded"),
	REPAIR(OPEN_BEGIN, "open_begin",
	       "begin events without an end closed at the end of their track"),
	REPAIR(END_MISMATCH, "end_mismatch",
	       "end events of another name than their begin"),
	REPAIR(SEVERAL_DOCUMENTS, "several_documents",
	       "further documents read"),
	REPAIR(NESTED_LIST, "nested_list",
	       "lists of events inside another object read"),
	REPAIR(CUT_OFF, "cut_off", "end of file inside the trace"),
	REPAIR(COMPRESSION, "compression",
	       "compressed data cut off or damaged"),
	REPAIR(TRAILING_BYTES, "trailing_bytes",
	       "bytes after the document ignored"),
	REPAIR(BAD_FRAME, "bad_frame", "damaged frames left out"),
	REPAIR(SKIPPED_BYTES, "skipped_bytes",
	       "bytes that are no whole frame passed over"),
	REPAIR(MISSING_FRAMES, "missing_frames",
	       "frames missing from the file"),
	REPAIR(LOST_EVENTS, "lost_events",
	       "events lost with damaged or missing frames"),
	REPAIR(NO_END, "no_end",
	       "the capture was not closed: its last events may be missing"),
	REPAIR(STOPPED, "stopped", "the capture stopped early"),
	REPAIR(NOT_RECORDED, "not_recorded", "events dropped while capturing"),
	REPAIR(LOST_NAME, "lost_name", "events whose name or launch was lost"),
	REPAIR(BAD_DEFINITION, "bad_definition",
	       "definitions that cannot be used"),
	REPAIR(OPEN_RANGE, "open_range",
	       "ranges still open at the end of the file closed there"),
	REPAIR(TORN_RANGE, "torn_range",
	       "ranges closed where frames are missing"),
	REPAIR(UNTIMED, "untimed", "events without times kept as metadata"),
	REPAIR(NO_CLOCK, "no_clock",
	       "frames of realtime without a clock to convert them"),
	REPAIR(BAD_MESSAGE, "bad_message",
	       "parts that cannot be read left out"),
	REPAIR(BAD_PART, "bad_part",
	       "segments, blocks or frames that cannot be read left out"),
	REPAIR(HISTORY, "history",
	       "points where the history and the final state do not agree"),
	REPAIR(SUMS, "sums",
	       "segments whose blocks do not add up, or do not follow each "
	       "other"),
	REPAIR(LATE, "late", "times that go back held at the one before"),
	REPAIR(CUT_SNAPSHOT, "cut_snapshot",
	       "snapshot cut off or damaged there: what follows is lost"),
	SKIP(MALFORMED, "malformed_event", "malformed events skipped"),
	SKIP(NO_TIME, "no_time", "events without a time skipped"),
	SKIP(TIME_RANGE, "time_range",
	     "events with a time out of range skipped"),
	SKIP(PHASE, "phase", "events of unsupported phases skipped"),
	SKIP(LONE_END, "lone_end", "end events without a begin skipped"),
	SKIP(NOT_AN_EVENT, "not_an_event", "values that are no events skipped"),
	SKIP(PYTHON, "python", "python_function events left out on request"),
	SKIP(TRACKS, "too_many_tracks",
	     "events past the limit of tracks skipped"),
	SKIP(TOO_LARGE, "too_large",
	     "events or values past a size limit skipped"),
	SKIP(UNTIMED, "untimed_skipped", "events without times skipped"),
	SKIP(RECORD_TYPE, "record_type", "records of unused types skipped"),
	SKIP(PLANE, "plane",
	     "events of planes that are neither host nor GPU nor TPU skipped"),
	SKIP(EMPTY, "empty", "empty objects skipped"),
	SKIP(TABLE, "unread_table", "rows of tables that are not read skipped"),
	SKIP(STATE, "state",
	     "objects, dumps and marks of clocks, which take no time, "
	     "skipped"),
};

void pf_repairs_add(struct pf_repairs *to, const struct pf_repairs *from)
{
	for (int k = 0; k < PF_REPAIR_KINDS; k++)
		if (from->of[k].count)
			pf_repair_note(to, (enum pf_repair_kind)k,
				       from->of[k].count,
				       from->of[k].first_offset);
}

const char *pf_repair_word(enum pf_repair_kind kind)
{
	return repair_words[kind].word;
}

const char *pf_repair_text(enum pf_repair_kind kind)
{
	return repair_words[kind].text;
}

bool pf_repair_is_usual(enum pf_repair_kind kind)
{
	return kind == PF_REPAIR_ROUNDED_TIME || kind == PF_SKIP_EMPTY ||
	       kind == PF_SKIP_TABLE || kind == PF_SKIP_STATE;
}

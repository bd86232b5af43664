/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "formats/repair.h"

static const struct {
	const char *word, *text;
} repair_words[PF_REPAIR_KINDS] = {
	[PF_REPAIR_CONTROL_BYTE] = { "control_byte",
				     "control bytes inside strings kept" },
	[PF_REPAIR_BAD_ESCAPE] = { "bad_escape",
				   "bad escapes kept as backslashes" },
	[PF_REPAIR_BARE_QUOTE] = { "bare_quote",
				   "quotes inside strings kept that are not "
				   "escaped" },
	[PF_REPAIR_BAD_UTF8] = { "bad_utf8", "invalid UTF-8 bytes replaced" },
	[PF_REPAIR_LONE_SURROGATE] = { "lone_surrogate",
				       "lone surrogates replaced" },
	[PF_REPAIR_NOT_A_NUMBER] = { "not_a_number",
				     "NaN or Infinity read as null" },
	[PF_REPAIR_BAD_NUMBER] = { "bad_number",
				   "malformed numbers read as null" },
	[PF_REPAIR_UNQUOTED] = { "unquoted_value",
				 "unquoted values read as null" },
	[PF_REPAIR_TRAILING_COMMA] = { "trailing_comma",
				       "stray commas dropped" },
	[PF_REPAIR_MISSING_COMMA] = { "missing_comma",
				      "missing commas between events" },
	[PF_REPAIR_BAD_MEMBER] = { "bad_member",
				   "unreadable text before the events "
				   "ignored" },
	[PF_REPAIR_DUPLICATE_KEY] = { "duplicate_key",
				      "duplicate keys, the last one kept" },
	[PF_REPAIR_NO_DURATION] = { "no_duration",
				    "complete events without dur read as 0" },
	[PF_REPAIR_NEGATIVE_DURATION] = { "negative_duration",
					  "negative durations read as 0" },
	[PF_REPAIR_ROUNDED_TIME] = { "rounded_time",
				     "times finer than 1 ns rounded" },
	[PF_REPAIR_OPEN_BEGIN] = { "open_begin",
				   "begin events without an end closed at the "
				   "end of their track" },
	[PF_REPAIR_END_MISMATCH] = { "end_mismatch",
				     "end events of another name than their "
				     "begin" },
	[PF_REPAIR_SEVERAL_DOCUMENTS] = { "several_documents",
					  "further documents read" },
	[PF_REPAIR_NESTED_LIST] = { "nested_list", "lists of events inside "
						   "another object read" },
	[PF_REPAIR_CUT_OFF] = { "cut_off", "end of file inside the trace" },
	[PF_REPAIR_COMPRESSION] = { "compression",
				    "compressed data cut off or damaged" },
	[PF_REPAIR_TRAILING_BYTES] = { "trailing_bytes",
				       "bytes after the document ignored" },
	[PF_REPAIR_BAD_FRAME] = { "bad_frame", "damaged frames left out" },
	[PF_REPAIR_SKIPPED_BYTES] = { "skipped_bytes",
				      "bytes that are no whole frame passed "
				      "over" },
	[PF_REPAIR_MISSING_FRAMES] = { "missing_frames",
				       "frames missing from the file" },
	[PF_REPAIR_LOST_EVENTS] = { "lost_events",
				    "events lost with damaged or missing "
				    "frames" },
	[PF_REPAIR_NO_END] = { "no_end",
			       "the capture was not closed: its last events "
			       "may be missing" },
	[PF_REPAIR_STOPPED] = { "stopped", "the capture stopped early" },
	[PF_REPAIR_NOT_RECORDED] = { "not_recorded",
				     "events dropped while capturing" },
	[PF_REPAIR_LOST_NAME] = { "lost_name",
				  "events whose name or launch was lost" },
	[PF_REPAIR_BAD_DEFINITION] = { "bad_definition",
				       "definitions that cannot be used" },
	[PF_REPAIR_OPEN_RANGE] = { "open_range",
				   "ranges still open at the end of the file "
				   "closed there" },
	[PF_REPAIR_TORN_RANGE] = { "torn_range",
				   "ranges closed where frames are missing" },
	[PF_REPAIR_UNTIMED] = { "untimed",
				"events without times kept as metadata" },
	[PF_REPAIR_NO_CLOCK] = { "no_clock",
				 "frames of realtime without a clock to "
				 "convert them" },
	[PF_REPAIR_BAD_MESSAGE] = { "bad_message",
				    "parts that cannot be read left out" },
	[PF_REPAIR_BAD_PART] = { "bad_part",
				 "segments, blocks or frames that cannot be "
				 "read left out" },
	[PF_REPAIR_HISTORY] = { "history",
				"points where the history and the final state "
				"do not agree" },
	[PF_REPAIR_SUMS] = { "sums", "segments whose blocks do not add up, or "
				     "do not follow each other" },
	[PF_REPAIR_LATE] = { "late", "times that go back held at the one "
				     "before" },
	[PF_REPAIR_CUT_SNAPSHOT] = { "cut_snapshot",
				     "snapshot cut off or damaged there: what "
				     "follows is lost" },
	[PF_SKIP_MALFORMED] = { "malformed_event", "malformed events skipped" },
	[PF_SKIP_NO_TIME] = { "no_time", "events without a time skipped" },
	[PF_SKIP_TIME_RANGE] = { "time_range",
				 "events with a time out of range skipped" },
	[PF_SKIP_PHASE] = { "phase", "events of unsupported phases skipped" },
	[PF_SKIP_LONE_END] = { "lone_end",
			       "end events without a begin skipped" },
	[PF_SKIP_NOT_AN_EVENT] = { "not_an_event",
				   "values that are no events skipped" },
	[PF_SKIP_PYTHON] = { "python",
			     "python_function events left out on request" },
	[PF_SKIP_TRACKS] = { "too_many_tracks",
			     "events past the limit of tracks skipped" },
	[PF_SKIP_TOO_LARGE] = { "too_large",
				"events or values past a size limit skipped" },
	[PF_SKIP_UNTIMED] = { "untimed_skipped",
			      "events without times skipped" },
	[PF_SKIP_RECORD_TYPE] = { "record_type",
				  "records of unused types skipped" },
	[PF_SKIP_PLANE] = { "plane", "events of planes that are neither host "
				     "nor GPU nor TPU skipped" },
	[PF_SKIP_EMPTY] = { "empty", "empty objects skipped" },
	[PF_SKIP_TABLE] = { "unread_table",
			    "rows of tables that are not read skipped" },
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
	       kind == PF_SKIP_TABLE;
}

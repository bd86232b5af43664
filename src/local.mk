# SPDX-License-Identifier: MIT
# Sources of the program.  One file a line, alphabetical within its folder.

noinst_LIBRARIES += libprofan.a
libprofan_a_SOURCES = \
	src/analysis/alloc_scan.c \
	src/analysis/alloc_scan.h \
	src/analysis/args.c \
	src/analysis/args.h \
	src/analysis/averages.c \
	src/analysis/averages.h \
	src/analysis/averages_doc.c \
	src/analysis/averages_doc.h \
	src/analysis/averages_store.c \
	src/analysis/doctor.c \
	src/analysis/doctor.h \
	src/analysis/doctor_gpu.c \
	src/analysis/doctor_impl.h \
	src/analysis/doctor_tracks.c \
	src/analysis/engine.h \
	src/analysis/engine_backward.c \
	src/analysis/engine_calls.c \
	src/analysis/engine_device.c \
	src/analysis/engine_host.c \
	src/analysis/engine_links.c \
	src/analysis/engine_memory.c \
	src/analysis/engine_overhead.c \
	src/analysis/engine_survey.c \
	src/analysis/facts.c \
	src/analysis/facts.h \
	src/analysis/flops.c \
	src/analysis/flops.h \
	src/analysis/gap_explain.c \
	src/analysis/gap_explain.h \
	src/analysis/gap_find.c \
	src/analysis/gap_find.h \
	src/analysis/gaps.c \
	src/analysis/gaps.h \
	src/analysis/gaps_impl.h \
	src/analysis/gaps_show.c \
	src/analysis/gpu.c \
	src/analysis/gpu.h \
	src/analysis/groups.c \
	src/analysis/groups.h \
	src/analysis/host.c \
	src/analysis/host.h \
	src/analysis/info.c \
	src/analysis/info.h \
	src/analysis/intern.c \
	src/analysis/intern.h \
	src/analysis/interval.c \
	src/analysis/interval.h \
	src/analysis/kernel_name.c \
	src/analysis/kernels.c \
	src/analysis/kernels.h \
	src/analysis/launches.c \
	src/analysis/launches.h \
	src/analysis/lookup.c \
	src/analysis/lookup.h \
	src/analysis/memory.c \
	src/analysis/memory.h \
	src/analysis/merge.c \
	src/analysis/merge.h \
	src/analysis/names.c \
	src/analysis/names.h \
	src/analysis/overlap.c \
	src/analysis/overlap.h \
	src/analysis/reader.c \
	src/analysis/reader.h \
	src/analysis/rules.c \
	src/analysis/rules.h \
	src/analysis/stats.c \
	src/analysis/stats.h \
	src/analysis/step.c \
	src/analysis/step.h \
	src/analysis/steps.c \
	src/analysis/steps.h \
	src/analysis/sync_sites.c \
	src/analysis/sync_sites.h \
	src/analysis/syncs.c \
	src/analysis/syncs.h \
	src/analysis/torch_table.c \
	src/analysis/torch_table.h \
	src/analysis/tree.c \
	src/analysis/tree.h \
	src/analysis/usage.c \
	src/analysis/usage.h \
	src/analysis/usage_blocks.c \
	src/analysis/usage_impl.h \
	src/analysis/usage_levels.c \
	src/analysis/usage_tables.c \
	src/analysis/walk.c \
	src/analysis/walk.h \
	src/analysis/window.c \
	src/analysis/window.h \
	src/base/base64.c \
	src/base/base64.h \
	src/base/buf.c \
	src/base/buf.h \
	src/base/err.c \
	src/base/err.h \
	src/base/jsonw.c \
	src/base/jsonw.h \
	src/base/log.c \
	src/base/log.h \
	src/base/mem.c \
	src/base/mem.h \
	src/base/num.c \
	src/base/num.h \
	src/base/opt.c \
	src/base/opt.h \
	src/base/progress.c \
	src/base/progress.h \
	src/base/sha256.c \
	src/base/sha256.h \
	src/base/sorter.c \
	src/base/spool.c \
	src/base/spool.h \
	src/base/suggest.c \
	src/base/suggest.h \
	src/base/tempfile.c \
	src/base/tempfile.h \
	src/base/utf8.c \
	src/base/utf8.h \
	src/embed/asset.c \
	src/embed/asset.h \
	src/embed/asset_table.h \
	src/render/csv.c \
	src/render/escape.c \
	src/render/escape.h \
	src/render/format.h \
	src/render/json.c \
	src/render/md.c \
	src/render/render.c \
	src/render/render.h \
	src/render/text.c \
	src/report/chart.c \
	src/report/chart.h \
	src/report/figure.c \
	src/report/figure.h \
	src/report/fill.c \
	src/report/fill.h \
	src/report/gather.c \
	src/report/gather.h \
	src/report/html.c \
	src/report/html.h \
	src/report/md.c \
	src/report/page.c \
	src/report/report.c \
	src/report/report.h \
	src/report/rules.c \
	src/report/rules.h \
	src/report/sections.c \
	src/report/sections.h \
	src/report/tiles.c \
	src/report/tiles.h \
	src/report/verdict.c \
	src/report/verdict.h \
	src/store/argtext.c \
	src/store/argtext.h \
	src/store/block.c \
	src/store/block.h \
	src/store/block_load.c \
	src/store/block_load.h \
	src/store/cursor.c \
	src/store/cursor.h \
	src/store/db.c \
	src/store/db.h \
	src/store/export.c \
	src/store/export.h \
	src/store/ingest.c \
	src/store/ingest.h \
	src/store/ingest_block.c \
	src/store/ingest_config.c \
	src/store/ingest_config.h \
	src/store/ingest_gpu.c \
	src/store/ingest_heap.c \
	src/store/ingest_impl.h \
	src/store/ingest_later.c \
	src/store/ingest_later.h \
	src/store/ingest_merge.c \
	src/store/ingest_names.c \
	src/store/ingest_names.h \
	src/store/ingest_pair.c \
	src/store/ingest_read.c \
	src/store/ingest_rows.c \
	src/store/ingest_run.c \
	src/store/ingest_run.h \
	src/store/ingest_sort.c \
	src/store/ingest_texts.c \
	src/store/ingest_turn.c \
	src/store/lexicon.c \
	src/store/lexicon.h \
	src/store/named.c \
	src/store/named.h \
	src/store/query.c \
	src/store/query.h \
	src/store/varint.h \
	src/store/vtab.c \
	src/store/vtab.h \
	src/store/vtab_column.c \
	src/store/vtab_group.c \
	src/store/vtab_group.h \
	src/store/vtab_impl.h \
	src/store/vtab_plan.c \
	src/store/vtab_scan.c \
	src/store/vtab_scan.h \
	src/table/doc.c \
	src/table/doc.h \
	src/table/find.c \
	src/table/find.h \
	src/table/table.c \
	src/table/table.h \
	src/trace/category.c \
	src/trace/category.h \
	src/trace/chrome.c \
	src/trace/chrome.h \
	src/trace/dict.c \
	src/trace/dict.h \
	src/trace/event.h \
	src/trace/extract_impl.h \
	src/trace/extract_plain.c \
	src/trace/extract_simd.c \
	src/trace/input.c \
	src/trace/input.h \
	src/trace/limits.h \
	src/trace/mend.c \
	src/trace/mend.h \
	src/trace/number.c \
	src/trace/number.h \
	src/trace/redact.c \
	src/trace/redact.h \
	src/trace/repair.c \
	src/trace/repair.h \
	src/trace/scan.h
nodist_libprofan_a_SOURCES = src/embed/assets.c

bin_PROGRAMS += profan
profan_SOURCES = \
	src/cmd/cmd.c \
	src/cmd/cmd.h \
	src/cmd/cmd_doctor.c \
	src/cmd/cmd_export.c \
	src/cmd/cmd_gaps.c \
	src/cmd/cmd_help.c \
	src/cmd/cmd_info.c \
	src/cmd/cmd_ingest.c \
	src/cmd/cmd_kernels.c \
	src/cmd/cmd_launches.c \
	src/cmd/cmd_memory.c \
	src/cmd/cmd_overlap.c \
	src/cmd/cmd_query.c \
	src/cmd/cmd_report.c \
	src/cmd/cmd_steps.c \
	src/cmd/cmd_syncs.c \
	src/cmd/cmd_table.c \
	src/cmd/completion.c \
	src/cmd/completion.h \
	src/cmd/usage.c \
	src/main.c
profan_LDADD = libprofan.a $(PROFAN_LIBS)
dist_man1_MANS += src/profan.1

src/embed/assets.c: $(EMBEDDED) src/embed/embed.sh Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && AWK='$(AWK)' $(SHELL) \
		$(srcdir)/src/embed/embed.sh $(srcdir) $(EMBEDDED) > $@.tmp && \
		mv $@.tmp $@
CLEANFILES += src/embed/assets.c src/embed/assets.c.tmp
EXTRA_DIST += src/embed/embed.sh

# The virtual tables as an extension for other programs with SQLite.
pkglib_LTLIBRARIES += profan_sqlite.la
profan_sqlite_la_SOURCES = \
	src/base/buf.c \
	src/base/err.c \
	src/base/mem.c \
	src/embed/asset.c \
	src/store/argtext.c \
	src/store/block.c \
	src/store/block_load.c \
	src/store/cursor.c \
	src/store/db.c \
	src/store/extension.c \
	src/store/lexicon.c \
	src/store/vtab.c \
	src/store/vtab_column.c \
	src/store/vtab_group.c \
	src/store/vtab_plan.c \
	src/store/vtab_scan.c
nodist_profan_sqlite_la_SOURCES = src/embed/assets.c
profan_sqlite_la_CPPFLAGS = $(AM_CPPFLAGS) -DPF_EXTENSION
profan_sqlite_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols-regex '^sqlite3_profansqlite_init$$'
profan_sqlite_la_LIBADD = $(ZSTD_LIBS)

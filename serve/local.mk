# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# triadd: serves the outside, in a process of its own.
#
# libtriadweb.la: its HTTP server, page and REST interface, for tests, too.
libtriadweb_la_SOURCES = \
	perfmgr/export/gzip.h \
	perfmgr/export/http.c perfmgr/export/http.h \
	perfmgr/export/http_answer.c \
	perfmgr/export/http_clients.c perfmgr/export/http_clients.h \
	perfmgr/export/http_exchange.c perfmgr/export/http_exchange.h \
	perfmgr/export/http_files.c perfmgr/export/http_files.h \
	perfmgr/export/http_handler.h \
	perfmgr/export/http_server.c perfmgr/export/http_server.h \
	perfmgr/export/http_tls.c perfmgr/export/http_tls.h \
	perfmgr/export/microhttpd.h \
	service/web/answer.c \
	service/web/files.h \
	service/web/metrics.c service/web/metrics.h \
	service/web/openapi.c service/web/openapi.h \
	service/web/pool.c service/web/pool.h \
	service/web/schemas.h \
	service/web/stream.c service/web/stream.h \
	service/web/web.c service/web/web.h service/web/web_parts.h
nodist_libtriadweb_la_SOURCES = service/web/page_files.c service/web/schemas.c
libtriadweb_la_CFLAGS = $(AM_CFLAGS) $(TRIADD_CFLAGS)
libtriadweb_la_LIBADD = $(NETTLE_LIBS) $(TRIADD_LIBS)
CLEANFILES += service/web/page_files.c service/web/schemas.c

libtriadkept_la_SOURCES += \
	serve/history/copies.c \
	serve/history/files.c serve/history/files.h \
	serve/history/mirror.c serve/history/mirror.h \
	serve/history/others.c \
	serve/history/read.c serve/history/read.h \
	serve/history/store.c serve/history/store.h serve/history/store_parts.h \
	serve/history/level_sums.c serve/history/level_sums.h \
	serve/history/port_series.c serve/history/port_series.h \
	serve/history/unpack.c serve/history/unpack.h \
	service/state_path.c service/state_path.h
libtriadkept_la_CFLAGS = $(AM_CFLAGS)

triadd_SOURCES = \
	serve/history/keeper.c serve/history/keeper.h \
	serve/history/rewinder.c serve/history/rewinder.h \
	service/webhook_post.c service/webhook_post.h \
	agent/log.c agent/log.h \
	cli/child.c cli/child.h \
	cli/client.c cli/client.h \
	cli/find.c cli/find.h \
	cli/reply.c cli/reply.h \
	cli/slurm_job.c cli/slurm_job.h \
	service/served.c \
	serve/main.c \
	collect/nats/record.c collect/nats/record.h \
	serve/alerts.c serve/alerts.h \
	serve/broker.c serve/broker.h \
	serve/link.c serve/link.h \
	serve/outlet.c serve/outlet.h \
	serve/profile.c serve/profile.h \
	serve/profile_writer.c serve/profile_writer.h \
	serve/slurm.c serve/slurm.h
triadd_CFLAGS = $(AM_CFLAGS) $(TRIADD_CFLAGS)
triadd_LDADD = libtriadweb.la libtriadkept.la libtriadbus.la libtriadcollect.la libtriadprofile.la \
	libtriad.la $(GLIB_LIBS)

if HAVE_TRIADD
noinst_LTLIBRARIES += libtriadweb.la
sbin_PROGRAMS += triadd
endif

EXTRA_DIST += scripts/embed-files service/web/plain/index.html service/web/schemas.json

# The page, made of its files where its library is; else as it came with a release's archive;
# else a plain one.  Looked at each time, because nobody knows its files here.  Two builds at a
# time must not take each other's file.
.PHONY: look-for-page
service/web/page_files.c: scripts/embed-files scripts/page-build look-for-page
	$(AM_V_at)$(MKDIR_P) service/web && made=$@.$$$$ && \
	{ test "x$(have_page)" != xmade || $(srcdir)/scripts/page-build \
		--libraries "$(PAGE_LIBRARIES)" --out $$made.page; } && \
	$(srcdir)/scripts/embed-files $$made.page $(srcdir)/page/dist \
		$(srcdir)/service/web/plain >$$made && rm -rf $$made.page && \
	if cmp -s $$made $@; then rm $$made; else mv $$made $@; fi

service/web/schemas.c: scripts/embed-files service/web/schemas.json
	$(AM_V_GEN)$(MKDIR_P) service/web && \
	$(srcdir)/scripts/embed-files triad_web_schemas=$(srcdir)/service/web/schemas.json \
		>$@.tmp && mv $@.tmp $@

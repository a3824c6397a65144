# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# triad-agent: the service without OpenSM; it needs libibnetdisc.
if HAVE_IBNETDISC
sbin_PROGRAMS += triad-agent
endif

triad_agent_SOURCES = \
	agent/agent.c agent/agent.h \
	agent/discover.c agent/discover.h \
	agent/discovery.c agent/discovery.h \
	agent/discovery_asker.c agent/discovery_asker.h \
	agent/discovery_process.c \
	agent/discovery_reply.c agent/discovery_reply.h \
	agent/log.c agent/log.h \
	agent/main.c \
	agent/status.c \
	agent/topology.c agent/topology.h
triad_agent_CFLAGS = $(AM_CFLAGS) $(UMAD_CFLAGS) $(IBNETDISC_CFLAGS)
triad_agent_LDADD = libtriadservice.la libtriadbus.la libtriadcollect.la libtriadexport.la libtriad.la $(GLIB_LIBS) \
	$(UMAD_LIBS) $(IBNETDISC_LIBS)

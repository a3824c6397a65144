# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# In libtriadcollect.la, whose form of a fabric images have.
libtriadcollect_la_SOURCES += \
	history/answer.c history/answer.h \
	history/extra.c history/extra.h \
	history/image.c history/image.h \
	history/image_extra.c history/image_extra.h \
	history/image_lists.c history/image_lists.h \
	history/kept.c history/kept.h \
	history/lines.c history/lines.h \
	history/output.c history/output.h \
	history/past.c history/past.h history/past_parts.h \
	history/past_content.c history/past_error.c history/past_extra.c \
	history/past_lists.c \
	history/record.c history/record.h \
	history/tier.c history/tier.h

# libtriadkept.la: images of the fabric, kept and read; for triadd and tests.
noinst_LTLIBRARIES += libtriadkept.la
libtriadkept_la_SOURCES = \
	history/mirror/message.c history/mirror/message.h \
	history/mirror/mirror.c history/mirror/mirror.h history/mirror/parts.h \
	history/mirror/pull.c \
	history/mirror/serve.c \
	history/ring.c history/ring.h \
	history/rings.c history/rings.h

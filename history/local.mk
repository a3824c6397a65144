# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# In libtriadcollect.la, whose form of a fabric images have.
libtriadcollect_la_SOURCES += \
	history/image.c history/image.h \
	history/output.c history/output.h \
	history/past.c history/past.h history/past_parts.h \
	history/past_content.c \
	history/record.c history/record.h \
	history/ring.c history/ring.h

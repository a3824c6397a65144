# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
noinst_HEADERS += \
	include/triad/address.h \
	include/triad/clock.h \
	include/triad/command.h \
	include/triad/conf.h \
	include/triad/control.h \
	include/triad/descriptors.h \
	include/triad/diag.h \
	include/triad/fabric.h \
	include/triad/file.h \
	include/triad/folder.h \
	include/triad/json.h \
	include/triad/line_file.h \
	include/triad/lists.h \
	include/triad/log.h \
	include/triad/mad.h \
	include/triad/output.h \
	include/triad/severity.h \
	include/triad/socket_address.h \
	include/triad/table.h \
	include/triad/thread.h \
	include/triad/threshold.h \
	include/triad/wire.h

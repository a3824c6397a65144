/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "plugin/osmlog.h"

#include "plugin/opensm.h"

static void write_log_line(void *context, enum triad_log_level level, const char *line)
{
	static const osm_log_level_t levels[] = {
		[TRIAD_LOG_ERROR] = OSM_LOG_ERROR,
		[TRIAD_LOG_WARNING] = OSM_LOG_INFO,
		[TRIAD_LOG_INFO] = OSM_LOG_INFO,
		[TRIAD_LOG_VERBOSE] = OSM_LOG_INFO,
		[TRIAD_LOG_DEBUG] = OSM_LOG_INFO,
	};
	struct triad_osmlog *osmlog = context;

	/* [log] level has already filtered, so that Triad's verbose lines don't need
	 * verbose log_flags of the whole SM. */
	osm_log(osmlog->osm_log, levels[level], "triad: %s%s\n",
		level == TRIAD_LOG_ERROR ? "error: " : "", line);
	if (level <= TRIAD_LOG_WARNING && atomic_load(&osmlog->has_syslog))
		(void)triad_syslog_send(&osmlog->syslog, level, "triad: %s", line);
}

void triad_osmlog_init(struct triad_osmlog *osmlog, void *osm_log)
{
	osmlog->osm_log = osm_log;
	osmlog->log.write = write_log_line;
	osmlog->log.context = osmlog;
	atomic_init(&osmlog->log.level, TRIAD_LOG_INFO);
	atomic_init(&osmlog->has_syslog, true);
	osmlog->syslog = (struct triad_syslog){
		.path = TRIAD_SYSLOG_PATH, .tag = TRIAD_OSMLOG_TAG};
}

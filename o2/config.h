/* config.h.  Generated from config.h.in by configure.  */
/* config.h.in.  Generated from configure.ac by autoheader.  */

/* Define to 1 if you have the <dlfcn.h> header file. */
#define HAVE_DLFCN_H 1

/* Define to 1 if you have the <inttypes.h> header file. */
#define HAVE_INTTYPES_H 1

/* Define to 1 if `socket' is a member of `osm_console_t'. */
#define HAVE_OSM_CONSOLE_T_SOCKET 1

/* Define to 1 if `console' is a member of `osm_opensm_t'. */
#define HAVE_OSM_OPENSM_T_CONSOLE 1

/* Define to 1 if `lock' is a member of `osm_opensm_t'. */
#define HAVE_OSM_OPENSM_T_LOCK 1

/* Define to 1 if `log' is a member of `osm_opensm_t'. */
#define HAVE_OSM_OPENSM_T_LOG 1

/* Define to 1 if `sa' is a member of `osm_opensm_t'. */
#define HAVE_OSM_OPENSM_T_SA 1

/* Define to 1 if `subn' is a member of `osm_opensm_t'. */
#define HAVE_OSM_OPENSM_T_SUBN 1

/* Define to 1 if `pkeys' is a member of `osm_physp_t'. */
#define HAVE_OSM_PHYSP_T_PKEYS 1

/* Define to 1 if `slvl_by_port' is a member of `osm_physp_t'. */
#define HAVE_OSM_PHYSP_T_SLVL_BY_PORT 1

/* Define to 1 if `console' is a member of `osm_subn_opt_t'. */
#define HAVE_OSM_SUBN_OPT_T_CONSOLE 1

/* Define to 1 if `event_plugin_options' is a member of `osm_subn_opt_t'. */
#define HAVE_OSM_SUBN_OPT_T_EVENT_PLUGIN_OPTIONS 1

/* Define to 1 if `max_rate_enum' is a member of `osm_subn_opt_t'. */
/* #undef HAVE_OSM_SUBN_OPT_T_MAX_RATE_ENUM */

/* Define to 1 if `node_guid_tbl' is a member of `osm_subn_t'. */
#define HAVE_OSM_SUBN_T_NODE_GUID_TBL 1

/* Define to 1 if `sm_port_guid' is a member of `osm_subn_t'. */
#define HAVE_OSM_SUBN_T_SM_PORT_GUID 1

/* Define to 1 if `sm_state' is a member of `osm_subn_t'. */
#define HAVE_OSM_SUBN_T_SM_STATE 1

/* Define to 1 if `lft' is a member of `osm_switch_t'. */
#define HAVE_OSM_SWITCH_T_LFT 1

/* Define to 1 if `lft_size' is a member of `osm_switch_t'. */
#define HAVE_OSM_SWITCH_T_LFT_SIZE 1

/* Define to 1 if you have the <stdint.h> header file. */
#define HAVE_STDINT_H 1

/* Define to 1 if you have the <stdio.h> header file. */
#define HAVE_STDIO_H 1

/* Define to 1 if you have the <stdlib.h> header file. */
#define HAVE_STDLIB_H 1

/* Define to 1 if you have the <strings.h> header file. */
#define HAVE_STRINGS_H 1

/* Define to 1 if you have the <string.h> header file. */
#define HAVE_STRING_H 1

/* Define to 1 if you have the <sys/stat.h> header file. */
#define HAVE_SYS_STAT_H 1

/* Define to 1 if you have the <sys/types.h> header file. */
#define HAVE_SYS_TYPES_H 1

/* Define to 1 if you have the <unistd.h> header file. */
#define HAVE_UNISTD_H 1

/* Define to the sub-directory where libtool stores uninstalled libraries. */
#define LT_OBJDIR ".libs/"

/* Name of package */
#define PACKAGE "triad"

/* Define to the address where bug reports for this package should be sent. */
#define PACKAGE_BUGREPORT ""

/* Define to the full name of this package. */
#define PACKAGE_NAME "triad"

/* Define to the full name and version of this package. */
#define PACKAGE_STRING "triad 0.1.0"

/* Define to the one symbol short name of this package. */
#define PACKAGE_TARNAME "triad"

/* Define to the home page for this package. */
#define PACKAGE_URL ""

/* Define to the version of this package. */
#define PACKAGE_VERSION "0.1.0"

/* The size of `osm_opensm_t', as computed by sizeof. */
#define SIZEOF_OSM_OPENSM_T 189016

/* Define to 1 if all of the C90 standard headers exist (not just the ones
   required in a freestanding environment). This macro is provided for
   backward compatibility; new code need not use it. */
#define STDC_HEADERS 1

/* version of the OpenSM whose headers the plugin was built with */
#define TRIAD_OPENSM_VERSION "3.3.23"

/* Version number of package */
#define VERSION "0.1.0"

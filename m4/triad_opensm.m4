# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# TRIAD_OPENSM(PREFIX)
# Finds OpenSM's headers below PREFIX and checks what the plugin relies on:
# the plugin interface, a layout decided by <opensm/osm_config.h>, and each
# member that is read.  Sets opensm_version, opensm_includedir and
# OPENSM_CFLAGS, or stops with the reason and what to do.
AC_DEFUN([TRIAD_OPENSM], [
opensm_includedir="$1/include/infiniband"
AC_MSG_CHECKING([for OpenSM's headers])
AS_IF([test -r "$opensm_includedir/opensm/osm_config.h"],
  [AC_MSG_RESULT([$opensm_includedir])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([no $opensm_includedir/opensm/osm_config.h: install libopensm-dev, or name the place with --with-opensm=PREFIX])])
OPENSM_CFLAGS="-isystem $opensm_includedir -isystem $1/include"
AC_SUBST([OPENSM_CFLAGS])

AC_MSG_CHECKING([for OpenSM's version])
opensm_version=`$SED -n 's/^.define OSM_VERSION "OpenSM \(.*\)".*/\1/p' "$opensm_includedir/opensm/osm_version.h"`
AS_IF([test -n "$opensm_version"], [AC_MSG_RESULT([$opensm_version])],
  [AC_MSG_RESULT([unknown])
   AC_MSG_ERROR([$opensm_includedir/opensm/osm_version.h does not say OSM_VERSION "OpenSM ...": these headers aren't OpenSM's, or of a version Triad doesn't know])])

saved_CPPFLAGS=$CPPFLAGS
CPPFLAGS="$CPPFLAGS $OPENSM_CFLAGS"
AC_MSG_CHECKING([whether OpenSM's plugin interface is version 2])
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
    #if OSM_EVENT_PLUGIN_INTERFACE_VER != 2
    #error interface
    #endif
    #ifndef HAVE_LIBPTHREAD
    #error layout
    #endif
  ]])], [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([OpenSM $opensm_version in $opensm_includedir doesn't compile, has another plugin interface than 2, or was configured without pthreads (see config.log); Triad is known to work with 3.3.23])])
AC_CHECK_MEMBERS([osm_opensm_t.subn, osm_opensm_t.lock, osm_opensm_t.log,
    osm_opensm_t.console, osm_opensm_t.sa, osm_subn_t.node_guid_tbl,
    osm_subn_t.sm_port_guid, osm_subn_t.sm_state, osm_subn_opt_t.console,
    osm_subn_opt_t.event_plugin_options, osm_switch_t.lft, osm_switch_t.lft_size,
    osm_physp_t.slvl_by_port, osm_physp_t.pkeys, osm_console_t.socket],
  [], [AC_MSG_ERROR([OpenSM $opensm_version lacks a structure member that Triad reads (the last 'checking for' line above); Triad is known to work with 3.3.23])],
  [[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]])
AC_CHECK_SIZEOF([osm_opensm_t], [], [[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]])
CPPFLAGS=$saved_CPPFLAGS
])

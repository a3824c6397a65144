# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# TRIAD_OPENSM(PREFIX)
# Finds OpenSM's headers below PREFIX and checks what the plugin relies on:
# the plugin interface, a layout decided by <opensm/osm_config.h>, and each
# member that is read.  Sets opensm_version, opensm_tested, opensm_includedir and
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

# A version that nobody tried may have moved what the plugin reads, and then the SM would
# be harmed: so its user says that this is a trial.
AC_ARG_ENABLE([untested-opensm],
  [AS_HELP_STRING([--enable-untested-opensm],
    [build for an OpenSM that Triad was not tested with])],
  [], [enable_untested_opensm=no])
AS_CASE([$opensm_version],
  [3.3.21|3.3.22|3.3.23|3.3.24], [opensm_tested=],
  [opensm_tested=" (not tested)"
   AS_IF([test "x$enable_untested_opensm" != xyes],
     [AC_MSG_ERROR([Triad was tested with OpenSM 3.3.21 to 3.3.24, not with $opensm_version: use one of those, or, to try it on a fabric that may be harmed, --enable-untested-opensm])])])

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
   AC_MSG_ERROR([OpenSM $opensm_version in $opensm_includedir doesn't compile, has another plugin interface than 2, or was configured without pthreads (see config.log); Triad works with 3.3.21 to 3.3.24])])
AC_CHECK_MEMBERS([osm_opensm_t.subn, osm_opensm_t.lock, osm_opensm_t.log,
    osm_opensm_t.console, osm_opensm_t.sa, osm_subn_t.node_guid_tbl,
    osm_subn_t.sm_port_guid, osm_subn_t.sm_state, osm_subn_opt_t.console,
    osm_subn_opt_t.event_plugin_options, osm_switch_t.lft, osm_switch_t.lft_size,
    osm_physp_t.slvl_by_port, osm_physp_t.pkeys, osm_console_t.socket],
  [], [AC_MSG_ERROR([OpenSM $opensm_version lacks a structure member that Triad reads (the last 'checking for' line above); Triad works with 3.3.21 to 3.3.24])],
  [[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]])
AC_MSG_CHECKING([whether osm_req_set() takes an M_Key and a timeout])
AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]], [[
    osm_madw_context_t context;
    return osm_req_set((osm_sm_t *)0, (osm_dr_path_t *)0, (uint8_t *)0, 0,
      IB_MAD_ATTR_SLVL_TABLE, 0, FALSE, (ib_net64_t)0, (uint32_t)0,
      CL_DISP_MSGID_NONE, &context);
  ]])], [AC_MSG_RESULT([yes])],
  [AC_MSG_RESULT([no])
   AC_MSG_ERROR([OpenSM $opensm_version sends SMPs in another way (osm_req_set() has other parameters), as 3.3.20 and older do: Triad needs 3.3.21 or later])])
AC_CHECK_MEMBERS([osm_subn_opt_t.max_rate_enum], [], [], [[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]])
AC_CHECK_SIZEOF([osm_opensm_t], [], [[
    #include <opensm/osm_config.h>
    #include <opensm/osm_opensm.h>
  ]])
CPPFLAGS=$saved_CPPFLAGS
])

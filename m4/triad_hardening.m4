# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#
# TRIAD_HARDENING
# Adds to TRIAD_CFLAGS and TRIAD_LDFLAGS what makes a mistake in memory harder to
# use, as far as compiler and linker know it: the plugin runs in the SM as root and
# reads what networks send.  The user's CFLAGS, CPPFLAGS and LDFLAGS come after these
# on each command line, and so win.
#
# Left out: -fcf-protection.  A process is protected by it only when every object that
# is loaded was built so, and neither Debian's libc nor opensm is.

# TRIAD_TRY_FLAG(VARIABLE, FLAG): adds FLAG to VARIABLE if a program builds with it.
AC_DEFUN([TRIAD_TRY_FLAG], [
AC_MSG_CHECKING([whether $CC knows $2])
saved_CFLAGS=$CFLAGS
CFLAGS="-Werror $TRIAD_CFLAGS $TRIAD_LDFLAGS $2 $CFLAGS"
AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <string.h>]],
    [[char text[64]; memset(text, 0, sizeof(text)); return text[9];]])],
  [AC_MSG_RESULT([yes])
   $1="$$1 $2"
   triad_flag_works=yes],
  [AC_MSG_RESULT([no])
   triad_flag_works=no])
CFLAGS=$saved_CFLAGS
])

# It needs an optimizer, and hides from sanitizers what they look at.
AC_DEFUN([TRIAD_FORTIFY], [
AS_CASE(["$CPPFLAGS $CFLAGS"], [*_FORTIFY_SOURCE*], [triad_fortify=no],
  [triad_fortify=yes])
AS_IF([test "x$enable_sanitizers" != xno], [triad_fortify=no])
saved_CFLAGS=$CFLAGS
CFLAGS="$TRIAD_CFLAGS $CFLAGS"
AC_COMPILE_IFELSE([AC_LANG_SOURCE([[
    #ifndef __OPTIMIZE__
    #error no
    #endif
  ]])], [], [triad_fortify=no])
CFLAGS=$saved_CFLAGS
AS_IF([test "x$triad_fortify" = xyes],
  [TRIAD_TRY_FLAG([TRIAD_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3])
   AS_IF([test "x$triad_flag_works" = xno],
     [TRIAD_TRY_FLAG([TRIAD_CFLAGS], [-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2])])])
])

AC_DEFUN([TRIAD_HARDENING], [
TRIAD_TRY_FLAG([TRIAD_CFLAGS], [-fstack-protector-strong])
TRIAD_TRY_FLAG([TRIAD_CFLAGS], [-fstack-clash-protection])
TRIAD_FORTIFY
TRIAD_TRY_FLAG([TRIAD_LDFLAGS], [-Wl,-z,relro])
TRIAD_TRY_FLAG([TRIAD_LDFLAGS], [-Wl,-z,now])
])

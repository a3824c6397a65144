# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB

# TRIAD_FEATURE(VARIABLE, OPTION, MODULES, PACKAGES)
# What needs a library that a host may lack.  OPTION is the user's word for it, as
# configure has it: yes, no or auto.  Sets have_VARIABLE to yes, or to no with the
# reason; stops when it was asked for and is not there.  Its flags are VARIABLE's.
AC_DEFUN([TRIAD_FEATURE], [
AS_IF([test "x$2" = xno], [have_$1="no (not wanted)"],
  [PKG_CHECK_MODULES([$1], [$3], [have_$1=yes],
    [AS_IF([test "x$2" = xauto], [],
       [AC_MSG_ERROR([$3 was asked for and is missing: install $4])])
     have_$1="no (install $4)"])])
AM_CONDITIONAL([HAVE_$1], [test "x$have_$1" = xyes])
])

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Simulated InfiniBand fabrics: what scripts/lab, scripts/gen-fabric and the
integration tests share.

netfile      fabrics as ibsim and ibnetdiscover write them: reading, writing
topology     fat trees, tori and dragonflies of any size
nodes        on which nodes of a fabric programs can be
process      processes that outlive the one that started them
environment  what programs need to see of the machine and of a lab
state        a lab's folder, and lab.json, which says what runs there
simulator    ibsim and its console
opensm       opensm: its configuration, its start, what its log says
feedback     progress and excerpts of logs for the user
faults       rules by which MADs come to harm
cluster      a host for each SM: network namespaces, Corosync
hosts        harm to hosts, and care of them
up, run, status, down  the operations
bundle       files about a site's fabric: bundles, folders of ibdiagnet's
forwarding   forwarding tables: reading, comparing
site, replica  what a lab takes of a site; a site's fabric a second time
changes      removals and additions that somebody thinks of
sandbox      namespaces in which a copy runs, and of which nothing is left
whatif, upgrade  what OpenSM would do; in which order switches can be restarted

A Python that is too old is refused here, before any other module is read; so this file and
the scripts that are installed (lab, demo, gen-fabric) have no syntax newer than Python 3.6.
"""

import os
import sys

if sys.version_info < (3, 9):
    sys.exit("%s: this is Python %d.%d, and 3.9 or later is needed: install one and run "
             "'python3.9 %s'" % (os.path.basename(sys.argv[0]), sys.version_info[0],
                                 sys.version_info[1], sys.argv[0]))

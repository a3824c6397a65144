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
"""

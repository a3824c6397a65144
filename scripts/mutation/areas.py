# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Areas of the product, and the integration tests that can see a change there."""

from .errors import UsageError

# The folders whose C files an area has, with all folders below.
AREAS = {
    "perfmgr": ["perfmgr"],
    "qos": ["qos"],
    "portmgr-election": ["portmgr/election", "portmgr/cluster"],
    "port-plan": ["portmgr/plan", "portmgr/expected", "portmgr/test",
                  "portmgr/history", "portmgr/replica"],
    "collect": ["collect"],
    "service": ["service"],
    "plugin": ["plugin"],
    "cli": ["cli"],
    "ib": ["ib"],
    "heal": ["heal", "damp", "plugin/damp", "plugin/reroute"],
}

# Files of tests/integration, without 'test_', for sources whose path begins so: the
# longest path that fits counts. The cheap and likely ones come first.
INTEGRATION = {
    "perfmgr/": "counters sweep faults partitions alerts prometheus sflow profile",
    "perfmgr/export/http": "http web_clients prometheus exports",
    "perfmgr/export/profile": "profile exports",
    "perfmgr/export/sampler": "sflow sflow_framing path_service",
    "perfmgr/export/sflow": "sflow sflow_framing exports",
    "perfmgr/export/zstd": "profile exports",
    "perfmgr/formats/profile": "profile exports",
    "perfmgr/formats/change_filter": "profile exports",
    "perfmgr/formats/sflow": "sflow sflow_framing",
    "perfmgr/formats/": "http prometheus sflow profile",
    "ib/sa_topology": "standby agent sweep",
    "perfmgr/watch/": "alerts faults agents prometheus",
    "qos/": "path_answers path_service qos_tables qos_tables_faults qos_broadcast",
    "qos/setup/": "qos_tables qos_tables_faults qos_broadcast",
    "portmgr/election/": "election_commands election_check election_faults port_handover",
    "portmgr/cluster/": "election_commands cluster election_faults port_handover",
    "portmgr/": "port_files port_plans port_admission port_faults port_handover",
    "collect/": "agents agents_faults agents_brokers",
    "collect/nats/": "agents agents_brokers agents_faults",
    "service/": "conf control_socket triadctl counters sweep alerts standby lifecycle",
    "service/alert_log": "alerts exports conf",
    "service/collect": "agents agents_faults agents_brokers",
    "service/command/": "triadctl counters sweep alerts conf console prometheus",
    "service/command/agents": "agents agents_faults agents_brokers",
    "service/control": "control_socket triadctl lifecycle",
    "service/own_metrics": "prometheus http agents",
    "service/perf": "counters sweep standby faults lifecycle",
    "service/profile": "profile profile_triadd exports",
    "serve/profile": "profile profile_triadd exports",
    "service/sa": "standby agent sweep partitions",
    "service/sflow": "sflow exports",
    "service/web/": "web_clients web",
    "service/umad": "counters faults partitions agent lifecycle",
    "plugin/": "conf lifecycle standby console counters path_service",
    "plugin/command/": "console triadctl conf",
    "plugin/command/election": "election_commands election_check election_faults",
    "plugin/command/port": "port_plans port_admission port_faults port_handover",
    "plugin/command/qos": "qos_tables path_service qos_tables_faults",
    "plugin/console": "console lifecycle",
    "plugin/election/": "election_commands election_faults cluster port_handover",
    "plugin/own_metrics": "prometheus path_service election_commands port_plans",
    "plugin/ports/": "port_plans port_admission port_faults port_handover",
    "plugin/qos/": "path_answers path_service qos_broadcast",
    "plugin/qos/sample": "sflow sflow_framing path_service",
    "plugin/qos/tables/": "qos_tables qos_tables_faults",
    "plugin/damp/": "damp heal_act",
    "plugin/reroute/": "reroute reroute_multicast heal_data",
    "plugin/ports/ports_heal": "heal_act heal_data",
    "heal/": "heal heal_act heal_data",
    "damp/": "damp heal_act",
    "cli/": "triadctl",
    "cli/client": "triadctl control_socket",
    "cli/config": "triadctl",
    "cli/setup": "setup",
    "cli/election": "election_check election_commands",
    "cli/port": "port_files",
    "cli/profile": "profile",
    "cli/qos": "path_service qos_tables triadctl",
}


def folders(area):
    if area not in AREAS:
        raise UsageError(f"there is no area {area!r}, but {', '.join(AREAS)}")
    return AREAS[area]


def integration_files(source):
    """The files of integration tests that may see a change of this source, in the
    order in which to try them."""
    prefix = max((it for it in INTEGRATION if source.startswith(it)), key=len,
                 default=None)
    names = INTEGRATION[prefix].split() if prefix else []
    return [f"tests/integration/test_{name}.py" for name in names]

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What of a lab lives, and what its SMs say."""

from pathlib import Path

from . import cluster, opensm, process


def status(lab, logs=None):
    """What lives, as one document.  Who asks again and again gives a dictionary, 'logs',
    in which what has been read of logs is kept."""
    logs = {} if logs is None else logs
    sms = []
    for sm in lab.sms:
        log = logs.setdefault(sm.log, opensm.Log(sm.log)).update()
        alive = sm.process.is_alive()
        sms.append({
            "name": sm.name, "node": sm.node, "port_guid": log.port_guid,
            "pid": sm.process.pid, "alive": alive,
            "stopped": _is_stopped(sm.process),
            "state": log.state if alive else "dead",
            "subnet_up": alive and log.subnet_up,
            "log": sm.log, "output": sm.output,
            "control_socket": sm.control_socket,
            "control_socket_exists": Path(sm.control_socket).is_socket(),
            "console": sm.console, "console_port": sm.console_port,
        })
    hosts = [_host_status(host) for host in lab.hosts]
    parts = [*sms, *filter(None, (host["corosync"] for host in hosts))]
    simulator_alive = lab.simulator is not None and lab.simulator.is_alive()
    return {
        "dir": lab.folder, "phase": lab.phase,
        "alive": simulator_alive and bool(sms) and all(it["alive"] for it in parts),
        "net": lab.net, "nodes": lab.n_nodes, "run_node": lab.run_node,
        "socket_name": lab.socket_name, "builddir": lab.builddir,
        "port_library": lab.port_library,
        "simulator": {"pid": lab.simulator and lab.simulator.pid,
                      "alive": simulator_alive, "log": str(lab.path("sim.out"))},
        "sms": sms, "cluster": lab.cluster, "hosts": hosts,
        "broker": lab.broker_port and {"port": lab.broker_port,
                                       "alive": lab.broker.is_alive()},
        "agents": [{"name": agent.name, "node": agent.node, "pid": agent.process.pid,
                    "alive": agent.process.is_alive(),
                    "control_socket": agent.control_socket,
                    "log": f"{agent.folder}/agent.log"} for agent in lab.agents],
    }


def _is_stopped(started):
    record = started.record()
    return record is not None and process.is_stopped(record)


def _host_status(host):
    return {"index": host.index, "address": host.address,
            "namespace": host.namespace,
            "holder_pid": host.holder and host.holder.pid,
            "corosync": host.corosync and _corosync_status(host)}


def _corosync_status(host):
    alive, stopped = host.corosync.is_alive(), _is_stopped(host.corosync)
    quorate, members = alive and not stopped and cluster.quorum(host) or (None, None)
    return {"pid": host.corosync.pid, "alive": alive, "stopped": stopped,
            "quorate": quorate, "members": members,
            "log": f"{host.folder}/corosync.log"}

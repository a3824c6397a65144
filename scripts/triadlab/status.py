# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What of a lab lives, and what its SMs say."""

from pathlib import Path

from . import opensm


def status(lab):
    """What lives, as one document."""
    sms = []
    for sm in lab.sms:
        log = opensm.Log(sm.log).update()
        alive = sm.process.is_alive()
        sms.append({
            "name": sm.name, "node": sm.node, "port_guid": log.port_guid,
            "pid": sm.process.pid, "alive": alive,
            "state": log.state if alive else "dead",
            "subnet_up": alive and log.subnet_up,
            "log": sm.log, "output": sm.output,
            "control_socket": sm.control_socket,
            "control_socket_exists": Path(sm.control_socket).is_socket(),
            "console": sm.console, "console_port": sm.console_port,
        })
    simulator_alive = lab.simulator is not None and lab.simulator.is_alive()
    return {
        "dir": lab.folder, "phase": lab.phase,
        "alive": simulator_alive and bool(sms) and all(it["alive"] for it in sms),
        "net": lab.net, "nodes": lab.n_nodes, "run_node": lab.run_node,
        "socket_name": lab.socket_name, "builddir": lab.builddir,
        "port_library": lab.port_library,
        "simulator": {"pid": lab.simulator and lab.simulator.pid,
                      "alive": simulator_alive, "log": str(lab.path("sim.out"))},
        "sms": sms,
    }

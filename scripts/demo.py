# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Shows Triad at work: a simulated fabric, stock OpenSM with the plugin, some
traffic and errors; every port's counters, live, the alerts that errors raise, a
histogram, and where Prometheus can read it all.  With --qos instead: answers to
requests for paths by a QoS policy, and why they are so.  With --election: three SMs
that elect, what happens when the master dies, and a planned hand-over.  With --ports:
a miswired cable and a port under test, and what the port manager does about them."""

import argparse
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))

from triadlab import (  # noqa: E402
    agents_demo, cluster, down, election_demo, environment, failover, netfile,
    ports_demo, qos_demo, tcp_ports, up)
from triadlab.errors import LabError  # noqa: E402
from triadlab.plugin import (  # noqa: E402
    triadctl, triadctl_json, wait_for_first_sweep)
from triadlab.traffic import Traffic  # noqa: E402

SCRIPTS = Path(__file__).resolve().parent

TRIAD_CONF = """\
# The demo's: counters are read every other second, and congestion is told early.
[perfmgr]
sweep_period = 2
[alerts]
PortXmitWait = 2%
[history]
dir = {images}
[prometheus]
listen = {prometheus}
[web]
listen = {web}
"""

PROMETHEUS_PORT = 9315
WEB_PORT = 9316

REFRESH_S = 2
ALERT_LINES = 14 # and what stands below

# What the traffic here raises, and what else ibsim may count.
ERRORS = ("SymbolErrorCounter", "LinkErrorRecoveryCounter", "LinkDownedCounter",
          "PortRcvErrors", "PortXmitDiscards", "VL15Dropped")


# (what was shown, the command)
SHOWN = (
    ("every port's counters", "triadctl perf show"),
    ("the busiest ports, live", "triadctl perf top --watch"),
    ("what is wrong, one alert for each fault", "triadctl alerts"),
    ("how a counter's rates are spread", "triadctl perf histogram PortXmitData"),
)


def say(text):
    print(f"demo: {text}", file=sys.stderr, flush=True)


class Ended(Exception):
    """Somebody asks the demo to end."""


def raise_ended(number, _frame):
    raise Ended(signal.strsignal(number))


# --- what is shown -----------------------------------------------------------

def table(lab, n_ports):
    """All ports where they fit on the screen, else the busiest and those with
    errors."""
    height = shutil.get_terminal_size((80, 50)).lines
    if n_ports + ALERT_LINES <= height:
        return triadctl(lab, "perf", "show", *color())
    errors = with_errors(lab)
    n_top = max(height - ALERT_LINES - 4 - len(errors), 5)
    return "\n".join([triadctl(lab, "perf", "top", "-n", str(n_top), *color()),
                      "Errors:", *errors])


def with_errors(lab, most=6):
    lines = []
    for row in triadctl_json(lab, "perf", "show"):
        errors = [f"{name} {value}" for name, value in row["counters"].items()
                  if value and name in ERRORS]
        if errors or not row["answered"]:
            lines.append(f"  {row['node_name']} port {row['port']}: "
                         + ", ".join(errors or ["unanswered"]))
    return lines[:most] + ([f"  ... and {len(lines) - most} more"] if lines[most:] else [])


def alerts(lab, most=3):
    # All columns would be wider than most terminals.
    return "Alerts:\n" + triadctl(lab, "alerts", "-n", str(most), "--columns",
                                  "id,at,far_end,what", *color())


def histogram(lab):
    return triadctl(lab, "perf", "histogram", "PortXmitData", *color())


def color():
    return ["--color"] if sys.stdout.isatty() and "NO_COLOR" not in os.environ else []


def watch(lab, n_ports, seconds):
    """On a terminal the table is drawn again and again, else once, at the end."""
    end = time.monotonic() + seconds
    while True:
        left = end - time.monotonic()
        if left <= 0:
            return
        if sys.stdout.isatty():
            print(f"{clear_screen()}{table(lab, n_ports)}\n{alerts(lab)}\n"
                  f"{left:.0f} s to go; Ctrl-C ends", flush=True)
        time.sleep(min(REFRESH_S, left))


def finish(lab, n_ports, as_json):
    triadctl(lab, "perf", "sweep")
    if as_json:
        ports = triadctl_json(lab, "perf", "show")
        found = triadctl_json(lab, "alerts")["alerts"]
        print(json.dumps({"ports": ports, "alerts": found}))
    else:
        print(clear_screen() + table(lab, n_ports))
        print(alerts(lab, 20))
        print(histogram(lab))
        say(f"the end: {answered(lab)}")


def clear_screen():
    return "\033[H\033[2J" if sys.stdout.isatty() else ""


def answered(lab):
    perfmgr = triadctl_json(lab, "status")["perfmgr"]
    return (f"{perfmgr['ports_answered']} ports answered, "
            f"{perfmgr['ports_unanswered']} did not, in {perfmgr['sweeps']} sweeps")


# --- the demo ----------------------------------------------------------------

def build_tree():
    """For scripts/build: the tree that the labs take, too."""
    folder = os.environ.get("TRIAD_BUILDDIR")
    return ["--dir", folder] if folder else []


def build():
    if environment.is_installed():
        return
    result = subprocess.run([str(SCRIPTS / "build"), *build_tree()],
                            check=False, stdout=sys.stderr)
    if result.returncode:
        raise LabError("Triad could not be built; the reason is above")


def example_fabric(folder):
    path = folder / "example.net"
    subprocess.run([str(SCRIPTS / "gen-fabric"), "fat-tree", "--levels",
                    "2", "--radix", "4", "-o", str(path)], check=True)
    return str(path)


def address_at(port):
    """Where nothing listens yet: at this port, or at any."""
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return tcp_ports.free_address()
    return f"127.0.0.1:{port}"


def say_where(status):
    """What of Triad can be read by HTTP; it may have been built without that."""
    if status["prometheus"]["listen"]:
        say(f"Prometheus can read http://{status['prometheus']['listen']}/metrics while "
            "this runs; rules and a dashboard are in contrib/")
    if status["web"]["listen"]:
        say(f"the page for the browser is at http://{status['web']['listen']}/")


def show(options, folder):
    net = options.fabric or example_fabric(folder)
    fabric = netfile.read(net)
    prometheus, web = address_at(PROMETHEUS_PORT), address_at(WEB_PORT)
    conf = TRIAD_CONF.format(prometheus=prometheus, web=web, images=folder / "images")
    say(f"starting ibsim with {net} and opensm with Triad ...")
    lab, _ = up.up(up.Wishes(folder=folder / "lab", net=net, triad_conf=conf))
    try:
        n_ports = sum(node.n_ports for node in fabric.nodes.values())
        say(f"{len(fabric.nodes)} nodes are up; traffic and errors are made up, "
            f"OpenSM, Triad and what they count are real; {options.seconds} s")
        wait_for_first_sweep(lab)
        say_where(triadctl_json(lab, "status"))
        with Traffic(lab, fabric):
            watch(lab, n_ports, options.seconds)
        finish(lab, n_ports, options.json)
    except BaseException:
        down.down(Path(lab.folder))
        raise
    end(options, lab, SHOWN)


def show_qos(options, folder):
    net = options.fabric or example_fabric(folder)
    policy = folder / "qos-policy.xml"
    policy.write_text(qos_demo.POLICY.format(storage=qos_demo.ends(net)[1] + "/P1"),
                      encoding="utf-8")
    say(f"starting ibsim with {net} and opensm with Triad and {policy} ...")
    lab, _ = up.up(up.Wishes(
        folder=folder / "lab", net=net, opensm_conf=qos_demo.OPENSM_CONF,
        triad_conf=qos_demo.TRIAD_CONF.format(policy=policy)))
    try:
        wait_for_answers(lab)
        qos_demo.show(lab, net, options.json)
    except BaseException:
        down.down(Path(lab.folder))
        raise
    end(options, lab, qos_demo.SHOWN)


def show_election(options, folder):
    net = options.fabric or example_fabric(folder)
    nodes, _ = failover.places(net)
    say(f"starting ibsim with {net}, and Corosync and opensm with Triad on three hosts "
        "...")
    lab, _ = up.up(up.Wishes(
        folder=folder / "lab", net=net, sms=nodes, cluster=cluster.COROSYNC,
        triad_conf=failover.Traces.conf(folder)))
    try:
        election_demo.show(lab, net, folder, options.json)
    except BaseException:
        down.down(Path(lab.folder))
        raise
    end(options, lab, election_demo.SHOWN)


def show_ports(options, folder):
    net = options.fabric or example_fabric(folder)
    say(f"starting ibsim with {net} and opensm with Triad ...")
    lab, _ = up.up(up.Wishes(
        folder=folder / "lab", net=net, opensm_conf=ports_demo.OPENSM_CONF,
        triad_conf=ports_demo.TRIAD_CONF.format(folder=folder)))
    try:
        ports_demo.show(lab, net, folder, options.json)
    except BaseException:
        down.down(Path(lab.folder))
        raise
    end(options, lab, ports_demo.SHOWN)


def show_agents(options, folder):
    net = options.fabric or example_fabric(folder)
    say(f"starting ibsim with {net}, opensm with Triad, a broker and "
        f"{options.agents} agents ...")
    lab, _ = up.up(up.Wishes(
        folder=folder / "lab", net=net, agents=options.agents,
        triad_conf=agents_demo.TRIAD_CONF))
    try:
        agents_demo.show(lab, options.agents, options.json)
    except BaseException:
        down.down(Path(lab.folder))
        raise
    end(options, lab, agents_demo.SHOWN)


def wait_for_answers(lab):
    deadline = time.monotonic() + 60
    while triadctl_json(lab, "status")["qos"]["state"] != "answering":
        if time.monotonic() > deadline:
            raise LabError(f"Triad answers no requests for paths; see {lab.sms[0].log}")
        time.sleep(0.1)


def end(options, lab, shown):
    """Ends the lab unless it is kept, and lists what was shown."""
    say("shown, and the command to see it again:")
    for what, command in shown:
        print(f"    {what}:\n        {command}", file=sys.stderr)
    if options.keep:
        command = environment.command("lab")
        say(f"still running; the first of them is\n"
            f"    {command} run --dir {lab.folder} -- {shown[0][1]}\n"
            f"and at the end\n    {command} down --dir {lab.folder}")
    else:
        say("the lab is gone; --keep leaves it running, and your own fabric answers the "
            "same commands")
        down.down(Path(lab.folder))


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog=os.path.basename(environment.command("demo")), description=__doc__,
        epilog=f"Example: {environment.command('demo')} --fabric my-fabric.ibnetdiscover --seconds 60. "
               "Exit status: 0 done, 1 failed, 2 usage.")
    parser.add_argument("--fabric", metavar="FILE",
                        help="an ibsim file, what ibnetdiscover printed, or an "
                             "ibdiagnet2.db_csv [a fat tree of 8 hosts]")
    parser.add_argument("--seconds", type=seconds, default=30, metavar="N",
                        help="for how long [30]")
    parser.add_argument("--keep", action="store_true",
                        help="leave everything running, and say how to use it")
    other = parser.add_mutually_exclusive_group()
    other.add_argument("--qos", action="store_true",
                       help="show answers to requests for paths by a QoS policy; then "
                            "--seconds is not looked at")
    other.add_argument("--election", action="store_true",
                       help="show how three SMs elect, and the death of the master; "
                            "then --seconds is not looked at")
    other.add_argument("--ports", action="store_true",
                       help="show the port manager; then --seconds is not looked at")
    other.add_argument("--agents", type=agents_wanted, metavar="N",
                       help="show how N agents (2 to 7) share the fabric, and what becomes "
                            "of the nodes of one that is killed; then --seconds is not "
                            "looked at")
    parser.add_argument("--json", action="store_true",
                        help="print one document, {\"ports\": [...], \"alerts\": [...]}, "
                             "with --qos, --election, --ports or --agents what these show, "
                             "at the end "
                             "and nothing else on standard output")
    return parser.parse_args()


def seconds(text):
    value = int(text) if text.isdecimal() else 0
    if not 1 <= value <= 86400:
        raise argparse.ArgumentTypeError("must be from 1 to 86400")
    return value


def agents_wanted(text):
    value = int(text) if text.isdecimal() else 0
    if not 2 <= value <= 7:
        raise argparse.ArgumentTypeError("must be from 2 to 7")
    return value


def main():
    options = parse_arguments()
    if os.geteuid():
        say("ibsim and opensm need root: run it as root, or with sudo")
        return 1
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, raise_ended)
    folder = Path(tempfile.mkdtemp(prefix="triad-demo-"))
    try:
        build()
        shown = (show_qos if options.qos else show_election if options.election else
                 show_ports if options.ports else
                 show_agents if options.agents else show)
        shown(options, folder)
    except Ended:
        say("ended")
    except LabError as error:
        say(str(error))
        return 1
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

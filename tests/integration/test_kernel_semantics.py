# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""The port that a lab gives to programs behaves as the kernel's does; what programs
print on it is what they print on Debian's umad2sim."""

import json
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from checks import failed, stopped, succeeded, wait_until
from labs import BUILDDIR, EXAMPLE_NETS, SRCDIR, Lab
from triadlab import environment
from triadlib import sweep_heavily

pytestmark = pytest.mark.scripts

NET = EXAMPLE_NETS / "net.2sw2path4hca"
PROBE = BUILDDIR / "tests" / "lab" / "probe"
TIMED_OUT = 110
ENOSPC = 28
EINVAL = 22
ANY_LID = 5


def lab_of(net=NET, **options):
    return Lab(net, plugin="no", **options)


def probe(lab, *arguments, **options):
    """What the probe found out, on a node of the lab."""
    process = lab.run(PROBE, *map(str, arguments), timeout_s=60, **options)
    succeeded(process)
    return json.loads(process.stdout)


def lid_of(lab, node):
    """The LID of a node, as its own port says."""
    shown = lab.run("ibstat", node=node).stdout
    assert "Base lid" in shown, "ibstat"
    return int(re.search(r"Base lid: (\d+)", shown)[1])


def set_faults(lab, rules):
    lab.harm_mads(rules)


# --- agents ------------------------------------------------------------------

def test_replies_with_two_descriptors_go_to_the_asker():
    with lab_of() as lab:
        found = probe(lab, "owners", lid_of(lab, "Hca3"), 100)
        assert found["own"] == [100, 100], "replies to the own requests"
        assert (found["foreign"], found["strays"]) == (0, 0), "others"


def test_requests_go_to_the_agent_of_their_method():
    with lab_of() as lab:
        found = probe(lab, "requests")
        # The difference between the agent's id and the expected one, and the TID.
        assert found["get"] == [0, 1], "Get"
        assert found["set"] == [0, 2], "Set"
        assert found["response"] == [0, 2], "the response"
        assert found["strays"] == 0, "other MADs"
        # The Trap, and what the SM asks the new one that it sees.
        assert found["counters"]["unclaimed"] >= 1, found


def test_agent_that_overlaps_another_is_refused():
    with lab_of() as lab:
        found = probe(lab, "overlap")
        assert (found["refused"], found["errno"]) == (1, EINVAL), "the same method"
        assert found["bad_rmpp"] == 1, "RMPP for a class that has none: whether refused"
        for case in ("other_class", "other_version", "other_method", "after_unregister"):
            assert found[case] == 1, f"{case}: whether registered"


def test_close_with_replies_in_flight_drops_them():
    with lab_of() as lab:
        for must_unregister in (0, 1):
            found = probe(lab, "close", lid_of(lab, "Hca3"), 100, must_unregister)
            assert [answer["status"] for answer in found["answers"]] == [0], "status"
            assert found["strays"] == 0, "replies to those before"
            assert found["counters"]["unclaimed"] > 0, "no reply came after a close"


def test_fork_leaves_the_parents_port_alone():
    with lab_of() as lab:
        found = probe(lab, "fork", lid_of(lab, "Hca3"))
        assert found["child"] == 3, "inherited refused (1), own works (2)"
        assert found["parent"] == 1, "whether the parent's works"


# --- time-outs ---------------------------------------------------------------

def test_unanswered_mad_comes_back_after_its_retries():
    with lab_of() as lab:
        lid = lid_of(lab, "Hca3")
        set_faults(lab, f"lose class 4 lid {lid} direction in\n")
        found = probe(lab, "ask", lid, 2, 20, 3)
        assert [(answer["status"], answer["length"], answer["tid"])
                for answer in found["answers"]] == \
            [(TIMED_OUT, 24, 1), (TIMED_OUT, 24, 2)], "what comes back"
        counters = found["counters"]
        assert (counters["resent"], counters["timed_out"]) == (6, 2), "sent again"


def test_mad_to_nobody_times_out():
    """ibsim hands it back at once; on a fabric it is gone."""
    with lab_of() as lab:
        found = probe(lab, "ask", 0x123, 1, 20, 1)
        assert [answer["status"] for answer in found["answers"]] == [TIMED_OUT], \
            "status"
        assert found["counters"]["resent"] == 1, "sent again"


def test_response_after_its_time_is_dropped():
    with lab_of() as lab:
        set_faults(lab, "delay ms 200 class 4 direction in\n")
        found = probe(lab, "ask", lid_of(lab, "Hca3"), 1, 20, 0, 1)
        assert [answer["status"] for answer in found["answers"]] == [TIMED_OUT], \
            "status"
        assert (found["counters"]["late"], found["strays"]) == (1, 0), "late, strays"


def start_flood(scratch, lab, lid, n, *more):
    """A probe that waits for a line before it sends; returns it and its pid."""
    child = lab.start(PROBE, "flood", lid, n, *more,
                      stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    scratch.callback(child.kill)
    return child, int(child.stdout.readline())


def test_write_to_an_ibsim_that_is_stopped_does_not_wait(scratch):
    with lab_of() as lab:
        ibsim = lab.status()["simulator"]["pid"]
        lid = lid_of(lab, "Hca3")
        child, _ = start_flood(scratch, lab, lid, 20000)
        with stopped(ibsim):
            # It ends although nobody reads what it sends.
            output, _ = child.communicate("go\n", timeout=60)
        found = json.loads(output)
        assert found["failed"] == 0, "refused writes"
        assert 0 < found["counters"]["unsent"] < 20000, found
        assert probe(lab, "ask", lid, 1, 5000, 0)["answers"][0]["status"] == 0, \
            "status afterwards"


def test_standby_takes_over_from_a_master_that_is_stopped():
    with lab_of(sms=("Hca1", "Hca2"), opensm_conf="sminfo_polling_timeout 200\n"
                "polling_retry_number 2\ntransaction_timeout 100\n") as lab:
        with stopped(lab.status()["sms"][0]["pid"]):
            wait_until(lambda: lab.status()["sms"][1]["state"] == "master", 60,
                       "the standby is master")


def check_sminfo_times_out(lab, lid):
    """libibmad asks again itself, each time for as long.

    It waits exactly as long as the kernel does: which of the two ends first, and
    whether the words are its own ("timed out") or none, is a race.
    """
    timeout_s = 0.2
    begin = time.monotonic()
    answer = lab.run("sminfo", "-t", str(int(timeout_s * 1000)), str(lid))
    took_s = time.monotonic() - begin
    failed(answer, 255, "_do_madrpc failed")
    assert took_s > timeout_s, f"the answer came after {took_s} s"


def test_question_to_an_sm_that_is_stopped_or_dead_times_out():
    with lab_of() as lab:
        sm, lid = lab.status()["sms"][0]["pid"], lid_of(lab, "Hca1")
        with stopped(sm):
            check_sminfo_times_out(lab, lid)
        assert "SMINFO_MASTER" in lab.run("sminfo", str(lid)).stdout, "sminfo"
        os.kill(sm, signal.SIGKILL)
        check_sminfo_times_out(lab, lid)


def test_program_that_is_stopped_does_not_stop_the_fabric(scratch):
    """ibsim alone would wait for it for ever."""
    with lab_of() as lab:
        sm, lid = lab.status()["sms"][0]["pid"], lid_of(lab, "Hca1")
        with stopped(sm):
            # More than the kernel lets wait for it.
            child, _ = start_flood(scratch, lab, lid, 20000, 3)
            child.communicate("go\n", timeout=60)
            assert probe(lab, "ask", lid, 1, 20000, 0)["answers"][0]["status"] == 0, \
                "status of another one's question"
        wait_until(lambda: lab.run("saquery", "-t", "500", "NR", lid).returncode == 0, 60,
                   "the SM's answer afterwards")


# --- RMPP --------------------------------------------------------------------

def tree(scratch, n_hosts):
    net = scratch.folder() / "tree.net"
    succeeded(subprocess.run(
        [sys.executable, SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--hosts",
         str(n_hosts), "-o", net], capture_output=True, text=True, check=False))
    return net


def n_nodes_discovered(lab):
    return len(re.findall(r"^(?:Ca|Switch)\t", lab.run("ibnetdiscover").stdout, re.M))


def test_sa_table_has_all_nodes(scratch):
    with lab_of(tree(scratch, 200)) as lab:
        table = lab.run("saquery", "NR")
        succeeded(table)
        n_nodes = n_nodes_discovered(lab)
        assert n_nodes > 200, n_nodes
        assert table.stdout.count("NodeRecord dump") == n_nodes, "records"


def test_sa_table_on_a_wire_that_loses_arrives(scratch):
    """Segments are sent again; saquery itself asks once."""
    with lab_of(tree(scratch, 100)) as lab:
        n_nodes = n_nodes_discovered(lab)
        sm_lid = re.search(r"sm lid (\d+)", lab.run("sminfo").stdout)[1]
        set_faults(lab, "seed 7\nduplicate class 3 probability 0.1\n"
                   f"lose class 3 lid {sm_lid} direction in probability 0.1\n")
        table = lab.run("saquery", "-t", "60000", "NR", timeout_s=90)
        succeeded(table)
        assert table.stdout.count("NodeRecord dump") == n_nodes, "records"


def test_large_mad_with_a_small_buffer_is_read_again():
    with lab_of() as lab:
        found = probe(lab, "table", lid_of(lab, "Hca1"))
        assert (found["refused"], found["errno"]) == (1, ENOSPC), "the first read"
        assert found["length"] == found["needed"], "length"
        assert (found["agent"], found["records"]) == (0, 6), "agent, records"


# --- faults ------------------------------------------------------------------

def ask(lab, rules, n, timeout_ms=5000, late=0):
    lid = lid_of(lab, "Hca3")
    set_faults(lab, rules)
    return probe(lab, "ask", lid, n, timeout_ms, 0, late)


def test_fault_duplicate_sends_twice():
    with lab_of() as lab:
        found = ask(lab, "duplicate class 4 direction out\n", 5, late=5)
        assert [answer["status"] for answer in found["answers"]] == [0] * 5, "status"
        assert (found["counters"]["late"], found["strays"]) == (5, 0), "late, strays"


def test_fault_corrupt_changes_one_bit():
    with lab_of() as lab:
        sound = ask(lab, "", 1)["answers"][0]["data"]
        for answer in ask(lab, "corrupt class 4 direction in\n", 10)["answers"]:
            changed = int(answer["data"], 16) ^ int(sound, 16)
            assert changed.bit_count() == 1, "bits changed"


def test_fault_truncate_shortens():
    with lab_of() as lab:
        sound = ask(lab, "", 1)["answers"][0]["data"]
        for answer in ask(lab, "truncate class 4 direction in\n", 10)["answers"]:
            assert 24 <= answer["length"] < 256, answer
            assert answer["data"] == sound[:len(answer["data"])], "the rest"


def test_fault_with_a_seed_is_the_same_again():
    # Corrupted, not lost: on a busy machine an answer may be late without any fault.
    def answers(seed):
        return [answer["data"] for answer in ask(
            lab, f"seed {seed}\ncorrupt class 4 direction in probability 0.5\n",
            30)["answers"]]

    with lab_of() as lab:
        sound = ask(lab, "", 1)["answers"][0]["data"]
        first = answers(42)
        assert 0 < first.count(sound) < 30, "sound ones"
        assert answers(42) == first, "the second time"
        assert answers(43) != first, "another seed, the same dice"


def test_fault_of_another_class_attribute_or_lid_does_nothing():
    with lab_of() as lab:
        for where in ("class 3", "attribute 0x12", "lid 99"):
            found = ask(lab, f"lose {where}\n", 2)
            assert [answer["status"] for answer in found["answers"]] == [0, 0], where
            assert found["counters"]["faults"] == 0, f"faults with {where}"


def test_faults_of_a_running_program_change():
    with lab_of() as lab:
        log = lab.folder / "sm-0" / "opensm.log"
        set_faults(lab, "lose direction out\n")
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGHUP)
        wait_until(lambda: "timed out" in log.read_text(errors="replace").lower()
                   or "ERR" in log.read_text(errors="replace"), 60, "a time-out")
        lab.heal_mads()
        n_up = log.read_text(errors="replace").count("SUBNET UP")
        sweep_heavily(
            lab, lambda: log.read_text(errors="replace").count("SUBNET UP") > n_up,
            what="the subnet up again")


# --- sysfs -------------------------------------------------------------------

def test_sysfs_says_what_ibsim_has():
    with lab_of() as lab:
        folder = "/sys/class/infiniband/ibsim0/ports/1"
        info = lab.run("smpquery", "portinfo", str(lid_of(lab, "Hca3")), "1").stdout
        for name, field in (("lid", "Lid"), ("sm_lid", "SMLid")):
            shown = lab.run("cat", f"{folder}/{name}", node="Hca3").stdout
            wanted = int(re.search(rf"^{field}:\.+(\d+)$", info, re.M)[1])
            assert int(shown, 0) == wanted, name
        assert lab.run("cat", f"{folder}/pkeys/0").stdout == "0xffff\n", "P_Key 0"


def test_sysfs_follows_the_port(scratch):
    with lab_of() as lab:
        program = ("import sys\nfor line in sys.stdin:\n"
                   "    print(open(line.strip()).read(), end='', flush=True)\n")
        reader = lab.start(sys.executable, "-c", program, node="Hca3",
                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        scratch.callback(reader.kill)
        for commands, state in (((), "4: ACTIVE\n"),
                                (('Unlink "Hca3"[1]',), "1: DOWN\n")):
            lab.sim(*commands)
            reader.stdin.write("/sys/class/infiniband/ibsim0/ports/1/state\n")
            reader.stdin.flush()
            assert reader.stdout.readline() == state, f"state after {commands}"
        reader.stdin.close()
        assert reader.wait(10) == 0, "exit status"


def test_port_of_a_program_ended_by_a_signal_is_free(scratch):
    with lab_of() as lab:
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            # What nohup or a shell's '&' ignores, programs that it starts ignore too.
            signal.signal(number, signal.SIG_DFL)
            child, pid = start_flood(scratch, lab, ANY_LID, 1)
            assert lab.sim("Attached").count("connected at") == 2, "clients"
            os.kill(pid, number)
            assert child.wait(10) == -number, "exit status"
        assert lab.sim("Attached").count("connected at") == 1, "clients: the SM's"


def n_attached(lab):
    return lab.sim("Attached").count("connected at")


def wait_for_sm_alone(lab):
    wait_until(lambda: n_attached(lab) == 1, what="the SM is the only client")


def test_port_of_programs_that_are_killed_is_free(scratch):
    """More of them than ibsim has places."""
    with lab_of() as lab:
        for _ in range(12):
            child, pid = start_flood(scratch, lab, ANY_LID, 1)
            os.kill(pid, signal.SIGKILL)
            assert child.wait(10) == -signal.SIGKILL, "exit status"
            wait_for_sm_alone(lab)


def test_port_of_a_program_that_is_killed_is_free_before_its_child_ends(scratch):
    program = ("import os, signal, time\n"
               "open('/sys/class/infiniband/ibsim0/ports/1/lid').read()\n"
               "child = os.fork()\n"
               "if child:\n"
               "    print(child, flush=True)\n"
               "    os.kill(os.getpid(), signal.SIGKILL)\n"
               "time.sleep(60)\n")
    with lab_of() as lab:
        parent = lab.start(sys.executable, "-c", program,
                           stdout=subprocess.PIPE)
        child = int(parent.stdout.readline())
        scratch.callback(os.kill, child, signal.SIGKILL)
        assert parent.wait(10) == -signal.SIGKILL, "exit status"
        wait_for_sm_alone(lab)


def has_issm(lab, lid):
    info = lab.run("smpquery", "portinfo", str(lid))
    succeeded(info)
    return "\tIsSM\n" in info.stdout


def test_issm_of_an_sm_that_is_killed_is_cleared():
    # Nobody asks the dead one anything, by which ibsim would notice.
    with lab_of(sms=("Hca1", "Hca2"), opensm_conf="sweep_interval 0\n") as lab:
        lid = lid_of(lab, "Hca2")
        assert has_issm(lab, lid) is True, "IsSM while it lives"
        os.kill(lab.status()["sms"][1]["pid"], signal.SIGKILL)
        wait_until(lambda: not has_issm(lab, lid), what="IsSM cleared")


# --- against umad2sim ----------------------------------------------------------

# What two runs of the same program never have in common.
_VOLATILE = re.compile(r"^# (?:Topology file: generated|Initiated from).*"
                       r"|activity count \d+"
                       r"|(?<=^Port)(?:Xmit|Rcv)(?:Data|Pkts):\.+\d+$"
                       r"|^ibwarn: \[\d+\]", re.MULTILINE)


def on_umad2sim(lab, *command):
    """The command on the same fabric, by the other library."""
    return lab.run("env", f"LD_PRELOAD={environment.find_umad2sim()}", *command)


# (Of a PortInfoRecord umad2sim makes two: an answer has 256 octets there.)
def test_programs_print_the_same_as_on_umad2sim():
    with lab_of() as lab:
        lid = str(lid_of(lab, "Hca3"))
        for command in (["ibnetdiscover"], ["iblinkinfo"], ["sminfo"],
                        ["perfquery", lid, "1"], ["perfquery", "-x", lid, "1"],
                        ["smpquery", "portinfo", lid, "1"],
                        ["smpquery", "nodeinfo", lid], ["smpquery", "-D", "nodeinfo", "0"],
                        ["smpquery", "pkeys", lid], ["ibqueryerrors"],
                        ["saquery", "NR", lid]):
            ours, theirs = lab.run(*command), on_umad2sim(lab, *command)
            assert ours.returncode == theirs.returncode, f"{command}: exit status"
            assert _VOLATILE.sub("", ours.stdout) == _VOLATILE.sub("", theirs.stdout), \
                f"{command}: output"

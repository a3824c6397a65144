# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Triad's answers to requests for paths while things change: policies, fabrics, sweeps,
the SM's lock, Triad itself switched off and on."""

import contextlib
import os
import re
import signal
import subprocess
import threading
import time

import pytest
from test_path_answers import SEED, fat_tree, most_by_triad

from checks import failed, mentions, succeeded, wait_until
from labs import SRCDIR, Lab
from pathlab import PATH_ASK, compare, is_answering, mad_of, node_records, path_ask, qos, \
    records_of, sl_in, turn_off, turn_on, world
from triadlib import NET, Locker, ask, ask_json, log_has, sweep_heavily

QOS = "[perfmgr]\nenabled = false\n[qos]\nenabled = true\n"
FULL = "TRIAD_FULL" in os.environ
COUNT = 4000 if FULL else 1500
N_SWITCHES = 1000 if FULL else 100
SHAKEN_S = 8 if FULL else 4
HCA1, HCA2, HCA3, HCA4 = "0x100001", "0x100004", "0x100007", "0x10000a"

POLICY = """\
port-groups
  port-group
    name: Storage
    port-guid: 0x10000a
  end-port-group
end-port-groups
qos-levels
  qos-level
    name: DEFAULT
    sl: {default}
  end-qos-level
  qos-level
    name: Fast
    sl: {sl}
    mtu-limit: {mtu}
    tclass: 9
  end-qos-level
end-qos-levels
qos-match-rules
  qos-match-rule
    use: storage by its service
    destination: Storage
    service-id: 0x20000-0x2ffff
    qos-level-name: Fast
  end-qos-match-rule
  qos-match-rule
    use: by class of traffic
    tclass: 7-9,11
    qos-level-name: Fast
  end-qos-match-rule
end-qos-match-rules
"""


def policy_lab(scratch, default=0, sl=3, mtu=2, more_conf="", **options):
    """A lab with a policy, and the policy's file."""
    path = scratch.folder() / "policy.conf"
    path.write_text(POLICY.format(default=default, sl=sl, mtu=mtu), encoding="utf-8")
    conf = f"{QOS}policy_file = {path}\n{more_conf}"
    return Lab(options.pop("net", NET), triad_conf=conf, **options), path


def replace(path, text):
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.rename(path)


def path_record(lab, *words, node="Hca2"):
    """What saquery says of a path, by name."""
    process = lab.run("saquery", "PR", *words, node=node)
    return dict(re.findall(r"^\t\t(\w+)\.+(\S+)$", process.stdout, re.MULTILINE))


def sl_of(lab, *words):
    return path_record(lab, "--src-to-dst", "1:6", *words).get("sl")


# --- a policy ------------------------------------------------------------------

@pytest.mark.row("Q1", "Q2", "Q8")
def test_saquery_gets_what_the_policy_says(scratch):
    lab, _ = policy_lab(scratch)
    with lab:
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        plain = path_record(lab, "--src-to-dst", "1:6")
        assert (plain["sl"], plain["mtu"], plain["tclass"]) == ("0x0", "0x84", "0x0"), \
            "(SL, MTU, TClass) by the default level"
        by_service = path_record(lab, "--src-to-dst", "1:6", "--service_id", "0x20001")
        assert (by_service["sl"], by_service["mtu"], by_service["tclass"]) == \
            ("0x3", "0x82", "0x9"), "(SL, MTU, TClass) by Service-ID"
        elsewhere = path_record(lab, "--src-to-dst", "1:4", "--service_id", "0x20001")
        assert elsewhere["sl"] == "0x0", "SL to who is not in the group"
        by_tclass = path_record(lab, "--src-to-dst", "6:1", "--tclass", "8")
        assert (by_tclass["sl"], by_tclass["tclass"]) == ("0x3", "0x9"), "by TClass"
        kept = path_record(lab, "--src-to-dst", "6:1", "--tclass", "10")
        assert (kept["sl"], kept["tclass"]) == ("0x0", "0xA"), \
            "TClass asked for, where the level has none"


PARTITIONS = """\
Default=0x7fff, ipoib : ALL=full;
Compute=0x0001 : 0x100001=full, 0x10000a=full;
"""

PARTITION_LEVELS = """\
partition-levels
  partition-level
    partition: Compute
    qos-level-name: Fast
  end-partition-level
end-partition-levels
"""


@pytest.mark.plain
@pytest.mark.row("Q5")
def test_level_of_a_partition_where_no_rule_matches(scratch):
    partitions = scratch.folder() / "partitions.conf"
    partitions.write_text(PARTITIONS, encoding="utf-8")
    lab, path = policy_lab(scratch, default=1, sl=3,
                           opensm_conf=f"partition_config_file {partitions}\n")
    replace(path, path.read_text(encoding="utf-8") + PARTITION_LEVELS)
    with lab:
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        assert sl_of(lab, "--pkey", "0x8001") == "0x3", "SL in the partition"
        assert sl_of(lab, "--pkey", "0xffff") == "0x1", "SL in the default one"
        explained = ask_json(lab, "qos", "explain", "--src", "1", "--dst", "6", "--pkey",
                             "0x8001")
        assert (explained["matched"], explained["level"]) == (None, "Fast"), "why"


@pytest.mark.row("Q2")
def test_half_a_service_id_is_refused(scratch):
    """Bit 0 of the component mask alone."""
    there_is = (f"prefix 0xfe80000000000000\nlid 1\nguid {HCA1}\nguid {HCA4}\n"
                "service 0x20001\n")
    lab, _ = policy_lab(scratch)
    with lab:
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        lines, _ = path_ask(lab, there_is, "--count", 300, "--kind", "path", "--plain",
                            "--only", "0x1")
        half = [mad_of(line) for line in lines if int(line.split()[3], 16) & 3 == 1]
        assert len(half) > 50, f"{len(half)} requests with bit 0 alone"
        assert {mad[4:6].hex() for mad in half} == {"0600"}, \
            "status: insufficient components"


@pytest.mark.row("Q3")
def test_class_port_info_says_qos():
    def class_port_info(lab):
        process = lab.run("saquery", "CPI", node="Hca2")
        succeeded(process)
        return dict(re.findall(r"^\s+(\S.*?)\.{3,}(\S+)$", process.stdout, re.MULTILINE))

    with Lab(NET, triad_conf=QOS) as lab:
        turn_on(lab)
        ours = class_port_info(lab)
        turn_off(lab)
        theirs = class_port_info(lab)
        name, qos_supported = "Capability mask 2", 1 << 1
        off, on = int(theirs.pop(name), 16), int(ours.pop(name), 16)
        assert off & qos_supported == 0, "what OpenSM says without QoS of its own"
        assert on == off | qos_supported, "what Triad says"
        assert ours == theirs, "all else"


@pytest.mark.row("Q10")
def test_reload_each_answer_by_one_whole_policy(scratch):
    texts = [POLICY.format(default=1, sl=3, mtu=2), POLICY.format(default=2, sl=5, mtu=3),
             "nonsense\n"]
    allowed = {(1,), (2,), (3, 2), (5, 3)}
    lab, path = policy_lab(scratch, default=1)
    with lab:
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        there_is = (f"prefix 0xfe80000000000000\nlid 1\nguid {HCA1}\nguid {HCA4}\n"
                    "service 0x20001\nservice 0x1\n")
        ended = threading.Event()
        n_swaps, failures, seen = 0, [], set()

        def swap():
            nonlocal n_swaps
            while not ended.is_set():
                text = texts[n_swaps % len(texts)]
                replace(path, text)
                process = lab.triad("reload")
                if (process.returncode != 0) != (text == texts[-1]):
                    failures.append((text, process))
                n_swaps += 1

        def asked_enough():
            lines, _ = path_ask(lab, there_is, "--seed", SEED, "--count", 1000, "--kind",
                                "path", "--plain", "--only", "0x3", "--window", 16)
            seen.update(level_of(record) for line in lines for record in records_of(line))
            return n_swaps > 60 and len(seen) >= len(allowed)

        swapping = threading.Thread(target=swap)
        swapping.start()
        try:
            wait_until(asked_enough, 60, "60 reloads, and all kinds of answers")
        finally:
            ended.set()
            swapping.join()
        assert failures == [], "reloads that ended otherwise than they should"
        assert seen == allowed, "answers by a mixture of policies"


def level_of(record):
    """(SL,) by the default level of POLICY, (SL, MTU) by the other one."""
    tclass, mtu = record[48], record[54] & 63
    return (sl_in(record), mtu) if tclass == 9 else (sl_in(record),)


@pytest.mark.row("Q10")
def test_policy_changed_is_read_when_a_sweep_begins(scratch):
    lab, path = policy_lab(scratch, default=1)
    with lab:
        wait_until(lambda: sl_of(lab) == "0x1", 30, "the first policy")
        replace(path, POLICY.format(default=2, sl=3, mtu=2))
        sweep_heavily(lab, lambda: sl_of(lab) == "0x2", what="the second policy")
        replace(path, "qos-levels\nqos-level\nname: X\nsl: 16\nend-qos-level\n")
        sweep_heavily(lab, lambda: f"triad: error: {path}:4:5: " in lab.log(),
                      what="that the policy's mistake is told")
        log_has(lab, "last good QoS policy")
        assert sl_of(lab) == "0x2", "SL after a policy with mistakes"
        assert "has mistakes" in qos(lab)["problem"], "what status says"
        process = lab.run("triadctl", "reload")
        failed(process, 1, f"{path}:4:5")
        assert mentions(process.stderr, "last good QoS policy"), "what reload says"
        replace(path, POLICY.format(default=4, sl=3, mtu=2))
        ask(lab, "reload")
        wait_until(lambda: sl_of(lab) == "0x4", 30, "the third policy")
        assert qos(lab)["problem"] is None, "what status says"


def test_policy_with_mistakes_at_start_leaves_it_to_opensm(scratch):
    lab, path = policy_lab(scratch)
    path.write_text("qos-levels\n", encoding="utf-8")
    with lab:
        log_has(lab, "QoS answers policy mistakes")
        assert sl_of(lab) == "0x0", "SL by OpenSM"
        assert qos(lab)["received"] == 0, "requests taken"
        replace(path, POLICY.format(default=1, sl=3, mtu=2))
        ask(lab, "reload")
        wait_until(lambda: sl_of(lab) == "0x1", 30, "the policy, mended")


def test_group_of_an_absent_port_is_reported_and_joined(scratch):
    lab, path = policy_lab(scratch)
    with lab:
        wait_until(lambda: sl_of(lab, "--service_id", "0x20001") == "0x3", 30, "the policy")
        lab.sim('Unlink "Hca4"[1]')
        absent = f"{path}:2:3: 'Storage' 0x000000000010000a"
        sweep_heavily(lab, lambda: mentions(lab.log(), absent), what="that the port is absent")
        lab.sim('ReLink "Hca4"[1]')
        sweep_heavily(lab, lambda: sl_of(lab, "--service_id", "0x20001") == "0x3",
                      what="the level of the port that came")
        log_has(lab, f"{path} 5 node no port group")


# --- explain, clients ----------------------------------------------------------

VL15 = ("qos TRUE\nqos_max_vls 8\nqos_sl2vl 0,1,2,3,4,5,6,7,0,1,2,3,4,5,6,7\n"
        "qos_swe_sl2vl 0,1,2,15,4,5,6,7,0,1,2,3,4,5,6,7\n")


@pytest.mark.row("X2")
def test_explain_match_near_miss_and_vl15(scratch):
    lab, _ = policy_lab(scratch, opensm_conf=VL15)
    with lab:
        wait_until(lambda: is_answering(lab), 30, "Triad's answers")
        words = ["qos", "explain", "--src", "Hca1", "--dst", HCA4]
        matched = ask_json(lab, *words, "--service-id", "0x20001")
        assert matched["matched"]["rule"] == 1, "the rule that matched"
        assert matched["level"] == "Fast", "its level"
        assert "the level's SL comes to VL15" in matched["answer"], "the answer"
        assert [(hop["node_name"], hop["vl"]) for hop in matched["there"]] == \
            [("Hca1", 3), ("Switch1", 15), ("Switch2", 15)], "hops and their VLs"
        near = ask_json(lab, *words, "--service-id", "0x30000")
        assert near["matched"] is None, "the rule that matched"
        assert [(miss["rule"], miss["condition"], miss["not_asked_for"])
                for miss in near["nearly"]] == \
            [(1, "service-id", False), (2, "tclass", True)], "rules that nearly did"
        assert near["level"] == "DEFAULT", "the level"
        assert near["path"]["sl"] == 0, "the answer's SL"
        told = path_record(lab, "--src-to-dst", "1:6", "--service_id", "0x30000")
        assert (int(told["slid"]), int(told["dlid"]), int(told["sl"], 16)) == \
            tuple(near["path"][name] for name in ("slid", "dlid", "sl")), \
            "the SA's own answer"
        text = ask(lab, *words, "--service-id", "0x20001")
        assert "dropped here" in text, "the table"
        for end, why in (("77", "'77' LID"), ("Hca9", "'Hca9' 'Hca1' 'Hca2' 'Hca3'"),
                         ("0x77", "GUID 0x0000000000000077")):
            process = lab.run("triadctl", "qos", "explain", "--src", end, "--dst", "1")
            failed(process, 1, why)


def test_clients_who_ask_most_are_first():
    with Lab(NET, triad_conf=QOS) as lab:
        turn_on(lab)
        assert mentions(ask(lab, "qos", "clients"), "nobody asked")
        there_is = world(lab)
        for node, n in (("Hca2", 300), ("Hca4", 500), ("Hca3", 100)):
            path_ask(lab, there_is, "--count", n, "--kind", "path", "--plain", "--only", 0,
                     node=node)
        rows = ask_json(lab, "qos", "clients", "-n", "2")
        assert [(row["node_name"], row["requests"]) for row in rows] == \
            [("Hca4", 500), ("Hca2", 300)], "clients"
        assert "Hca3" in ask(lab, "qos", "clients"), "the table"


# --- switching -----------------------------------------------------------------

@pytest.mark.threads
@pytest.mark.threads_short
def test_off_and_on_again_and_again_under_load():
    with Lab(NET, triad_conf=QOS) as lab:
        turn_on(lab)
        there_is = world(lab)
        asking = lab.start(PATH_ASK, "--seconds", "3600", "--quiet", "--plain", "--kind",
                           "path", node="Hca2", stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        asking.stdin.write(there_is)
        asking.stdin.close()
        asking.stdin = None
        try:
            before = qos(lab)["received"]
            for _ in range(N_SWITCHES):
                ask(lab, "qos", "off")
                ask(lab, "qos", "on")
            report = turn_on(lab)
            wait_until(lambda: qos(lab)["received"] > report["received"] + 1000, 60,
                       "requests after that")
            print(f"{qos(lab)['received'] - before} requests taken meanwhile")
        finally:
            asking.send_signal(signal.SIGTERM)
            asking.communicate(timeout=30)
        _, counted = path_ask(lab, there_is, "--count", 1000, "--kind", "path", "--plain",
                              "--quiet", "--window", 16)
        assert counted["answered"] == 1000, "answers"


# --- the SM is busy ------------------------------------------------------------

@pytest.mark.row("X5")
def test_answers_go_on_while_the_sm_is_locked(scratch):
    locker = Locker(scratch)
    with Lab(NET, triad_conf=QOS, **locker.options,
             opensm_conf="event_plugin_name osmtriad locker\nsweep_interval 0\n") as lab:
        turn_on(lab)
        there_is = world(lab)
        words = ("--kind", "path", "--plain", "--quiet")
        with contextlib.ExitStack() as stack:
            with locker.held():
                # These wait for the lock, each in a thread of OpenSM's dispatcher.
                for node in ("Hca3", "Hca4"):
                    for _ in range(3):
                        stack.enter_context(
                            lab.start("saquery", "NR", node=node,
                                      stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL))
                _, counted = path_ask(lab, there_is, "--seconds", 2, *words, node="Hca2")
            print(counted)
            # An answer that waited for the lock would have come too late.
            assert counted["unanswered"] == 0, "requests without an answer"
            assert counted["answered"] > 100, f"{counted['answered']} answers in 2 s"
        turn_off(lab)
        with locker.held():
            # OpenSM itself waits: otherwise the test would show nothing.
            _, counted = path_ask(lab, there_is, "--count", 1, *words, node="Hca2")
        assert counted["unanswered"] == 1, "requests that OpenSM answered without the lock"


def test_fabric_changed_answers_as_opensm(scratch):
    with Lab(fat_tree(scratch, 24), triad_conf=QOS) as lab:
        turn_on(lab)
        there_is = world(lab)
        lab.sim('Unlink "host-0003"[1]', 'Unlink "leaf-01"[20]')
        sweep_heavily(lab, lambda: len(node_records(lab)) < there_is.count("guid"),
                      what="that the host is gone")
        wait_until(lambda: is_settled(lab), 60, "the sweep's end")
        counts, _ = compare(lab, there_is, "--seed", SEED + 7, "--count", COUNT)
        most_by_triad(counts, count=COUNT)


@pytest.mark.threads
@pytest.mark.row("X5")
def test_sweeps_all_the_time_no_wrong_answer(scratch):
    """While links come and go, an answer names LIDs that are a way at that time or were
    a moment ago; at the end all are as OpenSM's.  The client's own way to the SM stays."""
    with Lab(fat_tree(scratch, 24), triad_conf=QOS) as lab:
        turn_on(lab)
        there_is = world(lab)
        ended = threading.Event()

        def shake():
            pid = lab.status()["sms"][0]["pid"]
            while not ended.is_set():
                for word in ("Unlink", "ReLink"):
                    lab.sim(f'{word} "host-0003"[1]', f'{word} "leaf-01"[20]')
                    os.kill(pid, signal.SIGHUP)
                    time.sleep(0.1)  # in mid-sweep, or not

        shaking = threading.Thread(target=shake)
        shaking.start()
        try:
            _, counted = path_ask(lab, there_is, "--seconds", SHAKEN_S, "--quiet", "--kind",
                                  "path", "--plain", node="host-0005")
        finally:
            ended.set()
            shaking.join()
        print(counted)
        assert counted["unanswered"] == 0, "requests without an answer"
        sweep_heavily(lab, lambda: len(node_records(lab)) == there_is.count("guid"),
                      what="all hosts back")
        wait_until(lambda: is_settled(lab), 60, "the last sweep's end")
        counts, _ = compare(lab, there_is, "--seed", SEED + 8, "--count", COUNT)
        most_by_triad(counts, count=COUNT)


def is_settled(lab):
    """No request is passed on as if a sweep ran."""
    before = qos(lab)["passed_changed"]
    path_ask(lab, world(lab), "--count", 20, "--kind", "path", "--plain", "--quiet")
    return qos(lab)["passed_changed"] == before


# --- a routing engine that decides on SLs --------------------------------------

TORUS = """\
torus 5 5 1
xp_link 0x0200000200000010 0x0200000200000060
yp_link 0x0200000200000010 0x0200000200000020
"""


def torus_lab(scratch, opensm_conf=""):
    folder = scratch.folder()
    net, torus = folder / "torus.net", folder / "torus.conf"
    subprocess.run([SRCDIR / "scripts/gen-fabric", "torus", "--dims", "5,5", "-o", net],
                   check=True)
    torus.write_text(TORUS, encoding="utf-8")
    return Lab(net, triad_conf=QOS,
               opensm_conf=f"routing_engine torus-2QoS\nqos TRUE\ntorus_config {torus}\n"
                           f"{opensm_conf}")


def test_torus_without_policy_as_opensm(scratch):
    with torus_lab(scratch) as lab:
        counts, _ = compare(lab, world(lab), "--seed", SEED + 5, "--count", COUNT)
        assert counts["passed_engine"], "nothing was left to the routing engine"


def test_torus_with_policy_as_opensm(scratch):
    policy = scratch.folder() / "policy.conf"
    policy.write_text(POLICY.format(default=0, sl=8, mtu=2).replace("tclass: 9", "")
                      .replace("tclass: 7-9,11", "qos-class: 7"), encoding="utf-8")
    with torus_lab(scratch, f"qos_policy_file {policy}\n") as lab:
        counts, _ = compare(lab, world(lab, services=("0x20001", "0x1")), "--seed",
                            SEED + 6, "--count", COUNT, "--kind", "path", "--only",
                            ~0x400 % (1 << 64))
        assert counts["under_lock"], "the routing engine was never asked"


@pytest.mark.row("N12")
def test_paths_are_answered_before_the_first_sweep_of_a_master_is_through():
    """As soon as switches have their tables; OpenSM drops requests until the sweep's end."""
    conf = "sweep_interval 0\nsminfo_polling_timeout 100\npolling_retry_number 1\n" \
        "transaction_timeout 4000\ntransaction_retries 1\n"
    with Lab(NET, sms=["Hca1", "Hca2"], opensm_conf=conf, triad_conf=QOS) as lab:
        assert path_record(lab, "--src-to-dst", "5:6", node="Hca3")["dlid"] == "6"
        # What sets the state of ports, after routing, takes seconds: far longer than a
        # question does on a busy machine.
        lab.harm_mads("delay ms 2000 attribute 0x15 direction out\n")
        os.kill(lab.status()["sms"][0]["pid"], signal.SIGKILL)
        wait_until(lambda: "QoS answers: answering" in lab.log(sm=1), 60, "a snapshot")
        assert path_record(lab, "--src-to-dst", "5:6", node="Hca3")["dlid"] == "6"
        assert "SUBNET UP" not in lab.log(sm=1)

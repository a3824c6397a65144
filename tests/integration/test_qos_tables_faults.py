# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""QoS tables when something is wrong: with the policy, the fabric, the answers; and when
a routing engine has tables of its own."""

import os
import re
import subprocess

import pytest

from checks import failed, mentions, succeeded, wait_until
from labs import BUILDDIR, SRCDIR, Lab
from tablelib import DIFFERENT, ENGINE, NO_VL, QOS, REFUSED, Meaning, World, \
    check_tables, hang_up, load, n_sweeps, plan, policy, read_tables, replace, \
    stock_tables, sweep, sweep_without_triad, table_lab, tables, wait_for
from triadlib import NET, ask, ask_json, health_findings, log_has, status, triad_lines

GROUPS = {"Storage": ["port-guid: 0x10000a"], "Switches": ["node-type: SWITCH"]}
STORAGE = {"across": ["Storage"], "sl2vl-table": [1] * 16}
SWITCHES = {"group": ["Switches"], "sl2vl-table": [2] * 16}


def mapped(*vls):
    return [*vls, *[0] * (16 - len(vls))]


# --- what a policy has wrong ---------------------------------------------------

WRONG_SL2VL = [
    {"group": ["Nobody"], "sl2vl-table": mapped(0)},                      # no target
    {"across": ["Storage"], "sl2vl-table": mapped(1)},                    # hidden
    {"across": ["Storage"], "from": [0, 1, 77], "sl2vl-table": mapped(2, 9)},
    {"across": ["Storage"], "from": [*range(2, 9)], "sl2vl-table": mapped(3, NO_VL)},
    {"across": ["Storage"], "from": [0, 1], "sl2vl-table": mapped(2, 9)},
]
WRONG_VLARB = [
    {"group": ["Storage"], "vlarb-high": [(9, 1), (0, 2)]},               # a VL that lacks
    {"group": ["Switches"], "to": [1, 2], "vlarb-low": [(0, 1)] * 9},     # too long
]
# SL 1 is in use, and SL 0 by the default.
LEVELS = ("qos-levels\n qos-level\n  name: DEFAULT\n  sl: 0\n end-qos-level\n"
          " qos-level\n  name: Fast\n  sl: 1\n end-qos-level\nend-qos-levels\n"
          "qos-match-rules\n qos-match-rule\n  service-id: 7\n  qos-level-name: Fast\n"
          " end-qos-match-rule\nend-qos-match-rules\n")
FINDINGS = [
    (False, "no port SL2VL no effect"),
    (False, "later scope no effect"),
    (True, "no port 77 'from' port 8"),
    (True, "'Switch2' 0x0000000000200001 port 2: SL 1 VL 9 8 data VLs dropped"),
    (False, "'Hca4' 0x0000000000100009 port 1: high table VL 9 8 data VLs"),
    (True, "low table 9 8 default 1 more"),
]


@pytest.mark.row("Q6")
def test_findings_once_in_the_log_and_in_each_plan(scratch):
    groups = GROUPS | {"Nobody": ["port-guid: 0x77"]}
    lab, path = table_lab(scratch, NET, policy(groups, WRONG_SL2VL, WRONG_VLARB, levels=LEVELS))
    with lab:
        wait_for(lab)
        sweep(lab, 2)
        _, planned = plan(lab)
        lines = triad_lines(lab.log())
        for is_error, text in FINDINGS:
            found = [finding for finding in planned["findings"]
                     if mentions(finding["text"], text)]
            assert found, f"the plan does not have {text!r}: {planned['findings']}"
            for finding in found:
                assert finding["error"] == is_error, f"whether that is an error: {text}"
                told = f"{'error: ' * is_error}{path}: {finding['text']}"
                assert lines.count(told) == 1, f"how often the log has {told!r}"
        lost = [line for line in lines if mentions(line, "SL 1 path from to drops")]
        assert len(lost) == len(planned["paths_without_vl"]), \
            "paths in the log and the plan"
        assert mentions(lost[0], "to 'Hca4:1' 'Switch2:2' drops")
        assert {(row["sl"], row["to"], row["node_name"], row["port"])
                for row in planned["paths_without_vl"]} == \
            {(1, "Hca4", "Switch2", 2)}, "paths in the plan"
        report = tables(lab)
        assert (report["findings"], report["errors"]) == \
            (len(planned["findings"]),
             sum(finding["error"] for finding in planned["findings"])), \
            "(findings, errors) by 'status'"
        assert report["dead_places"] == planned["dead_places"], "places"
        text = lab.run("triadctl", "qos", "plan").stdout
        assert re.search(r"^tables   \d+ at \d+ ports\n"
                         r"change   (none|\d+ of these, at \d+ ports?, by \d+ SMPs?)$",
                         text, re.MULTILINE), text
        for _, finding in FINDINGS:
            assert mentions(text, finding), "the plan for people"


@pytest.mark.plain
@pytest.mark.row("Q6")
def test_nodes_in_no_group_are_counted_and_listed(scratch):
    groups = GROUPS | {"Nobody": ["port-guid: 0x77"]}
    lab, path = table_lab(scratch, NET, policy(groups, [STORAGE]))
    with lab:
        wait_for(lab)
        log_has(lab, f"{path} 3 node no port group")
        log_has(lab, "'Nobody' 0x0000000000000077")
        sweep(lab, 2)
        lines = triad_lines(lab.log())
        assert len([line for line in lines if mentions(line, "node no port group")]) == 1, \
            "lines in the log"
        assert [row["node_name"] for row in ask_json(lab, "qos", "nodes")] == \
            ["Hca1", "Hca2", "Hca3"], "nodes"


# --- answers that don't come ---------------------------------------------------

def faults(lab, *rules):
    lab.harm_mads("\n".join(["seed 7", *rules, ""]))


def test_answers_lost_are_reported_and_mended_later(scratch):
    arbitration = [{"group": ["Switches"], "vlarb-low": [(1, 9)]}]
    stock = stock_tables(NET)
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]),
                          QOS + "transaction_timeout 50\ntransaction_retries 1\n")
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        faults(lab, "lose attribute 0x18 direction in")
        before = n_sweeps(lab)
        load(lab, path, policy(GROUPS, [STORAGE], arbitration), DIFFERENT)
        report = tables(lab)
        # 5 ports of Switch1 are up, 4 of Switch2.
        assert report["different"] >= 8, report
        assert report["sweeps_asked"] <= 4, report
        log_has(lab, "sent port 1 'Switch1'")
        asked, n = report["sweeps_asked"], n_sweeps(lab)
        assert n - before <= 4, f"{n - before} sweeps"
        sweep(lab, 2)
        report = tables(lab)
        assert report["sweeps_asked"] <= asked + 1, f"{report}, {asked} asked for before"
        assert report["state"] == DIFFERENT, "state after more sweeps"
        assert lab.log().count("do not have what they were sent") == 1, \
            "lines in the log"
        assert plan(lab)[0] == 3, "the exit status of a plan"
        lab.heal_mads()
        ask(lab, "qos", "apply")
        wait_for(lab)
        assert (tables(lab)["different"], plan(lab)[0]) == (0, 0), "(different, plan)"
        check_tables(lab, world, Meaning(world, stock, GROUPS, [STORAGE],
                                         arbitration).tables(), "afterwards")


def test_broken_policy_leaves_the_last_tables(scratch):
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]))
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        before = read_tables(lab, world)
        assert before["Switch2", 2]["sl2vl"][1] == [1] * 16, "the policy's table"
        replace(path, policy(GROUPS, [SWITCHES]).replace("2,2,", "2,16,", 1))
        failed(lab.run("triadctl", "reload"), 1, f"{path}:")
        sweep(lab, 2)
        log_has(lab, "the last good QoS policy stays")
        check_tables(lab, world, before, "by the last good policy")
        wait_for(lab)


@pytest.mark.row("Q10")
def test_policies_in_mid_sweep_the_last_one_is_in_force(scratch):
    stock = stock_tables(NET)
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]))
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        for n in range(40):
            scopes = [dict(STORAGE, **{"sl2vl-table": [n % 8] * 16})]
            replace(path, policy(GROUPS, [SWITCHES] * (n % 2) + scopes))
            if n % 3 != 1:
                hang_up(lab)
            succeeded(lab.run("triadctl", "reload"))
            if n % 3 == 1:
                hang_up(lab)
        expected = Meaning(world, stock, GROUPS, [SWITCHES, *scopes]).tables()
        wait_until(lambda: tables(lab)["state"] == "in force" and plan(lab)[0] == 0, 30,
                   "the last policy")
        check_tables(lab, world, expected, "by the last policy")
        sweep(lab)
        check_tables(lab, world, expected, "after one more sweep")


def test_switch_that_comes_back_gets_its_tables(scratch):
    """With other tables than it had: OpenSM forgot it."""
    stock = stock_tables(NET)
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]))
    links = [f'"Switch2"[{n}]' for n in (1, 2, 3, 5)]
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        lab.sim(*(f"Unlink {link}" for link in links))
        sweep(lab)
        wait_until(lambda: tables(lab)["state"] == "in force", 30, "what is left")
        scopes = [SWITCHES, STORAGE]
        replace(path, policy(GROUPS, scopes))
        succeeded(lab.run("triadctl", "reload"))
        wait_until(lambda: tables(lab)["state"] == "in force" and plan(lab)[0] == 0, 30,
                   "the policy without the switch")
        lab.sim(*(f"ReLink {link}" for link in links))
        sweep(lab, 2)
        wait_until(lambda: tables(lab)["state"] == "in force" and plan(lab)[0] == 0, 30,
                   "tables of the switch that came")
        check_tables(lab, world, Meaning(world, stock, GROUPS, scopes).tables(),
                     "all is back")


# --- the guard -----------------------------------------------------------------

CUT = {"across": ["Storage"], "sl2vl-table": [NO_VL] * 16}


@pytest.mark.row("X3")
def test_guard_refuses_what_cuts_the_sm_off(scratch):
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]))
    with lab:
        wait_for(lab)
        world = World(lab, NET)
        before = read_tables(lab, world)
        replace(path, policy(GROUPS, [STORAGE, CUT]))
        assert plan(lab, path)[1]["cut_off"] == 1, \
            "hosts that the plan says are cut off"
        succeeded(lab.run("triadctl", "reload"))
        log_has(lab, f"{path} refused 1 port 'Hca4:1'")
        wait_until(lambda: tables(lab)["refused"] == 1, 10, "the refusal in the status")
        sweep(lab, 2)
        check_tables(lab, world, before, "those before")
        print(tables(lab)["state"])
        ask(lab, "set", "qos.tables_guard", "false")
        wait_until(lambda: tables(lab)["state"] == "in force" and plan(lab)[0] == 0, 30,
                   "the policy, unguarded")
        assert read_tables(lab, world)["Switch2", 2]["sl2vl"][1] == [NO_VL] * 16, \
            "the table"




@pytest.mark.row("X3")
def test_refused_policy_is_in_force_neither_with_tables_nor_with_rules(scratch):
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]), more="enabled = true\n")
    with lab:
        wait_for(lab)

        def qos():
            return status(lab)["qos"]
        wait_until(lambda: qos()["levels"] == 1, 20, "the policy's rules")
        replace(path, policy(GROUPS, [STORAGE, CUT], levels=LEVELS))
        assert mentions(qos()["problem"], "file changed")
        failed(lab.run("triadctl", "qos", "apply"), 1,
               "refused 1 port")
        wait_until(lambda: "refused, rules and tables" in (qos()["problem"] or ""), 10,
                   "the refusal in the status")
        sweep(lab, 2)
        assert qos()["levels"] == 1, "levels in force"
        replace(path, policy(GROUPS, [STORAGE], levels=LEVELS))
        assert "OpenSM sweeps" in succeeded(lab.run("triadctl", "qos", "apply")).stdout
        wait_until(lambda: qos()["levels"] == 2 and not qos()["problem"], 20,
                   "a policy that is not refused")


def test_refused_at_start_no_rules_until_the_guard_is_off(scratch):
    lab, _ = table_lab(scratch, NET, policy(GROUPS, [STORAGE, CUT], levels=LEVELS),
                       more="enabled = true\n")
    with lab:
        wait_for(lab, REFUSED)
        wait_until(lambda: status(lab)["qos"]["levels"] == 0, 20, "no levels")
        ask(lab, "set", "qos.tables_guard", "false")
        wait_until(lambda: status(lab)["qos"]["levels"] == 2, 20, "all of the policy")


def test_apply_without_tables_loads_the_rules(scratch):
    lab, path = table_lab(scratch, NET, policy(), more="enabled = true\n",
                          enabled="false")
    with lab:
        wait_until(lambda: status(lab)["qos"]["levels"] == 1, 20, "the policy's rules")
        replace(path, policy(levels=LEVELS))
        said = succeeded(lab.run("triadctl", "qos", "apply")).stdout
        assert mentions(said, "rules in force tables not programmed")
        wait_until(lambda: status(lab)["qos"]["levels"] == 2, 20, "the new rules")
        replace(path, "nonsense\n")
        failed(lab.run("triadctl", "qos", "apply"), 1, "last good")
        assert status(lab)["qos"]["levels"] == 2, "the last good rules"


def unlooked(lab):
    """What health says of QoS tables of which the guard can't tell whether they loop."""
    return health_findings(lab, "credit loop not known")


@pytest.mark.scripts  # a sanitizer allocates before what fails is there
@pytest.mark.full
@pytest.mark.row("X3")
def test_guard_that_could_not_look_for_credit_loops_says_so(scratch):
    scarce = scratch.folder() / "scarce"
    os.environ["TRIAD_SCARCE"] = str(scarce)
    scratch.callback(os.environ.pop, "TRIAD_SCARCE")
    lab, path = table_lab(scratch, NET, policy(GROUPS, [STORAGE]),
                          preload=(BUILDDIR / "tests/lab/.libs/libscarce.so",))
    with lab:
        wait_for(lab)
        assert not unlooked(lab) and not tables(lab)["unlooked"]
        scarce.touch()
        replace(path, policy(GROUPS, [STORAGE]) + "# the same\n")
        answer = lab.run("triadctl", "qos", "apply")
        assert mentions(answer.stderr, "credit loop not known memory"), answer
        assert "OpenSM sweeps" in answer.stdout, answer
        wait_until(lambda: unlooked(lab), 20, "a finding")
        assert len(unlooked(lab)) == 1, unlooked(lab)
        assert tables(lab)["unlooked"] == "not enough memory"
        sweep(lab, 1)
        assert unlooked(lab), "still"
        scarce.unlink()
        sweep(lab, 1)
        wait_until(lambda: not unlooked(lab), 20, "the end")
        assert tables(lab)["unlooked"] is None and tables(lab)["state"] == "in force"


def test_guard_at_start_takes_tables_back(scratch):
    stock = stock_tables(NET)
    lab, _ = table_lab(scratch, NET, policy(GROUPS, [STORAGE, CUT]))
    with lab:
        wait_for(lab, REFUSED)
        world = World(lab, NET)
        wait_until(lambda: read_tables(lab, world) == stock, 20, "OpenSM's tables")
        sweep(lab, 2)
        check_tables(lab, world, stock, "OpenSM's")
        report = tables(lab)
        assert (report["state"], report["refused"]) == (REFUSED, 1), "(state, refused)"


# --- a routing engine with tables of its own -----------------------------------

TORUS = """\
torus 5 5 1
xp_link 0x0200000200000010 0x0200000200000060
yp_link 0x0200000200000010 0x0200000200000020
"""


def between_switches(world):
    """Ports whose tables are torus-2QoS's."""
    return [(node, number) for node, number in world.ports()
            if node.is_switch and world.nodes[node.links[number][0]].is_switch]


def test_torus_2qos_has_the_last_word(scratch):
    folder = scratch.folder()
    net, torus = folder / "torus.net", folder / "torus.conf"
    subprocess.run([SRCDIR / "scripts/gen-fabric", "torus", "--dims", "5,5", "-o", net],
                   check=True)
    torus.write_text(TORUS, encoding="utf-8")
    conf = QOS + f"routing_engine torus-2QoS\ntorus_config {torus}\n"
    with Lab(net, plugin="no", opensm_conf=conf) as lab:
        sweep_without_triad(lab)
        assert "torus-2QoS" in lab.log(), "the log"
        world = World(lab, net)
        stock = read_tables(lab, world, between_switches(world))
    groups = {"Switches": ["node-type: SWITCH"], "CAs": ["node-type: CA"]}
    text = policy(groups, [{"group": ["Switches", "CAs"], "sl2vl-table": [1] * 16}])
    lab, _ = table_lab(scratch, net, text, conf)
    with lab:
        wait_for(lab, ENGINE)
        world = World(lab, net)
        found = read_tables(lab, world, between_switches(world))
        assert [key for key in found if found[key]["sl2vl"] != stock[key]["sl2vl"]] == \
            [], "ports whose tables are not torus-2QoS's"
        report = tables(lab)
        assert report["overridden"] > 500, report
        assert (report["different"], report["state"]) == (0, ENGINE), \
            "(different, state)"
        log_has(lab, "routing engine SL2VL VL arbitration")
        assert mentions(plan(lab)[1]["findings"][0]["text"], "routing engine"), "the plan"

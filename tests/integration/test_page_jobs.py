# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""Jobs by Slurm's number, on the page and in the REST interface.  A script stands in for squeue:
a job that runs needs slurmd on each of its hosts."""

import concurrent.futures
import json
import subprocess
import time
import urllib.error
import urllib.request
from urllib.parse import quote

import pytest

import pagelib
from checks import mentions, succeeded, wait_until
from labs import SRCDIR, TRIADD, need
from triadlab.tcp_ports import free_address
from triadlib import TriadLab, ask_json, wait_for_sweep
from weblib import check_schema, get_json

CONF = "[perfmgr]\nsweep_period = 1\n[web]\nlisten = {listen}\nsqueue = {squeue}\n"
SQUEUE = """\
#!/bin/sh
# Stands in for squeue of Slurm, in a test.
for word; do job=$word; done
echo "$*" >>{asked}
case $job in
1) echo 'RUNNING host-000[1-3]' ;;
2) echo 'COMPLETED host-000[1-2]' ;;
3) echo 'PENDING ' ;;
4) echo 'RUNNING host-000[1-2],host-0099' ;;
5) echo 'RUNNING host-000[6-7]' ;;
6) echo 'RUNNING elsewhere[1-2]' ;;
7|7??) exec sleep 600 ;;
8) exec yes RUNNING host-0001 ;;
*) echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1 ;;
esac
"""


@pytest.fixture(scope="module", name="lab")
def jobs_lab(tmp_path_factory):
    """Eight hosts; two of them say that they are host-0007."""
    need(TRIADD)
    folder = tmp_path_factory.mktemp("jobs")
    net, squeue = folder / "jobs.net", folder / "squeue"
    succeeded(subprocess.run([SRCDIR / "scripts" / "gen-fabric", "fat-tree", "--levels", "2",
                              "--radix", "4", "-o", net], check=False))
    text = net.read_text(encoding="utf-8")
    net.write_text(text.replace('"host-0008 HCA-1"', '"host-0007 HCA-1"'), encoding="utf-8")
    squeue.write_text(SQUEUE.format(asked=folder / "asked"), encoding="ascii")
    squeue.chmod(0o755)
    listen = free_address()
    with TriadLab(net, triad_conf=CONF.format(listen=listen, squeue=squeue)) as lab:
        lab.web = f"http://{listen}"
        lab.asked = folder / "asked"
        lab.squeue = squeue
        wait_for_sweep(lab, 2)
        wait_until(lambda: lab.triad("routes", "check", "--json").returncode != 3, 20,
                   "routes")
        yield lab


def job_of(lab, number, **options):
    """(status, answer, message) of the REST interface."""
    query = "".join(f"&{name}={value}" for name, value in options.items())
    try:
        with urllib.request.urlopen(
                f"{lab.web}/api/v1/job?slurm={quote(number)}{query}", timeout=30) as answer:
            return answer.status, json.load(answer), answer.headers["Triad-Message"]
    except urllib.error.HTTPError as error:
        return error.code, None, json.load(error)["detail"]


def asked(lab):
    return lab.asked.read_text(encoding="utf-8").splitlines() if lab.asked.exists() else []


@pytest.mark.row("N9")
@pytest.mark.plain
def test_job_by_its_number_is_that_of_its_hosts(lab):
    code, job, message = job_of(lab, "1", limit=1000)
    assert code == 200 and mentions(message, "1 RUNNING host-000[1-3]"), message
    said = ask_json(lab, "job", "--nodes", "host-000[1-3]", "-n", "1000")
    assert job["hosts"] == 3 and len(job["links"]) == len(said["links"]), job
    assert asked(lab)[-1].endswith("--jobs 1"), asked(lab)
    # What was asked a moment ago is not asked again, whatever else the request has.
    before = len(asked(lab))
    assert job_of(lab, "1", limit=1)[0] == 200
    assert len(asked(lab)) == before, asked(lab)


@pytest.mark.row("N9")
def test_what_is_not_so_with_a_job_is_said(lab):
    code, job, message = job_of(lab, "2")
    assert code == 200 and job["hosts"] == 2 and mentions(message, "2 over COMPLETED"), message
    for number, words in (("3", "3 begun PENDING"), ("99", "99 no such job"),
                          ("6", "none in the fabric"), ("8", "8 octets")):
        code, job, message = job_of(lab, number)
        assert code == 409 and mentions(message, words), (number, message)
    _, job, _ = job_of(lab, "4")
    assert job["unknown_hosts"] == ["host-0099"] and not job["shared_names"], job
    _, job, _ = job_of(lab, "5")
    check_schema(get_json(lab.web.removeprefix("http://"), "/api/v1/openapi.json"),
                 "#/components/schemas/job", job, "a job with names of several")
    assert job["shared_names"] == ["host-0007"], job
    assert (job["hosts"], job["host_ports"]) == (2, 3), job


@pytest.mark.row("N9")
def test_only_numbers_reach_slurm(lab):
    before = len(asked(lab))
    for number in ("1,2", "--help", "1 2", "$(id)", "1;id", "4294967296", "-1", "", "0",
                   "0" * 60 + "123456", "0" * 80 + "1"):
        code, _, message = job_of(lab, number)
        assert code in (400, 409) and message, (number, message)
    assert len(asked(lab)) == before, asked(lab)


def refusal_of(lab, number):
    """(status, when to ask again, why, seconds it took)"""
    begin = time.monotonic()
    with pytest.raises(urllib.error.HTTPError) as refused:
        urllib.request.urlopen(f"{lab.web}/api/v1/job?slurm={number}", timeout=60).close()
    error = refused.value
    return (error.code, error.headers["Retry-After"], json.load(error)["detail"],
            time.monotonic() - begin)


@pytest.mark.row("N9")
def test_squeue_that_hangs_stops_nobody_else(lab):
    with concurrent.futures.ThreadPoolExecutor(11) as threads:
        first = threads.submit(refusal_of, lab, 7)
        wait_until(lambda: asked(lab)[-1:] and asked(lab)[-1].endswith(" 7"), 20,
                   lambda: asked(lab))
        before = len(asked(lab))
        others = [threads.submit(refusal_of, lab, 700 + n) for n in range(10)]
        for it in others:
            code, again, why, seconds = it.result()
            assert code == 503 and again and "ask again" in why, (code, again, why)
            assert seconds < 4 and not first.done(), seconds
        with urllib.request.urlopen(f"{lab.web}/api/v1/nodes?limit=1", timeout=4) as answer:
            assert answer.status == 200
        code, again, why, seconds = first.result()
    assert code == 409 and mentions(why, "7 5 s"), (code, why)
    assert seconds < 20
    # It is not run again at once, whatever the job.
    code, _, why, seconds = refusal_of(lab, 1)
    assert code == 409 and seconds < 4 and mentions(why, "1 squeue 5 s"), (code, why)
    assert len(asked(lab)) == before, asked(lab)
    wait_until(lambda: job_of(lab, "1")[0] == 200, 60, lambda: job_of(lab, "1"))


@pytest.mark.row("N9")
def test_program_that_others_may_write_is_not_run(lab):
    before = len(asked(lab))
    lab.squeue.chmod(0o777)
    try:
        code, _, message = job_of(lab, "98")
    finally:
        lab.squeue.chmod(0o755)
    assert code == 409 and mentions(message, "98 web.squeue not run"), message
    assert len(asked(lab)) == before


@pytest.mark.row("N9")
@pytest.mark.row("N11")
def test_page_takes_a_number(lab):
    with pagelib.browser(lab.web) as page:
        page.open("/job")
        page.js("const it = document.querySelector('[name=hosts]'); it.value = '1';"
                "it.form.requestSubmit()")
        page.wait_for_text("RUNNING")
        said = ask_json(lab, "job", "--nodes", "host-000[1-3]", "-n", "1000")
        assert page.js("return document.querySelectorAll('#main tbody tr').length") == \
            len(said["links"])
        page.screenshot("job-by-number")
        for number, words in (("2", "over"), ("3", "PENDING"), ("99", "no such job"),
                              ("4", "host-0099"), ("5", "host-0007")):
            page.go(f"/job?slurm={number}")
            assert words in page.text, page.text
        # Hosts take the number's place.
        page.js("const it = document.querySelector('[name=hosts]');"
                "it.value = 'host-000[1-2]'; it.form.requestSubmit()")
        wait_until(lambda: "slurm" not in page.js("return location.hash")
                   and "RUNNING" not in page.text, 20, lambda: page.text)
        # 503: another request is waiting for squeue, and the page asks again.
        assert [it for it in page.errors() if "409" not in it and "503" not in it] == []


@pytest.mark.row("N9")
@pytest.mark.row("N11")
def test_without_slurm_it_is_said_what_to_type(lab):
    succeeded(lab.triad("set", "web.squeue", ""))
    try:
        wait_until(lambda: mentions(job_of(lab, "1")[2], "web.squeue squeue -j 1"), 20,
                   lambda: job_of(lab, "1"))
        with pagelib.browser(lab.web) as page:
            page.open("/job?slurm=1")
            assert "web.squeue" in page.text and "squeue -h" in page.text, page.text
            page.open("/job")
            assert "squeue" in page.text, page.text
    finally:
        succeeded(lab.triad("set", "web.squeue", str(lab.squeue)))

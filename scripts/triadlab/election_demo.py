# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What 'demo --election' shows: three SMs that elect, the master's death, and a planned
hand-over."""

from . import failover
from .plugin import triadctl, triadctl_json
from .story import Story

_TAKEOVER_S = 60
_PREFERENCE = "12"
# Mastership is shown in milliseconds.
_POLL_S = 0.001

# (what was shown, the command)
SHOWN = (
    ("which SM is master, which may enforce", "triadctl election"),
    ("a planned hand-over, typed at the SM that is to have it",
     "triadctl port priority 12"),
)


class _Story(Story):
    def election(self, sm, key):
        """What an SM says that may enforce: on a loaded machine it may be without its
        lease for a moment, just when it is asked."""
        def report():
            said = triadctl_json(self.lab, "election", sm=sm)
            return said if said["may_enforce"] else None
        said = _wait(report, f"sm-{sm} may enforce")
        if self.as_json:
            self.document[key] = said
        else:
            self.say(f"sm-{sm}# triadctl election\n"
                     + triadctl(self.lab, "election", sm=sm))


def show(lab, net, traces_folder, as_json):
    _, client = failover.places(net)
    sms = failover.Sms(lab, failover.Traces(traces_folder, lab))
    shown = _Story(lab, as_json)
    old = sms.rest()
    shown.say("--- three SMs on hosts of their own, with Corosync")
    shown.election(old, "before")
    with failover.Stream(lab, client) as stream:
        new = _show_death(sms, stream, old, shown)
    shown.say(f"--- opensm runs on sm-{old} again: it is {sms.state(old)}, and sm-{new} "
              "stays master")
    _show_hand_over(sms, new, next(sm for sm in range(failover.N_SMS)
                                   if sm not in (old, new)), shown)
    shown.end()


def _wait(condition, what):
    return failover.wait_until(condition, _TAKEOVER_S, what, _POLL_S)


def _show_death(sms, stream, old, shown):
    """Returns the new master, when all is at rest."""
    others = [sm for sm in range(failover.N_SMS) if sm != old]
    dead_lid = _wait(stream.last, "the SM answered").lid
    with failover.killed(sms.lab, old) as at_us:
        shown.say(f"--- kill -9 of the opensm on sm-{old}, the master")
        new = _wait(lambda: next(((sm,) for sm in others if sms.state(sm) == "master"),
                                 None), "another SM was master")[0]
        took = {"mastership_ms": failover.now_us() - at_us}
        answer = _wait(lambda: stream.first_after(at_us, dead_lid),
                       "another SM answered")
        took["pathrecord_ms"] = answer.answered_us - at_us
        took["permission_ms"] = _wait(lambda: sms.traces.first_given(at_us, old),
                                      "another SM may enforce") - at_us
        took = {name: us // 1000 for name, us in took.items()}
        shown.say(f"sm-{new} is master after {took['mastership_ms']} ms; a host that asks "
                  f"for a path has an answer after {took['pathrecord_ms']} ms;\nit may "
                  f"enforce after {took['permission_ms']} ms: not before the dead one's "
                  "lease is over")
        _wait(lambda: sms.traces.holder() == new, "the new master may enforce")
        shown.election(new, "after")
    shown.document["death"] = {"killed": old, "master": sms.rest()} | took
    shown.document["back"] = sms.state(old)
    return shown.document["death"]["master"]


def _show_hand_over(sms, old, new, shown):
    shown.say(f"--- a planned hand-over from sm-{old}\n"
              f"sm-{new}# triadctl port priority {_PREFERENCE}")
    begun_us = failover.now_us()
    shown.say(triadctl(sms.lab, "port", "priority", _PREFERENCE, sm=new))
    _wait(lambda: sms.masters() == [new] and sms.traces.holder() == new,
          f"sm-{new} is master and may enforce")
    took_ms = (failover.now_us() - begun_us) // 1000
    shown.say(f"sm-{new} is master and may enforce after {took_ms} ms; nobody died")
    shown.election(new, "handed_over")
    shown.document["hand_over"] = {"from": old, "to": new, "ms": took_ms}

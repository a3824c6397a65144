/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What triadd asks, which serves the outside: a socket of its own, next to that of
 * triadctl, where nothing can be changed.
 *
 * Model: commands, as a reader of the control socket runs them, and some more:
 *
 *     metrics FORMAT [NAME=VALUE ...]   the text for Prometheus; FORMAT is "text" or
 *                                       "openmetrics", the rest as in a URL's query
 *                                       (perfmgr/formats/http_request.h)
 *     changes                           lines without an end, until the client goes
 *     report                            how the client does follows, in one frame
 *                                       (served.h)
 *     webhook                           alerts to be sent, the body of a request; nothing
 *                                       when none were due for some seconds (webhook.h)
 *     webhook STATUS TROUBLE REASON     what came of that: of struct triad_webhook_answer
 *     image QUESTION ...                an image of the last sweep (history/answer.h)
 *     answer NUMBER                     what a job about the past asked for, whose lines
 *                                       follow (history_reader.h)
 *     events                            events of a copied image follow, one in a line
 *                                       (perfmgr/timeline/event.h)
 *     bus-out, bus-in                   messages of agents, to and from the broker that
 *                                       triadd is connected to (bus_relay.h)
 *     copies                            payloads for other SMs' triadds follow, one in a
 *                                       frame (image_bus.h)
 *     profile KEY AFTER                 the last sweep, for a profile file (profile.h)
 *
 * Lines of 'changes', first all of them, then what has changed, "numbers" twice a minute
 * at least:
 *
 *     start N                 when this process started; another number after a restart
 *     version TEXT            its release
 *     commands NAME,...       which it has
 *     port GUID               of this process
 *     conf LINE               of a file with what triadd needs, as it is in force
 *     configured N            these were all; N counts configurations
 *     numbers N N N N         of struct triad_stream_state, but of the configuration
 *     program NAME            of this process
 *     past NUMBER ...         a job about the past, to be answered (history_reader.h)
 *     members GUID ...        SMs that are connected with this one
 *     payload GUID HEX        what the triadd of that SM said
 *
 * Lines that a client does not know are to be skipped.  The answer of a command that found
 * no node or port of the name asked for ends with TRIAD_CONTROL_NO_OBJECT.
 *
 * Thread-safety: any thread between the service's open and close. */
#ifndef TRIAD_SERVICE_OUTSIDE_H
#define TRIAD_SERVICE_OUTSIDE_H

#include "service/control.h"
#include "service/served.h"

/* In place of the ".sock" of triadctl's socket. */
#define TRIAD_OUTSIDE_ENDING ".triadd"

struct triad_service;

/* Opens the socket, if there is one for triadctl.  NULL: there is none, or it failed. */
struct triad_control *triad_outside_open(
	struct triad_service *service, const struct triad_conf *conf);

/* How triadd does; is_known is false when it never reported. */
struct triad_served triad_service_served(struct triad_service *service);

/* Waits until triadd has put the present configuration into force, or it is clear that it
 * will not soon: at most 2 s.  Returns whether it has, or nothing is configured. */
bool triad_service_wait_served(struct triad_service *service);

#endif

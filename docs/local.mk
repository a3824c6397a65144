# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The examples go with the documentation, not to /etc: without a file there the
# defaults stay what they are.
dist_man_MANS += docs/osmtriad.7 docs/osmtriad-election.7 docs/osmtriad-ports.7 \
	docs/triad-profile.5 docs/triad-qos-policy.5 docs/triad.conf.5 docs/triadctl.1
if HAVE_IBNETDISC
dist_man_MANS += docs/triad-agent.8
endif
if HAVE_TRIADD
dist_man_MANS += docs/triadd.8
endif
dist_doc_DATA += docs/architecture.svg docs/openapi.json docs/picture.svg docs/page.png docs/first-change.md docs/glossary.md docs/install.md docs/requirements.md docs/sa-requests.md docs/scaling.md docs/tour.md docs/upgrade.md docs/agent.conf.example \
	docs/triad.conf.example

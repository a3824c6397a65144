# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The page for the browser: scripts/page-build puts it together with its library, for
# service/local.mk, which makes it a part of the programs.
EXTRA_DIST += page/README.md page/package.json \
	page/index.html page/icon.svg page/style.css page/print.css \
	page/api.js page/axis.js page/chart.js page/csv.js page/dom.js page/events.js page/fabric-worker.js \
	page/format.js page/groups.js page/labels.js page/layout.js page/live.js page/main.js page/model.js \
	page/moment.js page/picture.js page/route.js page/scene.js page/search.js \
	page/sort.js page/spark.js page/store.js page/table.js page/theme.js \
	page/tiers.js page/time.js page/token.js page/viewport.js page/words.js \
	page/views/agents.js page/views/alerts.js page/views/all.js page/views/changes.js page/views/congestion.js \
	page/views/election.js page/views/fabric-keys.js page/views/fabric-panel.js \
	page/views/fabric.js page/views/guards.js page/views/health.js page/views/history.js \
	page/views/inventory.js page/views/job.js \
	page/views/links.js page/views/node.js page/views/parts.js page/views/path.js page/views/port.js \
	page/views/qos.js page/views/routes.js page/views/trace.js page/views/traffic.js \
	page/tests/layout.test.js page/tests/made.js page/tests/pure.test.js page/tests/scene.test.js

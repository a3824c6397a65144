// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// All views by their names in addresses, and those of the navigation in its order.

import {agents} from "./agents.js";
import {alerts} from "./alerts.js";
import {changes} from "./changes.js";
import {election} from "./election.js";
import {fabric} from "./fabric.js";
import {guards} from "./guards.js";
import {health} from "./health.js";
import {history} from "./history.js";
import {inventory} from "./inventory.js";
import {job} from "./job.js";
import {busiest, links} from "./links.js";
import {node} from "./node.js";
import {path} from "./path.js";
import {port} from "./port.js";
import {qos} from "./qos.js";
import {routes} from "./routes.js";

export const VIEWS = {
	health,
	fabric,
	links,
	inventory,
	busiest,
	alerts,
	history,
	changes,
	routes,
	path,
	job,
	guards,
	qos,
	election,
	agents,
	node,
	port,
};

export const NAVIGATION = [
	"health",
	"fabric",
	"links",
	"inventory",
	"busiest",
	"alerts",
	"history",
	"changes",
	"routes",
	"path",
	"job",
	"guards",
	"qos",
	"election",
	"agents",
];

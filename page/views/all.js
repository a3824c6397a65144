// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
// All views by their names in addresses, and those of the navigation in its order.

import {agents} from "./agents.js";
import {alerts} from "./alerts.js";
import {election} from "./election.js";
import {fabric} from "./fabric.js";
import {health} from "./health.js";
import {history} from "./history.js";
import {busiest, links} from "./links.js";
import {node} from "./node.js";
import {path} from "./path.js";
import {port} from "./port.js";
import {qos} from "./qos.js";

export const VIEWS = {
	health,
	fabric,
	links,
	busiest,
	alerts,
	history,
	path,
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
	"busiest",
	"alerts",
	"history",
	"path",
	"qos",
	"election",
	"agents",
];

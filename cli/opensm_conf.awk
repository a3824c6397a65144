#!/usr/bin/awk -f
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Reads and edits an opensm.conf, which stands in standard input, for 'triadctl setup'.
#
# A line is a key and the rest, up to a '#'; blanks and a pair of quotes around the value are no
# part of it; the last line of a key counts; "(null)" is no value: as OpenSM reads it.  An edit
# replaces a value in its place, and keeps each octet around it.
#
#   -v command=get -v wanted=KEY   prints the value
#   -v command=path   prints the first "conf=" of the plugins' options, as Triad reads it
#   -v command=add    prints the text with Triad, and with "conf=$path" if that is set
#   -v command=del    prints it without Triad
#
# "-v newline=1": the text ends with a newline, or is empty.  Exit status 3: a line would be
# longer than OpenSM's buffer, which takes 1022 octets.
function parse(text) {
	before = text
	sub(/#.*/, "", before)
	match(before, /^[ \t]*[^ \t]*/)
	key = substr(before, 1, RLENGTH)
	value = substr(before, RLENGTH + 1)
	blanks = match(value, /[^ \t\v\f\r]/) - 1
	before = key (blanks < 0 ? " " : substr(value, 1, blanks))
	value = blanks < 0 ? "" : substr(value, blanks + 1)
	sub(/[ \t\v\f\r]+$/, "", value)
	after = substr(text, length(blanks < 0 ? key : before value) + 1)
	if (value ~ /^".*"$|^\047.*\047$/ && length(value) > 1) {
		before = before substr(value, 1, 1)
		after = substr(value, length(value)) after
		value = substr(value, 2, length(value) - 2)
	}
	sub(/^[ \t]+/, "", key)
}
function get(name) {
	if (!(name in last))
		return ""
	parse(line[last[name]])
	return value == "(null)" ? "" : value
}
function set(name, new) {
	if (name in last) {
		parse(line[last[name]])
		line[last[name]] = before (new == "" ? "(null)" : new) after
	} else {
		last[name] = ++n
		line[n] = name " " new (newline && line[n - 1] ~ /\r$/ ? "\r" : "")
		newline = 1
	}
	if (length(line[last[name]]) > 1020)
		failed = 3
}
function find_path() {
	options = get("event_plugin_options")
	at = index(options, "conf=")
	if (at > 1 && substr(options, at - 1, 1) !~ /[ \t,;]/)
		at = 0
	rest = at ? substr(options, at + 5) : ""
	match(rest, /^[^ \t,;]*/)
	found = substr(rest, 1, RLENGTH)
	rest = substr(rest, RLENGTH + 1)
}
function add() {
	names = get("event_plugin_name")
	if (names !~ osmtriad)
		set("event_plugin_name", names (names == "" ? "" : ",") "osmtriad")
	find_path()
	if (ENVIRON["path"] == "" || ENVIRON["path"] == found)
		return
	# Before those of other plugins, because the first one counts.
	if (!at)
		rest = (options == "" ? "" : " ") options
	set("event_plugin_options",
		substr(options, 1, at ? at - 1 : 0) "conf=" ENVIRON["path"] rest)
}
# Takes out the word at "at", and what parts it from the others.
function cut(words, at, tail, ends) {
	words = substr(words, 1, at - 1)
	sub(words == "" ? "^" ends : "^$", "", tail)
	sub(ends "$", "", words)
	return words tail
}
function del() {
	names = get("event_plugin_name")
	if (names !~ osmtriad)
		return
	while (match("," names ",", /[, \t]osmtriad[, \t]/))
		names = cut(names, RSTART, substr(names, RSTART + 8), "[, \t]+")
	set("event_plugin_name", names)
	find_path()
	# Another plugin that is left may read it.
	if (names == "" && at)
		set("event_plugin_options", cut(options, at, rest, "[ \t,;]+"))
}
BEGIN {
	osmtriad = "(^|[, \t])osmtriad([, \t]|$)"
	ORS = ""
}
{
	line[++n] = $0
	parse($0)
	last[key] = n
	# OpenSM takes the rest of such a line for another one.
	if (length($0) > 1022 && /event_plugin_/)
		failed = 3
}
END {
	if (command == "get")
		print get(wanted)
	else if (command == "path") {
		find_path()
		print found
	} else {
		if (command == "add")
			add()
		else
			del()
		for (i = 1; i <= n; i++)
			print line[i] (i < n || newline ? "\n" : "")
		exit failed
	}
}

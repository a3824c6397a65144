# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""opensm in a lab: its opensm.conf and triad.conf, its start, what its log says.

It is the stock program, and runs as on a host with an HCA: only a library that is
loaded before all others leads it to ibsim."""

import os
import re
import socket
import subprocess

from .errors import UsageError

# opensm logs at this level that the subnet is up.
_LOG_INFO = 0x02

# What a lab decides, whatever the user's opensm.conf says.
_OWN_KEYS = ("log_file", "daemon")


# --- opensm.conf -------------------------------------------------------------

def conf_keys(text):
    """The keys set in an opensm.conf, as opensm reads it: one a line, the value
    is the rest of the line up to a '#', the last of several counts."""
    keys = {}
    for line in text.splitlines():
        words = line.split("#")[0].split(None, 1)
        if words:
            keys[words[0]] = words[1].strip() if len(words) > 1 else ""
    return keys


def check_user_conf(text):
    flags = conf_keys(text).get("log_flags", "3")
    try:
        has_info = int(flags, 0) & _LOG_INFO
    except ValueError:
        has_info = 0
    if not has_info:
        raise UsageError(f"log_flags {flags} in --opensm-conf lacks 0x02: then "
                         "OpenSM does not log that the subnet is up, and the lab "
                         "cannot know")


def make_conf(defaults, user_text):
    """The lab's keys, without those the user set, then the user's lines.

    A key is never repeated: at each rescan opensm would act on one value after
    the other, which for sm_priority means to announce two changes."""
    taken = conf_keys(user_text)
    lines = [f"{key} {value}" for key, value in defaults.items()
             if key in _OWN_KEYS or key not in taken]
    for line in user_text.splitlines():
        own = line.split("#")[0].split(None, 1)[:1]
        lines.append(f"# the lab's: {line}" if own and own[0] in _OWN_KEYS else line)
    return "\n".join(lines) + "\n"


def default_keys(folder, log):
    """An SM that touches nothing outside of its folder."""
    return {
        "log_file": log,
        "log_flags": "0x03",
        "force_log_flush": "TRUE",
        "daemon": "FALSE",
        "sweep_interval": "10",
        "fsync_high_avail_files": "FALSE",
        "partition_config_file": f"{folder}/partitions.conf",
        "prefix_routes_file": f"{folder}/prefix-routes.conf",
        "qos_policy_file": f"{folder}/qos-policy.conf",
        "torus_config": f"{folder}/torus-2QoS.conf",
        "per_module_logging_file": f"{folder}/per-module-logging.conf",
    }


def console_keys(console):
    """Keys for a console; one that listens gets a port that is free now."""
    keys = {"console": console}
    if console == "loopback":
        with socket.create_server(("127.0.0.1", 0)) as server:
            keys["console_port"] = str(server.getsockname()[1])
    return keys


# --- triad.conf --------------------------------------------------------------

_SECTION = re.compile(r"\s*\[\s*(.*?)\s*\]\s*$")
_KEY = re.compile(r"\s*([^\s#=]+)\s*=")
_SOCKET = re.compile(r"\s*socket\s*=\s*(.*?)\s*$")


def user_socket(text):
    """The value of 'socket' in section [control], or None."""
    section = value = None
    for line in text.splitlines():
        header, key = _SECTION.match(line), _SOCKET.match(line)
        section = header[1] if header else section
        if key and section == "control":
            value = key[1]
    return value


def add_socket(text, path):
    """Adds 'socket = path' to section [control]."""
    # In its value, '%' has a meaning.
    return _add_settings(text, "control", [f"socket = {path.replace('%', '%%')}"])


def add_state(text, folder):
    """Lets a lab keep nothing outside of its folder, unless the text says where."""
    folder = folder.replace("%", "%%")
    text = add_missing_keys(text, "state", {"dir": folder})
    text = add_missing_keys(text, "history", {"dir": f"{folder}/images"})
    if section_of(text, "election") or section_of(text, "port"):
        text = add_missing_keys(text, "election", {"state_dir": folder})
    return text


def add_missing_keys(text, wanted, values):
    """Adds those keys of the dictionary that the section has not got."""
    present, section = set(), None
    for line in text.splitlines():
        if header := _SECTION.match(line):
            section = header[1]
        elif section == wanted and (key := _KEY.match(line)):
            present.add(key[1])
    return _add_settings(text, wanted, [f"{key} = {value}" for key, value
                                        in values.items() if key not in present])


def section_of(text, wanted):
    """The lines of one section of a triad.conf, its heading included."""
    lines, section = [], None
    for line in text.splitlines():
        if header := _SECTION.match(line):
            section = header[1]
        if section == wanted:
            lines.append(line)
    return "".join(f"{line}\n" for line in lines)


def without_sections(text, names):
    """The text without those sections; their lines become blank, so that numbers of lines stay."""
    lines, section = [], None
    for line in text.splitlines():
        if header := _SECTION.match(line):
            section = header[1]
        lines.append("" if section in names else line)
    return "".join(f"{line}\n" for line in lines)


def _add_settings(text, section, settings):
    """Adds lines to a section: at its end when there is such a section, else in a new
    one at the end of the file, so that the numbers of the lines before stay what they
    were."""
    lines = text.splitlines()
    headers = [(number, match[1]) for number, line in enumerate(lines)
               if (match := _SECTION.match(line))]
    begin = next((number for number, name in headers if name == section), None)
    if begin is None:
        return "\n".join([*lines, f"[{section}]", *settings]) + "\n"
    end = min([number for number, _ in headers if number > begin],
              default=len(lines))
    while not lines[end - 1].strip():
        end -= 1
    return "\n".join([*lines[:end], *settings, *lines[end:]]) + "\n"


def resolve_socket(value, port_guid):
    """A path as the plugin expands it."""
    return re.sub("%[g%]", lambda m: port_guid if m[0] == "%g" else "%", value)


# --- the process -------------------------------------------------------------

def start(sm, variables, entrance=()):
    """Starts opensm for 'sm', whose folder has its configuration; 'entrance' is the
    command that leads into its host, if it has one."""
    variables = dict(variables, OSM_CACHE_DIR=f"{sm.folder}/cache",
                     OSM_TMP_DIR=f"{sm.folder}/tmp")
    # umad2sim writes a folder sys-PID where it runs.
    for name in ("cache", "tmp", "cwd"):
        os.makedirs(f"{sm.folder}/{name}", exist_ok=True)
    with open(_console_input(sm), "rb+" if sm.console == "local" else "rb",
              buffering=0) as commands, open(sm.output, "ab") as output:
        return subprocess.Popen(
            [*entrance, "opensm", "-F", f"{sm.folder}/opensm.conf"], env=variables,
            cwd=f"{sm.folder}/cwd", stdin=commands, stdout=output,
            stderr=subprocess.STDOUT, start_new_session=True)


def console_fifo(sm):
    return f"{sm.folder}/console.in"


def _console_input(sm):
    """A console on standard input needs one that has no end."""
    if sm.console != "local":
        return os.devnull
    fifo = console_fifo(sm)
    if not os.path.exists(fifo):
        os.mkfifo(fifo)
    return fifo


class Log:
    """What an opensm has logged about itself.

    'state' is the SM's state in small letters ("master", "standby",
    "discovering", "notactive") or None; 'subnet_up' is whether it has been up
    since this SM became master, 'n_up' how many sweeps came through since its start."""

    _STATE = re.compile(r"-> .*\bEntering (\w+) state$")
    _SUBNET_UP = re.compile(r"-> .*\bSUBNET UP$")
    _PORT_GUID = re.compile(r"-> .*\bSetting IS_SM on port (0x[0-9a-f]{16})$")
    _PLUGIN = re.compile(r"-> .*\bERR 1000: cannot load plugin")

    def __init__(self, path):
        self._path = path
        self._forget()

    def _forget(self):
        self._offset = 0
        self.state = None
        self.subnet_up = False
        self.n_up = 0
        self.port_guid = None
        self.plugin_refusal = None

    def update(self):
        """Reads what came since the last time."""
        try:
            with open(self._path, "rb") as stream:
                if os.fstat(stream.fileno()).st_size < self._offset:
                    # An opensm that was started again may begin its log anew.
                    self._forget()
                stream.seek(self._offset)
                for line in stream:
                    if not line.endswith(b"\n"):
                        break
                    self._offset += len(line)
                    self._take(line.decode("utf-8", "replace").rstrip("\n"))
        except FileNotFoundError:
            self._forget()
        return self

    def _take(self, line):
        if match := self._STATE.search(line):
            self.state, self.subnet_up = match[1].lower(), False
        elif self._SUBNET_UP.search(line):
            self.subnet_up = True
            self.n_up += 1
        elif match := self._PORT_GUID.search(line):
            self.port_guid = match[1]
        elif self._PLUGIN.search(line):
            self.plugin_refusal = line

    @property
    def is_settled(self):
        return self.state == "standby" or self.is_master

    @property
    def is_master(self):
        return self.state == "master" and self.subnet_up

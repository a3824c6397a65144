# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
"""What pytest must know before it collects tests: it reads this file, but not those in
folders below, as soon as it starts, and where others run the tests it reads no other."""


def pytest_addoption(parser):
    parser.addoption("--keep-labs", action="store_true",
                     help="leave a lab running that a test failed in; its folder is in "
                          "the report")


class FailureReporter:
    """Names a test that fails at once, and says why, where others are dots."""

    def __init__(self, config):
        self._config = config

    def pytest_runtest_logreport(self, report):
        if report.failed:
            terminal = self._config.pluginmanager.get_plugin("terminalreporter")
            crash = getattr(report.longrepr, "reprcrash", None)
            why = f": {' '.join(crash.message.split())[:300]}" if crash else ""
            terminal.write("\n")
            terminal.write_line(f"FAILED at once: {report.nodeid}{why}")


def pytest_configure(config):
    if not hasattr(config, "workerinput") and config.getoption("verbose") == 0:
        config.pluginmanager.register(FailureReporter(config))

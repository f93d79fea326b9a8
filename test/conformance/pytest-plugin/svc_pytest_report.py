"""Each phase of each test becomes one line of JSON in the file that SVC_PYTEST_REPORT names."""

import json
import os


def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # the process that started the workers sees every test as well
    line = {
        "name": report.nodeid,
        "phase": report.when,
        "outcome": report.outcome,
        "message": message_of(report),
        "seconds": report.duration,
    }
    with open(os.environ["SVC_PYTEST_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def message_of(report):
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    where = getattr(crash, "lineno", "")
    return f"{where}: {crash.message}" if crash is not None else str(report.longrepr)[-2000:]

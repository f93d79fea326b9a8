"""Loaded beside the suite, whose files stay as they are.

Each test gets bucket names of its own: the suite draws their beginning once per process and deletes all such buckets
before and after each test, so that one bucket which cannot be deleted would fail every test after it.

Each phase of each test becomes one line of JSON in the file that SVC_S3_TESTS_REPORT names.
"""

import json
import os
import uuid

import pytest


@pytest.fixture(autouse=True)
def bucket_names_of_its_own(configfile):
    import s3tests.functional

    s3tests.functional.prefix = f"s3t-{uuid.uuid4().hex[:20]}-"


def pytest_runtest_logreport(report):
    if "PYTEST_XDIST_WORKER" in os.environ:
        return  # whoever started the workers hears of every test as well
    line = {
        "name": report.nodeid.rpartition("::")[2],
        "phase": report.when,
        "outcome": report.outcome,
        "message": message_of(report),
        "seconds": report.duration,
    }
    with open(os.environ["SVC_S3_TESTS_REPORT"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def message_of(report):
    if report.outcome == "passed":
        return ""
    if isinstance(report.longrepr, tuple):  # a skip: file, line, reason
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    where = getattr(crash, "lineno", "")
    return f"{where}: {crash.message}" if crash is not None else str(report.longrepr)[-2000:]

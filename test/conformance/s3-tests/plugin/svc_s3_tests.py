"""Loaded beside the suite, whose files stay as they are.

Each test gets bucket names of its own: the suite draws their beginning once per process and deletes all such buckets
before and after each test, so that one bucket which cannot be deleted would fail every test after it.
"""

import uuid

import pytest


@pytest.fixture(autouse=True)
def bucket_names_of_its_own(configfile):
    import s3tests.functional

    s3tests.functional.prefix = f"s3t-{uuid.uuid4().hex[:20]}-"

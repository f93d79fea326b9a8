"""Walks through what applications do with boto3; prints the name of each stage when all of its answers were right."""

import hashlib
import io
import os

import boto3
import requests
from boto3.s3.transfer import TransferConfig
from botocore.config import Config
from botocore.exceptions import ClientError

MIB = 1024 * 1024

session = boto3.session.Session()
options = {"endpoint_url": os.environ["S3_ENDPOINT"], "config": Config(retries={"max_attempts": 0})}
client = session.client("s3", **options)
bucket = session.resource("s3", **options).create_bucket(Bucket="boto3-walk")


def refusal(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"]
    raise AssertionError("was not refused")


def transfers():
    """Threads that send and fetch parts at the same time."""
    config = TransferConfig(multipart_threshold=5 * MIB, multipart_chunksize=5 * MIB, max_concurrency=4)
    body = os.urandom(23 * MIB + 11)
    for algorithm in ("CRC32", "SHA256"):
        bucket.upload_fileobj(io.BytesIO(body), "large", Config=config, ExtraArgs={"ChecksumAlgorithm": algorithm})
        received = io.BytesIO()
        bucket.download_fileobj("large", received, Config=config)
        assert received.getvalue() == body
    client.copy({"Bucket": bucket.name, "Key": "large"}, bucket.name, "copied", Config=config)
    assert bucket.Object("copied").get()["Body"].read() == body
    assert bucket.Object("copied").get(Range="bytes=-5")["Body"].read() == body[-5:]


def pages():
    names = [f"pages/{folder}/{number:03}" for folder in "abc" for number in range(40)]
    for name in names:
        client.put_object(Bucket=bucket.name, Key=name, Body=b"")
    for operation in ("list_objects", "list_objects_v2"):
        paginator = client.get_paginator(operation)
        found = [
            entry["Key"]
            for page in paginator.paginate(Bucket=bucket.name, Prefix="pages/", PaginationConfig={"PageSize": 7})
            for entry in page.get("Contents", [])
        ]
        assert found == names
        folders = [
            entry["Prefix"]
            for page in paginator.paginate(
                Bucket=bucket.name, Prefix="pages/", Delimiter="/", PaginationConfig={"PageSize": 1}
            )
            for entry in page.get("CommonPrefixes", [])
        ]
        assert folders == ["pages/a/", "pages/b/", "pages/c/"]
    assert [entry.key for entry in bucket.objects.filter(Prefix="pages/b/")] == [n for n in names if "/b/" in n]
    bucket.objects.filter(Prefix="pages/").delete()
    assert not list(bucket.objects.filter(Prefix="pages/"))


def conditions():
    target = {"Bucket": bucket.name, "Key": "once"}
    etag = client.put_object(**target, Body=b"one", IfNoneMatch="*")["ETag"]
    assert refusal(client.put_object, **target, Body=b"two", IfNoneMatch="*") == "PreconditionFailed"
    assert refusal(client.put_object, **target, Body=b"two", IfMatch='"0"') == "PreconditionFailed"
    client.put_object(**target, Body=b"two", IfMatch=etag)
    assert refusal(client.get_object, **target, IfMatch=etag) == "PreconditionFailed"
    assert client.get_object(**target)["Body"].read() == b"two"


def links():
    target = {"Bucket": bucket.name, "Key": "links/ä b+c"}
    put = client.generate_presigned_url("put_object", Params=target, ExpiresIn=60)
    assert requests.put(put, data=b"by link", timeout=10).status_code == 200
    get = client.generate_presigned_url(
        "get_object", Params={**target, "ResponseContentDisposition": 'attachment; filename="x"'}, ExpiresIn=60
    )
    answer = requests.get(get, timeout=10)
    assert answer.content == b"by link"
    assert answer.headers["content-disposition"] == 'attachment; filename="x"'
    assert requests.put(get, data=b"not by this link", timeout=10).status_code == 403


def forms():
    form = client.generate_presigned_post(
        bucket.name, "forms/${filename}", Conditions=[["content-length-range", 1, 10]], ExpiresIn=60
    )
    fields, url = form["fields"], form["url"]
    sent = requests.post(url, data=fields, files={"file": ("note.txt", b"by form")}, timeout=10)
    assert sent.status_code == 204, sent.text
    assert bucket.Object("forms/note.txt").get()["Body"].read() == b"by form"
    long = requests.post(url, data=fields, files={"file": ("long.txt", b"0123456789A")}, timeout=10)
    assert long.status_code == 400 and "EntityTooLarge" in long.text, long.text
    other = requests.post(url, data={**fields, "key": "elsewhere"}, files={"file": ("x", b"x")}, timeout=10)
    assert other.status_code == 403, other.text


def versions():
    bucket.Versioning().enable()
    for text in (b"first", b"second"):
        bucket.put_object(Key="versioned", Body=text)
    bucket.Object("versioned").delete()
    assert refusal(bucket.Object("versioned").get) == "NoSuchKey"
    kept = [version for version in bucket.object_versions.filter(Prefix="versioned") if version.size is not None]
    assert [version.get()["Body"].read() for version in kept] == [b"second", b"first"]
    tag = hashlib.md5(b"first").hexdigest()
    assert kept[-1].head()["ETag"] == f'"{tag}"'
    bucket.object_versions.delete()
    bucket.delete()
    assert refusal(client.head_bucket, Bucket=bucket.name) == "404"


for stage in (transfers, pages, conditions, links, forms, versions):
    stage()
    print(stage.__name__, flush=True)

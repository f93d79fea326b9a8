"""Walks through the S3 plane with boto3; prints `all done` when every answer was as it should be."""
import hashlib
import io
import os

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError


def client(**config):
    return boto3.client("s3", endpoint_url=os.environ["S3_ENDPOINT"], config=Config(retries={"max_attempts": 0}, **config))


def refused(call, **arguments):
    try:
        call(**arguments)
    except ClientError as error:
        return error.response["Error"]["Code"], error.response["ResponseMetadata"]["HTTPStatusCode"]
    raise AssertionError("nothing was refused")


s3 = client(s3={"addressing_style": "path"})
bucket = "boto3-bucket"
s3.create_bucket(Bucket=bucket)
assert refused(s3.create_bucket, Bucket=bucket)[0] == "BucketAlreadyOwnedByYou"
assert bucket in [b["Name"] for b in s3.list_buckets()["Buckets"]]
assert s3.get_bucket_location(Bucket=bucket)["LocationConstraint"] is None

body = os.urandom(100_000)
for payload_signing in (True, False):
    for when in ("when_supported", "when_required"):
        c = client(s3={"addressing_style": "path", "payload_signing_enabled": payload_signing}, request_checksum_calculation=when)
        for data in (body, io.BytesIO(body)):
            answer = c.put_object(Bucket=bucket, Key="payload", Body=data)
            assert answer["ETag"] == '"%s"' % hashlib.md5(body).hexdigest()
        assert c.get_object(Bucket=bucket, Key="payload")["Body"].read() == body

for algorithm in ("CRC32", "SHA1", "SHA256"):
    sent = s3.put_object(Bucket=bucket, Key="checksum", Body=body, ChecksumAlgorithm=algorithm)
    head = s3.head_object(Bucket=bucket, Key="checksum", ChecksumMode="ENABLED")
    assert sent["Checksum" + algorithm] == head["Checksum" + algorithm]
    bad = dict(Bucket=bucket, Key="bad", Body=body, **{"Checksum" + algorithm: sent["Checksum" + algorithm]})
    bad["Body"] = body[:-1] + b"x" if body[-1:] != b"x" else body[:-1] + b"y"
    assert refused(s3.put_object, **bad) == ("BadDigest", 400)

keys = ["a", "a/b", "a//b", " lead", "tr ail ", "ä/ö", "a+b", "100%", "q?x=1", "h#h", "\u2603", "\U0001f600", "..", "./x", "<&>'\"", "tab\there", "\x01"]
for key in keys:
    s3.put_object(Bucket=bucket, Key="keys/" + key, Body=key.encode())
    assert s3.get_object(Bucket=bucket, Key="keys/" + key)["Body"].read() == key.encode()
listed = [o["Key"][5:] for o in s3.list_objects_v2(Bucket=bucket, Prefix="keys/")["Contents"]]
assert listed == sorted(keys, key=lambda k: k.encode()), listed
paged = []
for page in s3.get_paginator("list_objects").paginate(Bucket=bucket, Prefix="keys/", PaginationConfig={"PageSize": 3}):
    paged += [o["Key"][5:] for o in page.get("Contents", [])]
assert paged == listed, paged
# XML 1.0 has no way to write U+0001, so no client can read it in an answer that names it.
s3.delete_object(Bucket=bucket, Key="keys/\x01")
keys.remove("\x01")
deleted = s3.delete_objects(Bucket=bucket, Delete={"Objects": [{"Key": "keys/" + k} for k in keys]})
assert len(deleted["Deleted"]) == len(keys) and "Errors" not in deleted

parts = [os.urandom(5 * 1024 * 1024), os.urandom(77)]
for algorithm in (None, "CRC32", "SHA256"):
    extra = {} if algorithm is None else {"ChecksumAlgorithm": algorithm}
    upload = s3.create_multipart_upload(Bucket=bucket, Key="multi", Metadata={"a": "b"}, **extra)["UploadId"]
    done = []
    for number, data in enumerate(parts, 1):
        answer = s3.upload_part(Bucket=bucket, Key="multi", UploadId=upload, PartNumber=number, Body=data, **extra)
        done.append({"PartNumber": number, **{k: v for k, v in answer.items() if k == "ETag" or k.startswith("Checksum")}})
    assert len(s3.list_parts(Bucket=bucket, Key="multi", UploadId=upload)["Parts"]) == 2
    whole = s3.complete_multipart_upload(Bucket=bucket, Key="multi", UploadId=upload, MultipartUpload={"Parts": done})
    assert whole["ETag"].endswith('-2"')
    assert s3.get_object(Bucket=bucket, Key="multi")["Body"].read() == b"".join(parts)
    assert s3.head_object(Bucket=bucket, Key="multi")["Metadata"] == {"a": "b"}
    assert s3.get_object(Bucket=bucket, Key="multi", PartNumber=2)["Body"].read() == parts[1]

s3.upload_fileobj(io.BytesIO(b"".join(parts) * 3), bucket, "transfer")
out = io.BytesIO()
s3.download_fileobj(bucket, "transfer", out)
assert out.getvalue() == b"".join(parts) * 3

for key in ("payload", "checksum", "multi", "transfer"):
    s3.delete_object(Bucket=bucket, Key=key)
s3.delete_bucket(Bucket=bucket)
assert refused(s3.head_bucket, Bucket=bucket)[1] == 404
print("all done")

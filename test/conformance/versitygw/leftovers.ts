import {
  AbortMultipartUploadCommand,
  DeleteBucketCommand,
  DeleteObjectsCommand,
  ListBucketsCommand,
  ListMultipartUploadsCommand,
  ListObjectVersionsCommand,
  S3Client,
} from '@aws-sdk/client-s3';

/**
 * Deletes all buckets that a key can see. A failed test often leaves its bucket, and the next test, a new process
 * that numbers its buckets from one again, would fail to create the same one.
 */
export async function removeLeftovers(target: Target): Promise<void> {
  const { endpoint, region, accessKeyId, secretAccessKey } = target;
  const credentials = { accessKeyId, secretAccessKey };
  const client = new S3Client({ endpoint, region, forcePathStyle: true, credentials });
  try {
    const { Buckets = [] } = await client.send(new ListBucketsCommand());
    for (const { Name } of Buckets) if (Name !== undefined) await removeBucket(client, Name);
  } finally {
    client.destroy();
  }
}

async function removeBucket(client: S3Client, Bucket: string): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket }));
  for (const { Key, UploadId } of Uploads)
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId }));
  const protection = { BypassGovernanceRetention: true };
  for (;;) {
    const {
      Versions = [],
      DeleteMarkers = [],
      IsTruncated,
    } = await client.send(new ListObjectVersionsCommand({ Bucket }));
    const Objects = [...Versions, ...DeleteMarkers].map(({ Key, VersionId }) => ({ Key, VersionId }));
    if (Objects.length > 0) {
      await client.send(new DeleteObjectsCommand({ Bucket, Delete: { Objects, Quiet: true }, ...protection }));
    }
    if (IsTruncated !== true) break;
  }
  await client.send(new DeleteBucketCommand({ Bucket }));
}

export interface Target {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

import { HeadBucketCommand, ListObjectsV2Command, type S3Client } from '@aws-sdk/client-s3';
import { auditAging, auditTags } from './audit-attributes.ts';
import { CRASH_BUCKET, VERSIONED_BUCKET, type CampaignState } from './campaign-state.ts';
import { isAbsent } from './client.ts';
import { readObject } from './read-object.ts';

/** Reads everything back. Each finding is a lost acknowledged write or bytes that were never sent. */
export async function audit(client: S3Client, state: CampaignState, accessKeyIds: ReadonlySet<string>) {
  const findings = [...state.findings];
  for (const part of [auditKeys, auditVersions, auditTags, auditAging]) findings.push(...(await part(client, state)));
  for (const name of state.buckets.names()) {
    const wrong = state.buckets.judge(name, await hasBucket(client, name));
    if (wrong !== null) findings.push(`bucket ${wrong}`);
  }
  for (const name of state.accessKeys.names()) {
    const wrong = state.accessKeys.judge(name, accessKeyIds.has(name.slice(name.indexOf('=') + 1)));
    if (wrong !== null) findings.push(`access key ${wrong}`);
  }
  return findings;
}

async function auditKeys(client: S3Client, { writes }: CampaignState): Promise<string[]> {
  const findings: string[] = [];
  const there = new Set<string>();
  for (const key of writes.keys()) {
    const found = await readObject(client, { Bucket: CRASH_BUCKET, Key: key });
    if (found !== null) there.add(key);
    const wrong = writes.judge(key, found);
    if (wrong !== null) findings.push(wrong);
  }
  const listed = await list(client);
  for (const key of listed) if (!there.has(key)) findings.push(`${key}: listed, but cannot be read`);
  for (const key of there) if (!listed.has(key)) findings.push(`${key}: can be read, but is not listed`);
  return findings;
}

async function auditVersions(client: S3Client, { versions }: CampaignState): Promise<string[]> {
  const findings: string[] = [];
  for (const { key, versionId } of versions.all()) {
    const found = await readObject(client, { Bucket: VERSIONED_BUCKET, Key: key, VersionId: versionId });
    const wrong = versions.judge(key, versionId, found);
    if (wrong !== null) findings.push(wrong);
  }
  return findings;
}

async function hasBucket(client: S3Client, Bucket: string): Promise<boolean> {
  try {
    await client.send(new HeadBucketCommand({ Bucket }));
    return true;
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

async function list(client: S3Client): Promise<Set<string>> {
  const keys = new Set<string>();
  for (let token: string | undefined; ;) {
    const page = await client.send(new ListObjectsV2Command({ Bucket: CRASH_BUCKET, ContinuationToken: token }));
    for (const object of page.Contents ?? []) if (object.Key !== undefined) keys.add(object.Key);
    token = page.NextContinuationToken;
    if (token === undefined) return keys;
  }
}

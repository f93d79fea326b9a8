import { DeleteObjectCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { generateBytes } from './bodies.ts';
import { VERSIONED_BUCKET as Bucket } from './campaign-state.ts';
import { settle, type CrashClient } from './client.ts';

const KEYS_PER_CLIENT = 2;
const VERSIONS_KEPT = 4;

function anyKey({ name, random }: CrashClient): string {
  return `${name}/${Math.floor(random() * KEYS_PER_CLIENT)}`;
}

export async function putVersion(client: CrashClient): Promise<boolean> {
  const { writes, versions } = client.state;
  const Key = anyKey(client);
  const body = writes.newBody(Math.floor(client.random() * 130_000));
  const { VersionId } = await client.s3.send(
    new PutObjectCommand({ Bucket, Key, Body: generateBytes(writes.seed, body) }),
  );
  if (VersionId !== undefined) versions.written(Key, VersionId, body);
  return VersionId !== undefined;
}

export async function deleteVersion(client: CrashClient): Promise<boolean> {
  const { versions } = client.state;
  const Key = anyKey(client);
  const VersionId = versions.toDelete(Key, VERSIONS_KEPT);
  if (VersionId === null) return false;
  versions.leaving(Key, VersionId);
  return await settle(client.s3.send(new DeleteObjectCommand({ Bucket, Key, VersionId })), {
    answered: () => versions.gone(Key, VersionId),
    refused: () => undefined,
  });
}

/** Covers a key with a delete marker; its versions stay. */
export async function cover(client: CrashClient): Promise<boolean> {
  await client.s3.send(new DeleteObjectCommand({ Bucket, Key: anyKey(client) }));
  return true;
}

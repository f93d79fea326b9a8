import {
  DeleteObjectCommand,
  DeleteObjectTaggingCommand,
  PutObjectCommand,
  PutObjectTaggingCommand,
} from '@aws-sdk/client-s3';
import { TAGGED_BUCKET as Bucket } from './campaign-state.ts';
import { settle, type CrashClient } from './client.ts';

export const TAG = 'written';
const KEYS_PER_CLIENT = 2;

/** Runs an operation that leaves `tag` on a key: empty means no tag, null means no object. */
async function change(
  client: CrashClient,
  tag: string | null,
  send: (key: string) => Promise<unknown>,
): Promise<boolean> {
  const { tags } = client.state;
  const key = `${client.name}/${Math.floor(client.random() * KEYS_PER_CLIENT)}`;
  tags.begin(key, tag);
  return await settle(send(key), {
    answered: () => tags.answered(key, tag),
    refused: () => tags.refused(key, tag),
  });
}

function newTag({ state }: CrashClient): string {
  return String(state.writes.newBody(0).number);
}

export function putTagged(client: CrashClient): Promise<boolean> {
  const tag = newTag(client);
  return change(client, tag, (Key) =>
    client.s3.send(new PutObjectCommand({ Bucket, Key, Body: tag, Tagging: `${TAG}=${tag}` })),
  );
}

export function retag(client: CrashClient): Promise<boolean> {
  const tag = newTag(client);
  const Tagging = { TagSet: [{ Key: TAG, Value: tag }] };
  return change(client, tag, (Key) => client.s3.send(new PutObjectTaggingCommand({ Bucket, Key, Tagging })));
}

export function untag(client: CrashClient): Promise<boolean> {
  return change(client, '', (Key) => client.s3.send(new DeleteObjectTaggingCommand({ Bucket, Key })));
}

export function removeTagged(client: CrashClient): Promise<boolean> {
  return change(client, null, (Key) => client.s3.send(new DeleteObjectCommand({ Bucket, Key })));
}

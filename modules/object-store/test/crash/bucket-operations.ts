import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { settle, type CrashClient } from './client.ts';

/** Creates a bucket of this client, or deletes it again. */
export async function toggleBucket(client: CrashClient): Promise<boolean> {
  const { buckets } = client.state;
  const Bucket = `crash-${client.name}-${Math.floor(client.random() * 3)}`;
  const present = buckets.known(Bucket) !== true;
  buckets.begin(Bucket, present);
  const sent: Promise<unknown> = present
    ? client.s3.send(new CreateBucketCommand({ Bucket }))
    : client.s3.send(new DeleteBucketCommand({ Bucket }));
  return await settle(sent, {
    answered: () => buckets.answered(Bucket, present),
    refused: () => buckets.refused(Bucket, present),
  });
}

/** Creates an access key through the management API, or deletes one this client created. */
export async function toggleAccessKey(client: CrashClient): Promise<boolean> {
  const { accessKeys } = client.state;
  const mine = [...accessKeys.names()].filter((name) => name.startsWith(`${client.name}=`));
  const victim = mine.find((name) => accessKeys.known(name) === true);
  if (victim !== undefined && mine.length > 1) {
    accessKeys.begin(victim, false);
    await call(client, 'DELETE', { accessKeyId: victim.slice(client.name.length + 1) });
    accessKeys.answered(victim, false);
    return true;
  }
  // The ID of a key whose creation was cut off is unknown: such a key can be extra, but never missing.
  const { data } = await call(client, 'POST', { label: client.name });
  accessKeys.answered(`${client.name}=${data.accessKeyId}`, true);
  return true;
}

interface KeyAnswer {
  data: { accessKeyId: string };
}

async function call(client: CrashClient, method: 'POST' | 'DELETE', body: object): Promise<KeyAnswer> {
  const { url, token } = client.management;
  const response = await fetch(`${url}/keys`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`the management API answered ${response.status}: ${await response.text()}`);
  return (await response.json()) as KeyAnswer; // as in the contract
}

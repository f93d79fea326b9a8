import { CreateBucketCommand, DeleteBucketCommand } from '@aws-sdk/client-s3';
import { settle, type CrashClient } from './client.ts';

/** A bucket of the client's own comes, or goes again. */
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

/** The management API makes an access key, or deletes one that it made. */
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
  // Of a key whose making was cut off nobody knows the id: it can only be there too much, never too little.
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
  return (await response.json()) as KeyAnswer; // of the contract
}

import { PutBucketLifecycleConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { generateBytes } from './bodies.ts';
import { EXPIRING_BUCKET as Bucket } from './campaign-state.ts';
import { settle, type CrashClient } from './client.ts';

/** Objects under this prefix expire after a day; a day of the campaign is a second. */
const GOES = 'goes/';
const STAYS = 'stays/';
const KEYS_PER_CLIENT = 3;

export async function putRule({ s3 }: CrashClient): Promise<boolean> {
  const rule = { ID: 'a-day', Status: 'Enabled', Filter: { Prefix: GOES }, Expiration: { Days: 1 } } as const;
  await s3.send(new PutBucketLifecycleConfigurationCommand({ Bucket, LifecycleConfiguration: { Rules: [rule] } }));
  return true;
}

/** Puts a small or large object, under a prefix that expires or one that must stay. */
export async function putAging(client: CrashClient): Promise<boolean> {
  const { random, name } = client;
  const { aging } = client.state;
  const goes = random() < 0.7;
  const Key = `${goes ? GOES : STAYS}${name}/${Math.floor(random() * KEYS_PER_CLIENT)}`;
  const body = aging.newBody(Math.floor(random() * 130_000));
  const attempt = { kind: 'put', body } as const;
  aging.begin(Key, attempt);
  return await settle(client.s3.send(new PutObjectCommand({ Bucket, Key, Body: generateBytes(aging.seed, body) })), {
    answered: () => {
      aging.answered(Key, attempt);
      if (goes) aging.begin(Key, { kind: 'delete' });
    },
    refused: () => aging.refused(Key, attempt),
  });
}

import { CreateBucketCommand, PutBucketNotificationConfigurationCommand, PutObjectCommand } from '@aws-sdk/client-s3';
import { temporaryFolder, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { sdkClient } from '../support/s3-client.ts';
import { startStoreProcess } from '../support/store-process.ts';
import { startReceiver } from '../support/webhook-receiver.ts';

const Bucket = 'watched';
const KEYS = ['a', 'b', 'c', 'd', 'e', 'f'];

describe('notifications of a store that is killed', () => {
  it(
    'arrive for every acknowledged change, in order per key, even if the store dies before delivery',
    { timeout: 240_000 },
    async () => {
      await using folder = await temporaryFolder();
      const receiver = await startReceiver();
      const answered: string[] = [];
      try {
        // The receiver refuses some and hangs on others, so the store dies with deliveries in every state.
        receiver.answer = ({ event }) => (event?.key === 'a' ? 503 : event?.key === 'b' ? 'hang' : 200);
        for (let round = 0; round < 3; round += 1) {
          const store = await startStoreProcess(folder.path);
          const client = sdkClient(store, store);
          if (round === 0) {
            await client.send(new CreateBucketCommand({ Bucket }));
            const QueueArn = `arn:svc:webhook:::${receiver.url}`;
            const rule = { Id: 'all', QueueArn, Events: ['s3:ObjectCreated:*' as const] };
            const NotificationConfiguration = { QueueConfigurations: [rule] };
            await client.send(new PutBucketNotificationConfigurationCommand({ Bucket, NotificationConfiguration }));
          }
          const before = receiver.received.length;
          await Promise.all(
            KEYS.map(async (Key) => {
              await client.send(new PutObjectCommand({ Bucket, Key, Body: `${round}` }));
              answered.push(Key);
            }),
          );
          if (round > 0) await waitFor(() => receiver.received.length > before);
          await store.kill();
          client.destroy();
        }
        receiver.answer = () => 200;
        const store = await startStoreProcess(folder.path);
        const sequencersOf = (key: string) => [
          ...new Set(receiver.taken.flatMap(({ event }) => (event?.key === key ? [event.sequencer] : []))),
        ];
        await waitFor(() => KEYS.every((key) => sequencersOf(key).length === 3), { timeoutMs: 120_000 });
        for (const key of KEYS) {
          expect(sequencersOf(key)).toHaveLength(answered.filter((each) => each === key).length);
          const [one = '', two = '', three = ''] = sequencersOf(key);
          expect(one < two && two < three).toBe(true);
        }
        await store.stop();
      } finally {
        await receiver.close();
      }
    },
  );
});

import { readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { CreateBucketCommand, type S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { audit, CRASH_BUCKET, randomSource, writeUntilCut } from '../../src/testing/crash-load.ts';
import { startStore, type RunningStore, type TestKey } from '../../src/testing/running-store.ts';
import { sdkClient } from '../../src/testing/s3-client.ts';
import { startStoreProcess } from '../../src/testing/store-process.ts';
import { WriteJournal } from '../../src/testing/write-journal.ts';

/** How often the process is killed; `SVC_CRASH_KILLS=1000` for a long night. */
const KILLS = Number(process.env['SVC_CRASH_KILLS'] ?? '20');
const SEED = Number(process.env['SVC_CRASH_SEED'] ?? '20260101');
const CLIENTS = 8;
const LONGEST_RUN_MS = 1_500;

describe('a store that is killed while clients write', () => {
  it(
    `keeps every answered write through ${KILLS} kills, shows nothing torn, and its blobs and rows agree`,
    async () => {
      await using folder = await temporaryFolder();
      const random = randomSource(SEED);
      const journal = new WriteJournal(String(SEED));
      let answered = 0;
      let cut = 0;
      for (let kill = 0; kill < KILLS; kill += 1) {
        const server = await startStoreProcess(folder.path);
        const client = sdkClient(server, server);
        if (kill === 0) await client.send(new CreateBucketCommand({ Bucket: CRASH_BUCKET }));
        const writers = Array.from({ length: CLIENTS }, (_, index) =>
          writeUntilCut(client, journal, `client-${index}`, randomSource(SEED + kill * CLIENTS + index)),
        );
        await delay(20 + random() * LONGEST_RUN_MS); // the moment of the kill is what is random
        await server.kill();
        for (const tally of await Promise.all(writers)) {
          answered += tally.answered;
          cut += tally.cut;
        }
        client.destroy();
        await withRestarted(folder.path, async (store, key) => {
          // The SDK would see a wrong checksum itself; here the auditor has to.
          const reader = sdkClient(store, key, { responseChecksumValidation: 'WHEN_REQUIRED' });
          expect(await audit(reader, journal)).toEqual([]);
          reader.destroy();
          await store.module.maintain();
          expect(await store.module.fsck()).toMatchObject({ clean: true });
        });
      }
      expect(answered).toBeGreaterThan(KILLS * 5);
      expect(cut).toBeGreaterThan(KILLS);
    },
    60_000 + KILLS * 15_000,
  );

  describe('and the auditor, shown what must never happen,', () => {
    async function withWrites(
      tamper: (store: RunningStore, client: S3Client, journal: WriteJournal, folder: string) => Promise<void>,
    ): Promise<void> {
      await using folder = await temporaryFolder();
      const journal = new WriteJournal('control');
      const server = await startStoreProcess(folder.path);
      const client = sdkClient(server, server);
      await client.send(new CreateBucketCommand({ Bucket: CRASH_BUCKET }));
      const writers = Array.from({ length: 4 }, (_, index) =>
        writeUntilCut(client, journal, `c${index}`, randomSource(index)),
      );
      await delay(1_000);
      await server.kill();
      await Promise.all(writers);
      client.destroy();
      await withRestarted(folder.path, async (store, key) => {
        // The SDK would see a wrong checksum itself; here the auditor has to.
        const reader = sdkClient(store, key, { responseChecksumValidation: 'WHEN_REQUIRED' });
        expect(await audit(reader, journal)).toEqual([]);
        await tamper(store, reader, journal, folder.path);
        reader.destroy();
      });
    }

    it('finds an answered write that is gone', async () => {
      await withWrites(async (store, client, journal) => {
        const bucket = await store.metadata.findBucket({ name: CRASH_BUCKET });
        const page = await store.metadata.listObjects({
          bucketId: bucket?.id ?? 0,
          versioned: false,
          prefix: '',
          delimiter: '',
          after: '',
          limit: 1,
        });
        const key = page.objects[0]?.key ?? '';
        await store.metadata.deleteObject({
          bucketId: bucket?.id ?? 0,
          key,
          nowMs: 1,
          versionToken: 't',
          trashDueAtMs: 1,
          conditions: {},
        });
        expect(await audit(client, journal)).toEqual([expect.stringContaining(`${key}: found nothing`)]);
      });
    });

    it('finds a changed byte, and fsck a blob that is lost or known to no row', async () => {
      await withWrites(async (store, client, journal, folder) => {
        await store.module.maintain();
        const blobs = join(folder, 'objects', 'blobs');
        const files = (await readdir(blobs, { recursive: true, withFileTypes: true })).filter((entry) =>
          entry.isFile(),
        );
        const [first] = files;
        if (first === undefined) throw new Error('no blob was written');
        const path = join(first.parentPath, first.name);
        const bytes = await readFile(path);
        bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
        await writeFile(path, bytes);
        expect(await audit(client, journal)).toEqual([expect.stringContaining('other bytes')]);
        await writeFile(join(first.parentPath, 'f'.repeat(32)), 'x');
        expect(await store.module.fsck()).toMatchObject({ clean: false, unknown: ['f'.repeat(32)], missing: [] });
        await unlink(path);
        expect(await store.module.fsck()).toMatchObject({ clean: false, missing: [first.name] });
      });
    });
  });
});

/** The next start on the same folder, which has to bring everything in order by itself. */
async function withRestarted(
  folder: string,
  work: (store: RunningStore, key: TestKey) => Promise<void>,
): Promise<void> {
  const store = await startStore(folder, { config: { trash_grace_seconds: 0, sweep_grace_seconds: 0 } });
  try {
    await work(store, JSON.parse(await readFile(join(folder, 'test-key.json'), 'utf8')) as TestKey); // written by the server
  } finally {
    await store.close();
  }
}

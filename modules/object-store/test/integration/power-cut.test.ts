import { randomBytes, randomUUID } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { CreateBucketCommand, GetObjectCommand, PutObjectCommand, type S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { nodeFileSystem, type FileSystem } from '../../src/adapters/engines/embedded/file-system.ts';
import { randomSource } from '../crash/random-source.ts';
import { PowerCutFileSystem, type PowerCut } from '../support/faults/power-cut-file-system.ts';
import { startStore, type TestKey } from '../support/running-store.ts';
import { catchRefusal, sdkClient } from '../support/s3-client.ts';

const Bucket = 'cut';
const CLIENTS = 6;
const CUTS = 4;
const DRAWS = 3;
const config = { trash_grace_seconds: 3_600, sweep_grace_seconds: 0 };
const DATABASE = 'objects.db';

interface Cut {
  /** Writes acknowledged before the cut. */
  answered: ReadonlyMap<string, Buffer>;
  /** Folder with a copy of the database at the cut. */
  database: string;
  blobs: PowerCut;
}

/** Runs synchronously, so the copied database has no row whose blob is sealed later. */
function cutNow(folder: string, target: string, files: PowerCutFileSystem, answered: Map<string, Buffer>): Cut {
  mkdirSync(target);
  for (const suffix of ['', '-wal']) {
    if (existsSync(join(folder, DATABASE + suffix))) {
      copyFileSync(join(folder, DATABASE + suffix), join(target, DATABASE + suffix));
    }
  }
  return { answered: new Map(answered), database: target, blobs: files.moment() };
}

/** Uploads large and small objects under load and takes cuts while it runs. */
async function runAndCut(folder: string, cuts: string, layer: (below: PowerCutFileSystem) => FileSystem) {
  const files = new PowerCutFileSystem(nodeFileSystem(), join(folder, 'objects'));
  const store = await startStore(folder, { config, fileSystem: layer(files) });
  const key = await store.createKey({ workspaceUuid: randomUUID() });
  const client = sdkClient(store, key);
  const answered = new Map<string, Buffer>();
  const taken: Cut[] = [];
  try {
    await client.send(new CreateBucketCommand({ Bucket }));
    const stop = new AbortController();
    const clients = Array.from({ length: CLIENTS }, async (_, number) => {
      for (let index = 0; !stop.signal.aborted; index += 1) {
        const Key = `${number}/${index}`;
        const Body = randomBytes(index % 3 === 0 ? 3_000 : 80_000 + index);
        await client.send(new PutObjectCommand({ Bucket, Key, Body }));
        answered.set(Key, Body);
      }
    });
    for (let cut = 0; cut < CUTS; cut += 1) {
      const wanted = answered.size + CLIENTS + 1;
      await waitFor(async () => answered.size >= wanted, { timeoutMs: 60_000, description: 'more answers' });
      taken.push(cutNow(folder, join(cuts, String(cut)), files, answered));
    }
    stop.abort();
    await Promise.all(clients);
  } finally {
    client.destroy();
    await store.close();
  }
  return { taken, key };
}

/** Starts a store on what the cut left and returns the problems found. */
async function auditAfter(cut: Cut, folder: string, seed: number, origin: string, key: TestKey): Promise<string[]> {
  await cp(cut.database, folder, { recursive: true });
  await cp(join(origin, 'master.key'), join(folder, 'master.key'));
  await cut.blobs.leave(join(folder, 'objects'), randomSource(seed));
  const started = await Promise.allSettled([startStore(folder, { config })]);
  if (started[0].status === 'rejected') return [`no start: ${String(started[0].reason)}`];
  const store = started[0].value;
  const client: S3Client = sdkClient(store, key);
  const wrong: string[] = [];
  try {
    await store.module.maintain(); // sweeps sealed but uncommitted blobs
    const report = await store.module.fsck();
    if (!report.clean) wrong.push(`fsck: ${JSON.stringify(report)}`);
    for (const [Key, body] of cut.answered) {
      let found: Uint8Array | undefined;
      const { code } = await catchRefusal(
        (async () => {
          found = await (await client.send(new GetObjectCommand({ Bucket, Key }))).Body?.transformToByteArray();
        })(),
      );
      if (found === undefined || !body.equals(found)) wrong.push(`${Key}: ${code === 'none' ? 'other bytes' : code}`);
    }
  } finally {
    client.destroy();
    await store.close();
  }
  return wrong;
}

describe('the file system that replays power cuts', () => {
  it('keeps what a sync made durable when an earlier one ends after it', async () => {
    await using folder = await temporaryFolder();
    const root = join(folder.path, 'root');
    const begun: PromiseWithResolvers<void>[] = [];
    const below = nodeFileSystem();
    const files = new PowerCutFileSystem(
      {
        ...below,
        open: async (path, flags) => ({
          ...(await below.open(path, flags)),
          sync: () => {
            const ends = Promise.withResolvers<void>();
            begun.push(ends);
            return ends.promise;
          },
        }),
      },
      root,
    );
    await files.mkdir(root);
    const handle = await files.open(root, 'r');
    const syncs: Promise<void>[] = [];
    for (const name of ['first', 'second']) {
      await (await files.open(join(root, name), 'wx')).close();
      syncs.push(handle.sync());
    }
    for (const ends of begun.toReversed()) ends.resolve();
    await Promise.all(syncs);
    await handle.close();
    const left = join(folder.path, 'left');
    await files.moment().leave(left, () => 0.9); // loses whatever it may
    expect(readdirSync(left).toSorted()).toEqual(['first', 'second']);
  });
});

describe('a power cut that may lose all unsynced data', () => {
  it('loses no acknowledged write, whatever happens to unsynced data', async () => {
    await using folder = await temporaryFolder();
    const origin = join(folder.path, 'origin');
    const { taken, key } = await runAndCut(origin, folder.path, (files) => files);
    for (const [index, cut] of taken.entries()) {
      expect(cut.answered.size).toBeGreaterThan(CLIENTS);
      for (let draw = 0; draw < DRAWS; draw += 1) {
        const left = join(folder.path, `left-${index}-${draw}`);
        expect(await auditAfter(cut, left, index * DRAWS + draw, origin, key)).toEqual([]);
      }
    }
  });

  it.each(['datasync', 'sync'] as const)('detects the loss when %s does nothing', async (skipped) => {
    await using folder = await temporaryFolder();
    const origin = join(folder.path, 'origin');
    const { taken, key } = await runAndCut(origin, folder.path, (files) => ({
      open: async (path, flags) => ({ ...(await files.open(path, flags)), [skipped]: async () => undefined }),
      mkdir: (path) => files.mkdir(path),
      rename: (from, to) => files.rename(from, to),
      unlink: (path) => files.unlink(path),
      stat: (path) => files.stat(path),
      names: (path) => files.names(path),
      freeBytes: (path) => files.freeBytes(path),
    }));
    const cut = taken.at(-1);
    expect(cut).toBeDefined();
    const left = join(folder.path, 'left');
    if (cut !== undefined) expect(await auditAfter(cut, left, 1, origin, key)).not.toEqual([]);
  });
});

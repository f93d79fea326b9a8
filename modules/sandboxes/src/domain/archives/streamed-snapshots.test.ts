import { randomBytes } from 'node:crypto';
import { unlimitedQuotas } from '@svc/quotas';
import { systemRandom, unlessAborted, unlimitedDisk } from '@svc/runtime';
import { createLogger } from '@svc/telemetry';
import { fakeClock, type FakeClock } from '@svc/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { sandboxErrors } from '../../errors.ts';
import type { SaveDriver } from '../driver.ts';
import type { Snapshot } from '../snapshots/snapshot.ts';
import type { ArchiveBlobs, ArchiveSizes } from './archive.ts';
import { StreamedSnapshots } from './streamed-snapshots.ts';

const KIB = 1024;
const GIB = 1024 ** 3;
const NEVER = new AbortController().signal;
const SNAPSHOT = { id: 'snp_a', sandboxId: 'sbx_a', workspaceUuid: 'w', state: 'making' } as Snapshot; // what a transfer reads

describe('streamed snapshots', () => {
  let clock: FakeClock;
  let measuredBytes: number;
  let allowedBytes: number;
  let finished: ArchiveSizes | null;
  let failure: string | null;
  let content: () => AsyncIterable<Uint8Array>;
  let write: () => Promise<void>;
  let measure: (signal: AbortSignal) => Promise<number>;
  /** Of the last transfer. */
  let archiveId: string;
  let dropped: string[];
  /** Awaited when an archive is removed. */
  let discarding: Promise<void>;
  let streamed: StreamedSnapshots;

  const driver: SaveDriver = {
    format: 'pods',
    sizeBytes: (_id, signal) => measure(signal),
    save: (_id, maxBytes, signal, keep) => {
      allowedBytes = maxBytes;
      return unlessAborted(keep(content()), signal, () => signal.reason as Error); // the test's own
    },
    create: () => Promise.reject(new Error('not used')),
  };
  const take = (isContended: boolean, ending = NEVER) =>
    streamed.take(driver, SNAPSHOT, 'ready', () => isContended, ending);
  /** Sends so much in each minute, for twelve minutes. */
  const sending = (bytesPerMinute: number) =>
    async function* () {
      const bytes = Buffer.alloc(bytesPerMinute);
      for (let minute = 0; minute < 12; minute += 1) {
        await clock.advance(60_000);
        yield bytes;
      }
    };

  beforeEach(() => {
    clock = fakeClock();
    measuredBytes = 1000;
    finished = null;
    failure = null;
    content = sending(1);
    write = async () => undefined;
    measure = async () => measuredBytes;
    archiveId = '';
    dropped = [];
    discarding = Promise.resolve();
    const blobs: Pick<ArchiveBlobs, 'createAs'> = {
      createAs: async () => ({ write: () => write(), seal: async () => undefined, abort: async () => undefined }),
    };
    streamed = new StreamedSnapshots({
      blobs: blobs as ArchiveBlobs, // what a transfer uses
      isOnDisk: false,
      disk: unlimitedDisk,
      repository: {
        begin: async () => null,
        finish: async (_archive, sizes) => {
          finished = sizes;
          return SNAPSHOT;
        },
        find: async () => null,
        fail: async (_id, reason) => void (failure = reason),
        unfinished: async () => [],
        discard: async () => undefined,
        sweep: async () => undefined,
      },
      sealer: {
        wrap: async (_key, context) => {
          archiveId = context.split(':')[1] ?? '';
          return { wrapper: 'w', text: 't' };
        },
        unwrap: async () => Buffer.alloc(32),
      },
      quotaLimits: unlimitedQuotas,
      node: 'n',
      clock,
      random: systemRandom,
      log: createLogger({ name: 'test', level: 'silent' }),
      discard: async (id) => {
        dropped.push(id);
        await discarding;
        return true;
      },
    });
  });

  it('are never larger than what can be restored', async () => {
    await take(false);
    expect(allowedBytes).toBe(1100 + 64 * KIB * KIB);
    measuredBytes = 63.9 * GIB;
    await take(false);
    expect(allowedBytes).toBe(64 * GIB);
  });

  it('are recorded with the size of their files, which a compressed one does not tell', async () => {
    content = async function* () {
      for (let mib = 0; mib < 4; mib += 1) yield Buffer.alloc(KIB * KIB);
    };
    await take(false);
    expect(finished).toMatchObject({ unpackedBytes: 4 * KIB * KIB });
    expect(finished?.sizeBytes).toBeLessThan(64 * KIB);
  });

  it('end after ten minutes if they are slow while others wait', async () => {
    await expect(take(true)).rejects.toThrow('too slowly while other snapshots wait');
    expect(clock.now().toISOString()).toBe('2026-01-01T00:11:00.000Z');
    expect(failure).toContain('too slowly while other snapshots wait');
    await take(false);
    expect(finished).not.toBeNull();
  });

  it('end with their sandbox without waiting for the storage, and are removed once it answers', async () => {
    const written = Promise.withResolvers<void>();
    const isWriting = Promise.withResolvers<void>();
    const ending = new AbortController();
    write = () => {
      isWriting.resolve();
      return written.promise;
    };
    content = sending(1);
    const ended = take(false, ending.signal);
    await isWriting.promise;
    ending.abort(sandboxErrors.SNAPSHOT_ENDED({ details: { reason: 'its sandbox was stopped' } }));
    await expect(ended).rejects.toThrow('its sandbox was stopped');
    expect([failure, finished]).toEqual(['The snapshot was not taken: its sandbox was stopped', null]);
    expect([dropped.length, streamed.isWriting(archiveId)]).toEqual([0, true]);
    written.resolve();
    await expect.poll(() => dropped).toEqual([archiveId]);
    expect(streamed.isWriting(archiveId)).toBe(false);
  });

  it('end with their sandbox as well while what failed is removed', async () => {
    const ending = new AbortController();
    const removed = Promise.withResolvers<void>();
    discarding = removed.promise;
    content = async function* () {
      yield Buffer.alloc(1);
      throw new Error('the helper has ended');
    };
    const ended = take(false, ending.signal);
    await expect.poll(() => dropped).toEqual([archiveId]);
    ending.abort(sandboxErrors.SNAPSHOT_ENDED({ details: { reason: 'its sandbox was stopped' } }));
    await expect(ended).rejects.toThrow('the helper has ended');
    expect(streamed.isWriting(archiveId)).toBe(true);
    removed.resolve();
    await expect.poll(() => streamed.isWriting(archiveId)).toBe(false);
  });

  it('fail with their sandbox as well while they are measured', async () => {
    const ending = new AbortController();
    measure = (signal) =>
      new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
    const ended = take(false, ending.signal);
    await expect.poll(() => streamed.isWriting(archiveId)).toBe(true);
    ending.abort(sandboxErrors.SNAPSHOT_ENDED({ details: { reason: 'its sandbox was deleted' } }));
    await expect(ended).rejects.toThrow('its sandbox was deleted');
    expect(failure).toBe('The snapshot was not taken: its sandbox was deleted');
  });

  it('go on while others wait if they are fast enough, or if it is the storage that is slow', async () => {
    content = sending(118 * KIB * KIB);
    await take(true);
    expect(finished?.unpackedBytes).toBe(12 * 118 * KIB * KIB);
    content = async function* () {
      for (let mib = 0; mib < 8; mib += 1) yield randomBytes(KIB * KIB); // which no compression makes smaller
    };
    write = () => clock.advance(3_600_000);
    await take(true);
    expect(finished?.unpackedBytes).toBe(8 * KIB * KIB);
  });
});

import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { migrations } from '@svc/migrations';
import { sqliteRunsHere, temporaryFolder, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { metadataBench } from '../../support/metadata-bench.ts';
import { openSqliteMetadataStore } from '../../../src/store/sqlite/store.ts';

const CHECKPOINT_BYTES = 512 * 1024;
const WRITES = 400;

describe.runIf(sqliteRunsHere())('the write-ahead log of the object store', () => {
  let file = '';
  const bench = metadataBench(async () => {
    const folder = await temporaryFolder();
    file = join(folder.path, 'objects.db');
    const store = await openSqliteMetadataStore({ file, migrations, checkpointBytes: CHECKPOINT_BYTES });
    return {
      store,
      close: async () => {
        await store.close();
        await folder.remove();
      },
    };
  });
  const write = async (prefix: string): Promise<void> => {
    for (let index = 0; index < WRITES; index += 1) {
      await bench.put(`${prefix}-${index}`, { kind: 'inline', data: randomBytes(4_096) });
    }
  };
  const logBytes = async (): Promise<number> => (await stat(`${file}-wal`)).size;
  /** Makes one small commit at a time until the log is truncated. */
  const untilShort = (): Promise<unknown> =>
    waitFor(async () => {
      await bench.put('last');
      return (await logBytes()) < CHECKPOINT_BYTES;
    });

  it('is truncated while commits continue', async () => {
    await write('first');
    await untilShort();
    expect(await bench.usage()).toMatchObject({ objectCount: WRITES + 1 });
  });

  it('grows while a reader uses it, and is truncated afterwards', async () => {
    const reader = new DatabaseSync(file, { readOnly: true });
    try {
      reader.exec('begin');
      expect(reader.prepare('select count(*) as count from object').get()).toBeDefined();
      await write('second');
      expect(await logBytes()).toBeGreaterThan(2 * CHECKPOINT_BYTES);
    } finally {
      reader.close();
    }
    await untilShort();
  });
});

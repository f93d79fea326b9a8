import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { describeRequiring, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { createDatabase } from './replicas.ts';
import { openStore, type Store } from './s3-store.ts';

const services = {
  SVC_SERVICES: 'object-store',
  SVC_OBJECT_STORE_TRASH_GRACE_SECONDS: '0',
  SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0', // no proxy waits
};

describeRequiring(['postgres'], 'a backup on PostgreSQL', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const on = (url?: string) => ({ ...services, ...(url === undefined ? {} : { SVC_DATABASE_URL: url }) });
  const start = (name: string, url?: string): Promise<RunningPlatform> =>
    startPlatform({ dataFolder: join(folder.path, name), environment: on(url) });
  const run = async (name: string, command: string, url: string | undefined, ...flags: string[]) => {
    const args = ['object-store', command, '--data', join(folder.path, name), '--json', ...flags];
    const { exitCode, stdout, stderr } = await runSvc(args, on(url));
    const report = stdout === '' ? {} : (JSON.parse(stdout) as Record<string, unknown>); // each test states its expectations
    return { exitCode, report, stderr };
  };
  const backups = (): string => join(folder.path, 'backups');
  const clean = { exitCode: 0, report: { bad: [], fsck: { clean: true } } };

  const fill = async (store: Store): Promise<Map<string, Buffer>> => {
    const sizes = { inline: 1_000, blob: 300_000, large: 9_000_000 };
    const bodies = new Map(Object.entries(sizes).map(([key, size]) => [key, randomBytes(size)]));
    for (const [key, body] of bodies) await store.put(key, body);
    return bodies;
  };
  const writeUntil = async (store: Store, signal: AbortSignal): Promise<void> => {
    for (let index = 0; !signal.aborted; index += 1) {
      await store.put(`during-${index % 5}`, randomBytes(100_000));
      if (index % 3 === 0) await store.remove(`during-${index % 5}`);
    }
  };
  const expectBodies = async (store: Store, bodies: ReadonlyMap<string, Buffer>): Promise<void> => {
    for (const [key, body] of bodies) expect((await store.get(key)).equals(body)).toBe(true);
  };

  it('of a platform that is written to is restored on PostgreSQL and on SQLite', async () => {
    await using database = await createDatabase();
    await using platform = await start('data', database.url);
    const store = await openStore(platform);
    const bodies = await fill(store);
    const stop = new AbortController();
    const writing = writeUntil(store, stop.signal);
    expect(await run('data', 'backup', database.url, '--to', backups())).toMatchObject({
      exitCode: 0,
      report: { bad: [] },
    });
    stop.abort();
    await writing;
    await platform.stop();

    await using restored = await createDatabase();
    expect(await run('restored', 'restore', restored.url, '--from', backups())).toMatchObject(clean);
    const again = await run('other', 'restore', restored.url, '--from', backups());
    expect(again.exitCode).toBe(1);
    expect(again.stderr).toContain('has rows');
    expect(await run('embedded', 'restore', undefined, '--from', backups())).toMatchObject(clean);
    for (const [name, url] of [
      ['restored', restored.url],
      ['embedded', undefined],
    ] as const) {
      await using second = await start(name, url);
      expect(second.ready.workspace_uuid).toBe(platform.ready.workspace_uuid);
      const reader = store.of(second);
      await expectBodies(reader, bodies);
      await reader.put('after', randomBytes(200_000));
    }
  });

  it('of SQLite is restored on PostgreSQL', async () => {
    await using platform = await start('data');
    const store = await openStore(platform);
    const bodies = await fill(store);
    expect(await run('data', 'backup', undefined, '--to', backups())).toMatchObject({ exitCode: 0 });
    await platform.stop();
    await using restored = await createDatabase();
    expect(await run('restored', 'restore', restored.url, '--from', backups())).toMatchObject(clean);
    await using second = await start('restored', restored.url);
    await expectBodies(store.of(second), bodies);
  });
});

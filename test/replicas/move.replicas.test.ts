import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { join } from 'node:path';
import { describeRequiring, startCuttableProxy, temporaryFolder, type TemporaryFolder } from '@svc/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { apiClient } from '../system/api-client.ts';
import { PROJECT_ROOT, runSvc, startPlatform, type RunningPlatform } from '../system/running-platform.ts';
import { createDatabase } from './replicas.ts';
import { openStore } from './s3-store.ts';

const SERVICES = 'object-store,clusters';
const OBJECTS = 300;
const MOST_KILLS = 60;
/** The migrations take less. */
const FIRST_KILL_BYTES = 250_000;

describeRequiring(['postgres'], 'svc migrate sqlite-to-postgres', () => {
  let folder: TemporaryFolder;
  beforeEach(async () => {
    folder = await temporaryFolder();
  });
  afterEach(() => folder.remove());

  const data = (): string => join(folder.path, 'data');
  const on = (url?: string) => ({
    SVC_SERVICES: SERVICES,
    SVC_SHUTDOWN_LAME_DUCK_SECONDS: '0', // no proxy waits
    ...(url === undefined ? {} : { SVC_DATABASE_URL: url }),
  });
  const start = (url?: string): Promise<RunningPlatform> => startPlatform({ dataFolder: data(), environment: on(url) });
  const move = (url?: string) => runSvc(['migrate', 'sqlite-to-postgres', '--data', data(), '--json'], on(url));
  const refusedStart = (url?: string) =>
    runSvc(['up', '--json', '--data', data(), '--port', '0', '--https-port', '0', '--s3-port', '0'], on(url));

  /** Runs the command and kills it with SIGKILL after this many bytes to the database. Returns the exit code or null. */
  const killedMove = async (url: string, bytes: number): Promise<number | null> => {
    const target = new URL(url);
    let left = bytes;
    let kill = (): void => undefined;
    await using proxy = await startCuttableProxy({
      host: target.hostname,
      port: Number(target.port),
      onClientData: (packet) => {
        left -= packet.length;
        if (left < 0) kill();
        return left < 0 ? 'cut' : 'pass';
      },
    });
    target.port = String(proxy.port);
    const main = join(PROJECT_ROOT, 'apps/cli/src/main.ts');
    const child = spawn(process.execPath, [main, 'migrate', 'sqlite-to-postgres', '--data', data()], {
      env: { PATH: process.env['PATH'], ...on(target.href) },
      stdio: 'ignore',
    });
    kill = () => void child.kill('SIGKILL');
    await once(child, 'exit');
    return child.exitCode;
  };

  it('is refused while the platform runs, without a database and into one that is used', async () => {
    await using database = await createDatabase();
    await using platform = await start();
    const running = await move(database.url);
    expect(running.exitCode).toBe(1);
    expect(running.stderr).toContain('is in use by another svc process');
    await platform.stop();
    const unnamed = await move();
    expect(unnamed.exitCode).toBe(1);
    expect(unnamed.stderr).toContain('SVC_DATABASE_URL');
    await using other = await startPlatform({
      dataFolder: join(folder.path, 'other'),
      environment: on(database.url),
    });
    const used = await move(database.url);
    expect(used.exitCode).toBe(1);
    expect(used.stderr).toContain('has rows');
    expect(await other.stop()).toBe(0);
  });

  it('is demanded before the first start on PostgreSQL, and done only once', async () => {
    await using database = await createDatabase();
    await using another = await createDatabase();
    await using platform = await start();
    await platform.kill(); // the newest rows are only in SQLite's log
    const admin = (url: string) => runSvc(['admin', 'verify-audit', '--data', data()], on(url));
    for (const refused of [await refusedStart(database.url), await admin(database.url)]) {
      expect(refused.exitCode).not.toBe(0);
      for (const text of ['database.url', 'svc migrate sqlite-to-postgres', '--data DIR']) {
        expect(refused.stderr).toContain(text);
      }
    }
    expect((await move(database.url)).exitCode).toBe(0); // the refused start left the database empty

    const astray = await refusedStart(another.url);
    expect(astray.exitCode).not.toBe(0);
    expect(astray.stderr).toContain('was moved to another one');
    const movedAgain = await move(another.url);
    expect(movedAgain.exitCode).toBe(1);
    expect(movedAgain.stderr).toContain('was moved to PostgreSQL');
    const check = await runSvc(['object-store', 'fsck', '--data', data()], on());
    expect(check.exitCode).toBe(1);
    expect(check.stderr).toContain('was moved to PostgreSQL');
    expect((await move(database.url)).exitCode).toBe(0);
    await using moved = await start(database.url);
    expect(moved.ready.workspace_uuid).toBe(platform.ready.workspace_uuid);
  });

  it('moves accounts, clusters and objects after any number of kill -9, and only one database is usable at a time', async () => {
    await using database = await createDatabase();
    await using platform = await start();
    const store = await openStore(platform);
    const bodies = new Map<string, Buffer>();
    for (let number = 0; number < OBJECTS; number += 1) bodies.set(`small/${number}`, randomBytes(2_000));
    bodies.set('large', randomBytes(3_000_000));
    for (const [key, body] of bodies) await store.put(key, body);
    const { ready } = platform;
    await apiClient(ready).post('/v1/clusters', { name: 'home' });
    await platform.stop();

    let kills = 0;
    while (
      kills < MOST_KILLS &&
      (await killedMove(database.url, kills === 0 ? FIRST_KILL_BYTES : 100_000 + kills * 50_000)) !== 0
    ) {
      kills += 1;
      if (kills === 1) {
        const early = await refusedStart(database.url);
        expect(early.exitCode).not.toBe(0);
      }
    }
    expect(kills).toBeGreaterThan(2);
    expect(kills).toBeLessThan(MOST_KILLS);

    const old = await refusedStart();
    expect(old.exitCode).not.toBe(0);
    expect(old.stderr).toContain('was moved to PostgreSQL');
    await using moved = await start(database.url);
    expect(moved.ready.workspace_uuid).toBe(ready.workspace_uuid);
    const reader = store.of(moved);
    for (const [key, body] of bodies) expect((await reader.get(key)).equals(body)).toBe(true);
    await reader.put('after', randomBytes(500_000));
    const { clusters } = await apiClient(moved.ready).get<{ clusters: { name: string }[] }>('/v1/clusters');
    expect(clusters.map(({ name }) => name)).toEqual(['home']);
    const audit = await runSvc(['admin', 'verify-audit', '--data', data()], on(database.url));
    expect(audit.exitCode).toBe(0);
    expect(await moved.stop()).toBe(0);
  });
});

import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { requirement, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CommandLine } from './command-line.ts';
import { startCommandStore, type CommandStore } from './command-store.ts';

interface CreatedKey {
  accessKeyId: string;
  secretAccessKey: string;
}

describe('svc bucket, key and login', () => {
  let store: CommandStore;
  let svc: CommandLine;
  beforeAll(async () => {
    store = await startCommandStore();
    svc = store.svc;
  });
  afterAll(async () => store[Symbol.asyncDispose]());

  it('suggests the next step while there is no bucket', async () => {
    const { exitCode, stderr } = await svc.run(['key', 'create']);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining('svc bucket create')]);
  });

  it('creates, shows, deletes and restores buckets', async () => {
    expect(await svc.json(['bucket', 'create', 'Some Photos'])).toMatchObject({ name: 'some-photos' });
    const names = async (): Promise<string[]> =>
      (await svc.json<{ name: string }[]>(['bucket', 'ls'])).map(({ name }) => name);
    expect(await names()).toEqual(['some-photos']);
    expect(await svc.answer(['bucket', 'ls'])).toContain('some-photos');
    const taken = await svc.run(['bucket', 'create', 'some-photos']);
    expect([taken.exitCode, taken.stderr.split('\n')]).toEqual([1, [expect.stringMatching(/^svc: /), '']]);
    await svc.answer(['bucket', 'rm', 'some-photos']);
    expect(await names()).toEqual([]);
    expect(await svc.json(['bucket', 'deleted'])).toMatchObject([{ name: 'some-photos' }]);
    await svc.answer(['bucket', 'restore', 'some-photos']);
    expect(await names()).toEqual(['some-photos']);
  });

  it('forks buckets', async () => {
    expect(await svc.answer(['bucket', 'fork', 'some-photos', 'Branch One'])).toBe(
      'Forked bucket some-photos to branch-one (0 objects)\n',
    );
    const named = await svc.json<{ name: string }>(['bucket', 'fork', 'branch-one', '--no-wait']);
    expect(named).toMatchObject({ name: expect.stringMatching(/^branch-one-fork-/), source: 'branch-one' });
    const taken = await svc.run(['bucket', 'fork', 'some-photos', 'branch-one']);
    expect([taken.exitCode, taken.stderr]).toEqual([1, expect.stringMatching(/^svc: /)]);
    for (const name of [named.name, 'branch-one']) await svc.answer(['bucket', 'rm', name]);
  });

  it('changes bucket settings and restores defaults', async () => {
    const settings = ['bucket', 'settings', 'set', 'some-photos'];
    await svc.answer([...settings, 'publicDefault=true', 'cacheControl=max-age=60', 'quota={"max_bytes":1000000}']);
    expect(await svc.json(['bucket', 'settings', 'get', 'some-photos'])).toMatchObject({
      publicDefault: true,
      cacheControl: 'max-age=60',
      quota: { max_bytes: 1_000_000 },
    });
    await svc.answer([...settings, 'cacheControl=null', 'publicDefault=false', 'quota=null']);
    expect(await svc.json(['bucket', 'settings', 'get', 'some-photos'])).toMatchObject({ cacheControl: null });
    const wrong = await svc.run([...settings, 'noSuchSetting=1']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining('noSuchSetting')]);
  });

  it('reports storage and traffic of one bucket and of all buckets', async () => {
    interface Usage {
      bucket: string | null;
      points: object[];
    }
    expect(await svc.json<Usage>(['bucket', 'usage', 'some-photos'])).toMatchObject({ bucket: 'some-photos' });
    const hours = ['bucket', 'usage', '--resolution', 'hour', '--from', '2020-01-01', '--to', '2020-01-02T00:00Z'];
    expect(await svc.json<Usage>(hours)).toMatchObject({ bucket: null, resolution: 'hour', points: [] });
    const wrong = await svc.run(['bucket', 'usage', '--from', 'yesterday']);
    expect([wrong.exitCode, wrong.stderr]).toEqual([2, expect.stringContaining('yesterday')]);
  });

  it('sets versioning and lifecycle rules', async () => {
    expect(await svc.json(['bucket', 'versioning', 'some-photos', 'enabled'])).toMatchObject({ status: 'enabled' });
    expect(await svc.json(['bucket', 'versioning', 'some-photos'])).toMatchObject({ status: 'enabled' });
    const rules = { rules: [{ id: 'logs', enabled: true, filter: { prefix: 'logs/' }, expiration: { days: 30 } }] };
    await svc.answer(['bucket', 'lifecycle', 'set', 'some-photos', '@-'], { input: JSON.stringify(rules) });
    expect(await svc.json(['bucket', 'lifecycle', 'get', 'some-photos'])).toMatchObject(rules);
    await svc.answer(['bucket', 'lifecycle', 'rm', 'some-photos']);
    expect(await svc.json(['bucket', 'lifecycle', 'get', 'some-photos'])).toEqual({ rules: [] });
  });

  it('creates a key that reads one bucket, shows it without its secret, and revokes it', async () => {
    await svc.answer(['bucket', 'create', 'other-photos']);
    await svc.answer(['object', 'cp', '-', 'svc://some-photos/one'], { input: 'one' });
    const flags = ['--permission', 'read', '--bucket', 'some-photos', '--expires', '1h', '--label', 'reader'];
    const key = await svc.json<CreatedKey>(['key', 'create', ...flags]);
    const listed = await svc.answer(['key', 'ls', '--json']);
    expect(listed).toContain(key.accessKeyId);
    expect(listed).not.toContain(key.secretAccessKey);
    const reader = svc.with({
      SVC_S3_ACCESS_KEY_ID: key.accessKeyId,
      SVC_S3_SECRET_ACCESS_KEY: key.secretAccessKey,
    });
    expect(await reader.answer(['object', 'cat', 'svc://some-photos/one'])).toBe('one');
    const writing = await reader.run(['object', 'cp', '-', 'svc://some-photos/two'], { input: 'two' });
    expect([writing.exitCode, writing.stderr]).toEqual([1, expect.stringContaining('svc: ')]);
    expect(await reader.run(['object', 'ls', 'svc://other-photos'])).toMatchObject({ exitCode: 1 });
    await svc.answer(['key', 'rm', key.accessKeyId]);
    await waitFor(async () => (await reader.run(['object', 'cat', 'svc://some-photos/one'])).exitCode === 1);
  });

  it('creates a new key when its own was revoked', async () => {
    const own = await svc.json<{ accessKeyId: string; label: string }[]>(['key', 'ls']);
    for (const { accessKeyId } of own.filter(({ label }) => label.startsWith('svc command on')))
      await svc.answer(['key', 'rm', accessKeyId]);
    expect(await svc.answer(['object', 'cat', 'svc://some-photos/one'])).toBe('one');
  });

  it('finds the S3 plane again after its address changed', async () => {
    const folder = join(store.home, '.config', 'svc', 'keys');
    const [name = ''] = await readdir(folder);
    const kept = JSON.parse(await readFile(join(folder, name), 'utf8')) as { endpoint: string };
    await writeFile(join(folder, name), JSON.stringify({ ...kept, endpoint: 'http://127.0.0.1:9' }));
    expect(await svc.answer(['object', 'cat', 'svc://some-photos/one'])).toBe('one');
    expect(JSON.parse(await readFile(join(folder, name), 'utf8'))).toEqual(kept);
  });

  it('signs in with a token from a pipe, stores it for its owner only, and forgets it', async () => {
    const home = join(store.folder, 'another home');
    await mkdir(home);
    const { url, token } = store.platform.ready;
    const stranger = svc.with({ HOME: home, SVC_URL: '', SVC_TOKEN: '' });
    const unknown = await stranger.run(['bucket', 'ls']);
    expect([unknown.exitCode, unknown.stderr]).toEqual([2, expect.stringContaining('svc login')]);
    await stranger.answer(['login', '--url', url, '--token-stdin'], { input: token });
    const profiles = join(home, '.config', 'svc', 'profiles.json');
    expect((await stat(profiles)).mode & 0o777).toBe(0o600);
    expect(await stranger.answer(['bucket', 'ls'])).toContain('some-photos');
    // The token belongs to its platform and must not be sent to another address.
    const elsewhere = await stranger.run(['bucket', 'ls', '--url', 'http://127.0.0.1:9']);
    expect([elsewhere.exitCode, elsewhere.stderr]).toEqual([2, expect.stringContaining('there is no token for')]);
    await stranger.answer(['logout']);
    expect(await stranger.run(['bucket', 'ls'])).toMatchObject({ exitCode: 2 });
  });

  const withoutTerminal = requirement('command:script');
  it.skipIf(withoutTerminal !== null)(
    `shows progress on a terminal and nothing elsewhere${withoutTerminal === null ? '' : ` [skipped: ${withoutTerminal}]`}`,
    async () => {
      const path = join(store.folder, 'slow');
      await writeFile(path, Buffer.alloc(64 * 1024 * 1024, 7));
      const line = `object cp '${path}' svc://some-photos/slow`;
      const onTerminal = await svc.onTerminal(line);
      const drawn = onTerminal.split('\r').map((each) => each.replace('\u001b[K', ''));
      expect(drawn).toContainEqual(expect.stringMatching(/^\[#*-*\] +\d+% {2}[\d.]+ \w+ of 64\.0 MiB {2}\d of 1/));
      expect(onTerminal).toContain('upload: ');
      const elsewhere = await svc.run(['object', 'cp', path, 'svc://some-photos/slow']);
      expect([elsewhere.stderr, elsewhere.exitCode]).toEqual(['', 0]);
    },
  );
});

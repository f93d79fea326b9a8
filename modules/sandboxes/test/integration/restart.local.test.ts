import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const reason = localDriverReason();
const title = 'what stays and what goes';

/** What remains of these sandboxes on the machine; other suites run theirs at the same time. */
function findTraces(ids: ReadonlySet<string>, folder: string): Record<string, string[]> {
  const ours = (text: string): boolean => [...ids].some((id) => text.includes(id));
  return {
    processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name) && ours(read(`/proc/${name}/cgroup`))),
    mounts: read('/proc/self/mounts').split('\n').filter(ours),
    // Ignore the exit code: it reports groups removed during the search, which other suites do all the time.
    cgroups: spawnSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'sbx_*'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter(ours),
    // A slot is the number of an interface and of an id range.
    slots: readdirSync('/run/svc/slots').filter((slot) => ours(read(`/run/svc/slots/${slot}`))),
    loops: readdirSync('/sys/block').filter((name) =>
      read(`/sys/block/${name}/loop/backing_file`).includes(`${folder}/sandboxes/disks`),
    ),
    disks: readdirSync(join(folder, 'sandboxes/disks')),
    runFolders: readdirSync('/run/svc').flatMap((name) => list(`/run/svc/${name}/sandboxes`).filter(ours)),
  };
}

/** Empty if it is gone or never existed. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

function list(path: string): string[] {
  try {
    return readdirSync(path);
  } catch {
    return [];
  }
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  beforeEach(async () => {
    platform = await startPlatform({ config: { max_per_caller: 100 } });
  });
  afterEach(() => platform.dispose());
  const create = async (): Promise<string> => {
    const created = await platform.call('POST', '/api/containers?wait_ms=30000', { body: { image: 'busybox' } });
    expect(created.body).toMatchObject({ status: 'running', error: null });
    return created.body['id'];
  };

  it('leaves no process, mount, interface, cgroup, loop device or file of 50 sandboxes', async () => {
    const ids = new Set<string>();
    const round = async (): Promise<void> => {
      const id = await create();
      ids.add(id);
      expect(findTraces(new Set([id]), platform.folder)).toMatchObject({ slots: [expect.any(String)] });
      expect((await platform.call('DELETE', `/api/containers/${id}`)).status).toBe(200);
    };
    for (let index = 0; index < 5; index++) await Promise.all(Array.from({ length: 10 }, round));
    expect(ids.size).toBe(50);
    const nothing = { processes: [], mounts: [], cgroups: [], slots: [], loops: [], disks: [], runFolders: [] };
    await waitFor(() => {
      expect(findTraces(ids, platform.folder)).toEqual(nothing);
      return true;
    });
  });

  it('keeps a sandbox running while the platform is down, and adopts it with its files and processes', async () => {
    const id = await create();
    const open = () => TerminalClient.open(platform.url, id, { headers: platform.owner.headers });
    const first = await open();
    first.type('(trap "" HUP; exec sleep 1000) >/dev/null 2>&1 & echo pid=$!\n');
    const pid = (await first.shows(/pid=(\d+)/))[1];
    await platform.close();
    expect(await first.closed).toMatchObject({ code: 1012 });

    await platform.reopen();
    expect((await platform.call('GET', `/api/containers/${id}`)).body).toMatchObject({
      status: 'running',
      error: null,
    });
    const second = await open();
    second.type(`kill -0 ${pid} && echo still-$((1+1))\n`);
    await second.shows(/still-2/);
    await second.close();
  });

  it('leaves nothing running of a platform that is closed after its last sandbox', async () => {
    const id = await create();
    await platform.call('DELETE', `/api/containers/${id}`);
    await platform.close();
    expect(findTraces(new Set([id]), platform.folder)).toMatchObject({ processes: [], slots: [], runFolders: [] });
    const launchers = readdirSync('/proc').filter((name) => read(`/proc/${name}/cmdline`).includes(platform.runFolder));
    expect(launchers).toEqual([]);
    expect(list(platform.runFolder)).toEqual([]);
  });
});

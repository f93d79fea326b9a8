import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { skippedTitle, waitFor } from '@svc/testing';
import { describe, expect, it } from 'vitest';
import { localDriverReason } from './testing/local-subject.ts';
import { startPlatform } from './testing/platform.ts';
import { TerminalClient } from './testing/terminal-client.ts';

const reason = localDriverReason();
const title = 'what stays and what goes';

/** Whatever of sandboxes this machine holds now, by kind. */
function traces(): Record<string, string[]> {
  const lines = (text: string, pattern: RegExp): string[] => text.split('\n').filter((line) => pattern.test(line));
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((pid) => `${pid} ${commandLine(pid)}`);
  return {
    processes: processes.filter((line) => /agent-[0-9a-f]{16}|\.sandbox\/agent/.test(line)),
    mounts: lines(readFileSync('/proc/self/mounts', 'utf8'), /\/run\/svc\//),
    interfaces: readdirSync('/sys/class/net').filter((name) => name.startsWith('svcsb')),
    cgroups: execFileSync('find', ['/sys/fs/cgroup', '-type', 'd', '-name', 'sbx_*'], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== ''),
    loops: readdirSync('/sys/block').filter((name) => name.startsWith('loop') && isAttached(name)),
    slots: readdirSync('/run/svc/slots'),
  };
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
  } catch {
    return ''; // it ended while we looked
  }
}

function isAttached(loop: string): boolean {
  try {
    return readFileSync(`/sys/block/${loop}/loop/backing_file`, 'utf8').includes('/disks/');
  } catch {
    return false; // no file stands behind it
  }
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  it('leaves no process, mount, interface, cgroup, loop device, slot or file behind 50 sandboxes', async () => {
    const platform = await startPlatform({ config: { max_per_caller: 100 } });
    await platform.call('POST', '/api/containers?wait_ms=30000', { body: { image: 'busybox', name: 'stays' } });
    const before = traces();
    const round = async (): Promise<void> => {
      const created = await platform.call('POST', '/api/containers?wait_ms=30000', { body: { image: 'busybox' } });
      expect(created.body).toMatchObject({ status: 'running', error: null });
      expect((await platform.call('DELETE', `/api/containers/${created.body['id']}`)).status).toBe(200);
    };
    for (let index = 0; index < 5; index++) await Promise.all(Array.from({ length: 10 }, round));
    await waitFor(() => {
      expect(traces()).toEqual(before);
      return true;
    });
    const { containers } = (await platform.call('GET', '/api/containers')).body;
    await platform.call('DELETE', `/api/containers/${containers[0].id}`);
    await platform.dispose();
  });

  it('lets a sandbox run on while the platform is down, and adopts it with its files and processes', async () => {
    const platform = await startPlatform();
    const created = await platform.call('POST', '/api/containers?wait_ms=30000', { body: { image: 'busybox' } });
    const id: string = created.body['id'];
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
    expect((await platform.call('DELETE', `/api/containers/${id}`)).status).toBe(200);
    await platform.dispose();
  });
});

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { skippedTitle, waitFor } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { tarArchive } from '../support/tar-archive.ts';

const reason = localDriverReason();
const title = 'transfers into a real sandbox whose first process is killed on their way';
const FIRST_BYTES = 512 * 1024;
/** Matches names that only temporary files have. */
const TEMPORARY = "find / -xdev -name '.svc-*' | sort";

interface Transfer {
  readonly name: string;
  readonly method: 'POST' | 'PUT';
  readonly path: string;
  readonly type: string;
  readonly begin: Buffer;
  readonly rest: Buffer;
}

const archive = tarArchive([{ name: 'deep/one', content: Buffer.alloc(2 * FIRST_BYTES, 'a') }]);
const file = { method: 'POST', type: 'application/octet-stream', begin: Buffer.alloc(FIRST_BYTES, 'b') } as const;
const TRANSFERS: readonly Transfer[] = [
  { ...file, name: 'a file', path: 'files?path=/srv/file', rest: Buffer.from('end') },
  { ...file, name: 'a file of the root', path: 'files?path=/file', rest: Buffer.from('end') },
  {
    name: 'an archive',
    method: 'PUT',
    path: 'files/archive?path=/srv',
    type: 'application/x-tar',
    begin: archive.subarray(0, FIRST_BYTES),
    rest: archive.subarray(FIRST_BYTES),
  },
];

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;
  const post = (path: string, body?: unknown) =>
    platform.call('POST', `/api/containers${path}`, body === undefined ? {} : { body });
  const run = async (command: string, sandbox = id): Promise<string> =>
    (await post(`/${sandbox}/exec`, { command })).body['stdout'];

  /** Starts a transfer and resolves once its first bytes are in the sandbox. `finish` sends the rest. */
  async function begin({ method, path, type, begin: first, rest }: Transfer) {
    const { promise, resolve } = Promise.withResolvers<void>();
    const body = new ReadableStream<Uint8Array>({
      start: async (controller) => {
        controller.enqueue(first);
        await promise;
        controller.enqueue(rest);
        controller.close();
      },
    });
    const headers = { ...platform.owner.headers, 'content-type': type };
    const init = { method, body, headers, duplex: 'half' } as RequestInit; // the types lack `duplex`
    const answer = fetch(`${platform.url}/api/containers/${id}/${path}`, init).then(
      ({ status }) => status,
      () => 'broken off',
    );
    await waitFor(async () => (await run("find / -xdev -path '*/.svc-*' -type f -size +0")) !== '');
    return {
      finish: () => {
        resolve();
        return answer;
      },
    };
  }

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    id = (await post('?wait_ms=30000', { image: 'busybox', resources: { disk_mb: 64 } })).body['id'];
    await run('mkdir -p /srv; echo mine > /srv/mine');
  });
  afterAll(() => platform.dispose());

  it.each(TRANSFERS)('removes the temporary files of $name at the next start', async (transfer) => {
    const { finish } = await begin(transfer);
    const state = readFileSync(join(platform.runFolder, 'sandboxes', id, 'state.json'), 'utf8');
    process.kill((JSON.parse(state) as { pid: number }).pid, 'SIGKILL');
    await waitFor(async () => (await platform.call('GET', `/api/containers/${id}`)).body['status'] === 'error');
    expect(await finish()).not.toBe(200);
    expect((await post(`/${id}/start?wait_ms=30000`)).body).toMatchObject({ status: 'running' });
    await expect.poll(() => run(TEMPORARY), { timeout: 30_000 }).toBe('');
    expect(await run('ls -A /srv; cat /srv/mine')).toBe('mine\nmine\n');
  });

  it.each(TRANSFERS)(
    'leaves no temporary files of $name in a fork taken meanwhile, and completes the transfer',
    async (transfer) => {
      const { finish } = await begin(transfer);
      const [copy] = (await post(`/${id}/fork?wait_ms=30000`, {})).body['containers'];
      expect(copy).toMatchObject({ status: 'running' });
      await expect.poll(() => run(TEMPORARY, copy.id), { timeout: 30_000 }).toBe('');
      expect(await run(TEMPORARY)).not.toBe('');
      expect(await finish()).toBeLessThan(300);
      expect(await run(TEMPORARY)).toBe('');
      await platform.call('DELETE', `/api/containers/${copy.id}`);
    },
  );

  it('removes nothing else, wherever a symlink with such a name points', async () => {
    await run('mkdir /srv/keep; echo kept > /srv/keep/file; ln -s /srv/keep /.svc-write-planted');
    await post(`/${id}/stop`);
    await post(`/${id}/start?wait_ms=30000`);
    await expect.poll(() => run(TEMPORARY), { timeout: 30_000 }).toBe('');
    expect(await run('cat /srv/keep/file')).toBe('kept\n');
  });
});

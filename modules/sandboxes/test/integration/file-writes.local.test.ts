import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';

const reason = localDriverReason();
const title = 'writes of a real sandbox that come at once';
const PIECE_BYTES = 100_000;

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;

  const send = (path: string, content: string, headers: Record<string, string> = {}, query = '') =>
    fetch(`${platform.url}/api/sandboxes/${id}/files?path=${path}${query}`, {
      method: 'POST',
      body: content,
      headers: { ...platform.owner.headers, 'content-type': 'application/octet-stream', ...headers },
    });
  const readCode = async (answer: Response): Promise<string> => ((await answer.json()) as { code: string }).code;
  const read = async (path: string): Promise<string> =>
    await (await fetch(`${platform.url}/api/sandboxes/${id}/files?path=${path}`, platform.owner)).text();
  const run = async (command: string): Promise<string> =>
    (await platform.call('POST', `/api/sandboxes/${id}/exec`, { body: { command } })).body['stdout'];

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'busybox' } });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
    await run('mkdir -p /srv');
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('replaces only the version that the ETag names, whatever the content type', async () => {
    const first = await send('/srv/a', 'one');
    const tag = first.headers.get('etag') ?? '';
    expect([first.status, tag]).toEqual([201, ((await first.json()) as { etag: string }).etag]);
    const got = await fetch(`${platform.url}/api/sandboxes/${id}/files?path=/srv/a`, platform.owner);
    expect(got.headers.get('etag')).toBe(tag);
    const second = await send('/srv/a', 'two', { 'if-match': tag });
    expect(second.status).toBe(200);
    const form = new FormData();
    form.set('file', new Blob(['four']), 'a');
    const late = [
      await send('/srv/a', 'three', { 'if-match': tag }),
      await send('/srv/a', 'three', { 'if-match': tag }, '&append=true'),
      await fetch(`${platform.url}/api/sandboxes/${id}/files?path=/srv/a`, {
        method: 'POST',
        body: form,
        headers: { ...platform.owner.headers, 'if-match': tag },
      }),
      await fetch(`${platform.url}/api/sandboxes/${id}/files`, {
        method: 'POST',
        body: JSON.stringify({ path: '/srv/a', content: 'five', encoding: 'utf-8' }),
        headers: { ...platform.owner.headers, 'content-type': 'application/json', 'if-match': tag },
      }),
    ];
    for (const answer of late) expect([answer.status, await readCode(answer)]).toEqual([412, 'PRECONDITION_FAILED']);
    const added = await send('/srv/a', '+', { 'if-match': second.headers.get('etag') ?? '' }, '&append=true');
    expect([added.status, await read('/srv/a')]).toEqual([200, 'two+']);
    await run('echo other > /srv/a');
    expect((await send('/srv/a', 'x', { 'if-match': added.headers.get('etag') ?? '' })).status).toBe(412);
    expect([(await send('/srv/a', 'x', { 'if-match': '*' })).status, await read('/srv/a')]).toEqual([200, 'x']);
  });

  it('creates only a missing file with If-None-Match: *, replaces only an existing one with If-Match: *', async () => {
    expect((await send('/srv/new', 'x', { 'if-match': '*' })).status).toBe(412);
    expect((await send('/srv/new', '1', { 'if-none-match': '*' })).status).toBe(201);
    const again = await send('/srv/new', '2', { 'if-none-match': '*' });
    expect([again.status, await readCode(again), await read('/srv/new')]).toEqual([412, 'PRECONDITION_FAILED', '1']);
  });

  it.each([
    [{ 'if-match': 'nonsense' }, 'If-Match'],
    [{ 'if-none-match': '"tag"' }, 'If-None-Match'],
  ])('refuses %j and names the header', async (headers, field) => {
    const answer = await send('/srv/refused', 'x', headers);
    expect([answer.status, await answer.json()]).toMatchObject([400, { details: { field } }]);
    expect((await platform.call('GET', `/api/sandboxes/${id}/files?path=/srv/refused`)).status).toBe(404);
  });

  it('lets exactly one of many concurrent conditional writes succeed', async () => {
    const letters = [...'abcdefgh'];
    const readStatuses = async (path: string, headers: Record<string, string>): Promise<number[]> => {
      const answers = letters.map((letter) => send(path, letter.repeat(PIECE_BYTES), headers));
      return (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b);
    };
    const refused = letters.slice(1).map(() => 412);
    expect(await readStatuses('/srv/race', { 'if-none-match': '*' })).toEqual([201, ...refused]);
    const tag = (await send('/srv/race', 'x')).headers.get('etag') ?? '';
    expect(await readStatuses('/srv/race', { 'if-match': tag })).toEqual([200, ...refused]);
    expect(await read('/srv/race')).toMatch(/^([a-h])\1{99999}$/);
    expect(await run('ls -A /srv | grep svc-write || true')).toBe('');
  });

  it('writes a whole file or nothing while links and folders on its path are swapped', async () => {
    await run('mkdir -p /srv/swap/one /srv/swap/two; ln -s one /srv/swap/way');
    // Both ways to redirect a write: a link with a changed target, and a replaced folder.
    const swaps =
      'cd /srv/swap; while [ ! -e /srv/stop ]; do ln -sfn two way; ln -sfn one way; mv one gone; mkdir one; ' +
      'cp gone/* one 2>/dev/null; rm -rf gone; done; rm /srv/stop';
    const swapped = run(swaps);
    const statuses = new Set<number>();
    for (let round = 0; round < 40; round += 1) {
      const content = String.fromCodePoint(97 + (round % 26)).repeat(PIECE_BYTES);
      const answers = [send('/srv/swap/way/file', content), send('/srv/swap/one/file', content)];
      for (const { status } of await Promise.all(answers)) statuses.add(status);
    }
    await run('touch /srv/stop');
    await swapped;
    expect([...statuses].filter((status) => ![200, 201, 404, 409].includes(status))).toEqual([]);
    expect(statuses.has(200) || statuses.has(201)).toBe(true);
    expect(await run('find /srv/swap -name ".svc-write-*"')).toBe('');
    expect((await send('/srv/swap/way/file', 'x'.repeat(PIECE_BYTES))).status).toBeLessThan(300);
    const sizes = await run('find /srv/swap -type f -exec wc -c {} +');
    for (const line of sizes.trim().split('\n')) {
      if (!line.endsWith('total')) expect(line.trim()).toMatch(new RegExp(`^${PIECE_BYTES} `));
    }
  });
});

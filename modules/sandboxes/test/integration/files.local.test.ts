import { createHash, randomBytes } from 'node:crypto';
import { skippedTitle } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { TerminalClient } from '../support/terminal-client.ts';

const reason = localDriverReason();
const title = 'files of a real sandbox';
const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;

  const call = (method: string, path: string, body?: unknown) =>
    platform.call(method, `/api/sandboxes/${id}/files${path}`, body === undefined ? {} : { body });
  const raw = (method: string, query: string, init: RequestInit = {}) =>
    fetch(`${platform.url}/api/containers/${id}/files${query}`, {
      method,
      ...init,
      headers: { ...platform.owner.headers, ...(init.headers as Record<string, string>) },
    });
  const run = async (script: string): Promise<string> => {
    const argv = Buffer.from(JSON.stringify(['sh', '-c', script])).toString('base64url');
    const client = await TerminalClient.open(platform.url, id, {
      query: `?cmd=${argv}`,
      protocols: [],
      headers: platform.owner.headers,
    });
    expect(await client.closed).toMatchObject({ reason: '{"exit_code":0}' });
    return client.text;
  };

  beforeAll(async () => {
    platform = await startPlatform();
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body: { image: 'debian' } });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('writes base64 JSON, creates parent folders, and returns what is on disk', async () => {
    const written = await call('POST', '', { path: '/srv/a/b/hello.txt', content: base64('hällo\n'), mode: '0600' });
    expect(written).toMatchObject({
      status: 201,
      body: {
        path: '/srv/a/b/hello.txt',
        filename: 'hello.txt',
        size: 7,
        mode: '-rw-------',
        sha256: createHash('sha256').update('hällo\n').digest('hex'),
        created: true,
      },
    });
    expect(await run('cat /srv/a/b/hello.txt; stat -c %a /srv/a/b/hello.txt')).toBe('hällo\n600\n');
    const replaced = await call('POST', '', { path: '/srv/a/b/hello.txt', content: 'zwei\n', encoding: 'utf-8' });
    expect(replaced).toMatchObject({ status: 200, body: { size: 5, mode: '-rw-------', created: false } });
    const appended = await call('POST', '', { path: '/srv/a/b/hello.txt', content: base64('drei\n'), append: true });
    expect(appended.status).toBe(200);
    expect(await (await raw('GET', '?path=/srv/a/b/hello.txt')).text()).toBe('zwei\ndrei\n');
  });

  it('lists directories first, with all fields, in pages', async () => {
    await run('mkdir -p /srv/l/sub && cd /srv/l && printf 12345 > b.txt && ln -s b.txt a-link && mkfifo pipe');
    const list = await call('GET', '/list?path=/srv/l');
    expect(list.body).toMatchObject({ path: '/srv/l', count: 4, total: 4, next_cursor: null });
    expect(list.body['files'].map((file: { name: string; type: string }) => `${file.name} ${file.type}`)).toEqual([
      'sub dir',
      'a-link symlink',
      'b.txt file',
      'pipe other',
    ]);
    expect(list.body['files'][2]).toMatchObject({
      name: 'b.txt',
      path: '/srv/l/b.txt',
      size: 5,
      mode: '-rw-r--r--',
      mode_octal: '0644',
      is_dir: false,
      link_target: null,
      uid: 0,
      gid: 0,
    });
    expect(list.body['files'][1]).toMatchObject({ link_target: 'b.txt', mode: 'lrwxrwxrwx' });
    expect(list.body['files'][3].mode).toMatch(/^p/);
    const first = await call('GET', '/list?path=/srv/l&page_size=3');
    const rest = await call('GET', `/list?path=/srv/l&page_size=3&cursor=${first.body['next_cursor']}`);
    expect(rest.body['files'].map(({ name }: { name: string }) => name)).toEqual(['pipe']);
    expect(Array.isArray((await call('GET', '/list?path=/srv/l&format=array')).body)).toBe(true);
    expect((await call('GET', '/list')).body['path']).toBe('/');
  });

  it('reads bytes regardless of the Accept header, with ranges, ETags and HEAD', async () => {
    await call('POST', '', { path: '/srv/digits', content: '0123456789', encoding: 'utf-8' });
    const whole = await raw('GET', '?path=/srv/digits', { headers: { accept: 'application/json' } });
    expect(whole.headers.get('content-type')).toBe('application/octet-stream');
    expect(whole.headers.get('x-file-size')).toBe('10');
    expect(whole.headers.get('x-file-mode')).toBe('-rw-r--r--');
    expect(await whole.text()).toBe('0123456789');
    const part = await raw('GET', '?path=/srv/digits', { headers: { range: 'bytes=3-5' } });
    expect([part.status, part.headers.get('content-range'), await part.text()]).toEqual([206, 'bytes 3-5/10', '345']);
    const tail = await raw('GET', '?path=/srv/digits', { headers: { range: 'bytes=-2' } });
    expect(await tail.text()).toBe('89');
    const beyond = await raw('GET', '?path=/srv/digits', { headers: { range: 'bytes=10-' } });
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */10']);
    const head = await raw('HEAD', '?path=/srv/digits');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
    const etag = whole.headers.get('etag') ?? '';
    expect((await raw('GET', '?path=/srv/digits', { headers: { 'if-none-match': etag } })).status).toBe(304);
    const json = await call('GET', '?path=/srv/digits&format=json');
    expect(json.body).toMatchObject({ encoding: 'base64', content: base64('0123456789'), size: 10 });
  });

  it('accepts a multipart form with a folder or a file as path', async () => {
    const form = (name: string): FormData => {
      const data = new FormData();
      data.append('file', new Blob(['from a form']), name);
      return data;
    };
    const into = await raw('POST', '?path=/srv/forms/', { body: form('a.txt') });
    expect([into.status, ((await into.json()) as { path: string }).path]).toEqual([201, '/srv/forms/a.txt']);
    const beside = await raw('POST', '?path=/srv/forms', { body: form('b.txt') });
    expect(((await beside.json()) as { path: string }).path).toBe('/srv/forms/b.txt');
    const named = await raw('POST', '?path=/srv/forms/c', { body: form('ignored') });
    expect(((await named.json()) as { path: string }).path).toBe('/srv/forms/c');
    expect(await run('cat /srv/forms/*')).toBe('from a form'.repeat(3));
    const escaping = await raw('POST', '?path=/srv/forms/', { body: form('../../etc/evil') });
    expect(((await escaping.json()) as { path: string }).path).toBe('/srv/forms/evil');
  });

  it('transfers 64 MiB in both directions unchanged', async () => {
    const bytes = randomBytes(64 * 1024 * 1024);
    const written = await raw('POST', '?path=/srv/large', {
      body: bytes,
      headers: { 'content-type': 'application/x-tar' },
    });
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    expect(await written.json()).toMatchObject({ size: bytes.length, sha256 });
    const read = Buffer.from(await (await raw('GET', '?path=/srv/large')).arrayBuffer());
    expect(read.equals(bytes)).toBe(true);
    expect(await run('sha256sum < /srv/large')).toContain(sha256);
  });

  it('creates directories by body or query, moves paths, and deletes without following links', async () => {
    expect(await call('POST', '/mkdir', { path: '/srv/m/one/two' })).toMatchObject({
      status: 201,
      body: { created: true },
    });
    expect(await call('POST', '/mkdir?path=/srv/m/one')).toMatchObject({ status: 200, body: { created: false } });
    await call('POST', '', { path: '/srv/m/f', content: '' });
    expect((await call('POST', '/mkdir', { path: '/srv/m/f' })).status).toBe(409);
    expect((await call('POST', '/move', { path: '/srv/m/f', target: '/srv/m/one/g' })).status).toBe(200);
    await call('POST', '', { path: '/srv/m/f', content: '' });
    const taken = await call('POST', '/move', { path: '/srv/m/f', target: '/srv/m/one/g' });
    expect(taken).toMatchObject({ status: 409, body: { code: 'PATH_EXISTS', details: { path: '/srv/m/one/g' } } });
    const refused = [
      ['/srv/m/none', '/srv/m/h', 404, '/srv/m/none'],
      ['/srv/m/f', '/srv/m/none/h', 404, '/srv/m/none'],
      ['/srv/m/one', '/srv/m/one/two/three', 400, 'a folder cannot be moved into itself'],
    ] as const;
    for (const [path, target, status, named] of refused) {
      const answer = await call('POST', '/move', { path, target });
      expect([answer.status, answer.body['error']]).toEqual([status, expect.stringMatching(`: ${named}$`)]);
    }
    expect((await call('POST', '/move', { path: '/srv/m/f', target: '/srv/m/one/g', overwrite: true })).status).toBe(
      200,
    );
    await run('mkdir /srv/kept && touch /srv/kept/file && ln -s /srv/kept /srv/m/link');
    expect((await call('DELETE', '?path=/srv/m&recursive=false')).body['code']).toBe('DIRECTORY_NOT_EMPTY');
    expect((await call('DELETE', '?path=/srv/m')).body).toMatchObject({ path: '/srv/m', deleted: true });
    expect(await run('ls /srv/kept')).toBe('file\n');
    expect((await call('DELETE', '?path=/srv/m')).status).toBe(404);
    expect((await call('DELETE', '?path=/srv/m&missing_ok=true')).body['deleted']).toBe(false);
  });

  it.each([
    ['GET', '?path=/nowhere', 404, 'PATH_NOT_FOUND'],
    ['GET', '?path=/etc', 400, 'IS_A_DIRECTORY'],
    ['GET', '?path=/dev/null', 400, 'NOT_A_FILE'],
    ['GET', '?path=/srv/fifo', 400, 'NOT_A_FILE'],
    ['GET', '?path=/dev/tty', 400, 'NOT_A_FILE'],
    ['GET', '?path=/dev/tty&format=json', 400, 'NOT_A_FILE'],
    ['GET', '?path=/dev/tty&archive=tar', 400, 'NOT_A_DIRECTORY'],
    ['GET', '', 400, 'INVALID_REQUEST'],
    ['GET', '?path=', 400, 'INVALID_PATH'],
    ['GET', '?path=%ff', 400, 'INVALID_PATH'],
    ['GET', '?path=/a%00b', 400, 'INVALID_PATH'],
    ['GET', `?path=/${'x'.repeat(4096)}`, 400, 'INVALID_PATH'],
    ['GET', '/list?path=/etc/passwd', 400, 'NOT_A_DIRECTORY'],
    ['GET', '/list?path=/etc&cursor=!', 400, 'INVALID_FIELD'],
    ['DELETE', '?path=/', 403, 'PROTECTED_PATH'],
    ['DELETE', '?path=/proc', 403, 'PROTECTED_PATH'],
  ])('refuses %s %.40s', async (method, query, status, code) => {
    await run('test -p /srv/fifo || mkfifo /srv/fifo');
    const answer = await call(method, query);
    expect(answer).toMatchObject({ status, body: { code, status, error: answer.body['message'] } });
  });

  it.each(['?', '?format=json&', '?archive=tar&', '/list?', '/stat?', '/watch?'])(
    "returns no server error on GET %s for the helper's descriptors",
    async (query) => {
      for (let number = 0; number < 16; number += 1) {
        const gone = new AbortController();
        const answer = await raw('GET', `${query}path=/proc/self/fd/${number}`, { signal: gone.signal });
        gone.abort(); // a watch has no end
        expect(answer.status, String(number)).toBeLessThan(500);
      }
    },
  );

  it.each([
    [{ path: '/srv/x', content: 'a' }, 'content'],
    [{ path: '/srv/x', content: 'YQ' }, 'content'],
    [{ path: '/srv/x', content: 'YR==' }, 'content'],
    [{ path: '/srv/x', content: '\ud800', encoding: 'utf-8' }, 'content'],
    [{ path: '/srv/x', content: '', mode: '9' }, 'mode'],
    [{ path: '/srv/x', content: '', encoding: 'hex' }, 'encoding'],
    [{ path: '/srv/x', content: '', colour: 'red' }, 'colour'],
    [{ path: '/srv/x' }, 'content'],
    [{ content: '' }, 'path'],
  ])('names the invalid field of the body: %j', async (body, field) => {
    const answer = await call('POST', '', body);
    expect(answer).toMatchObject({ status: 400, body: { details: { field } } });
    expect((await call('GET', '?path=/srv/x')).status).toBe(404);
  });

  it('keeps the existing file when an upload breaks off', async () => {
    await call('POST', '', { path: '/srv/whole', content: 'whole', encoding: 'utf-8' });
    const abort = new AbortController();
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(randomBytes(512 * 1024));
        abort.signal.addEventListener('abort', () => controller.error(new Error('gone')));
        setTimeout(() => abort.abort(), 200);
      },
    });
    const init = { body, duplex: 'half', signal: abort.signal } as RequestInit; // the types lack `duplex`
    await expect(raw('POST', '?path=/srv/whole', init)).rejects.toThrow();
    expect(await (await raw('GET', '?path=/srv/whole')).text()).toBe('whole');
    await expect.poll(() => run('ls -A /srv | grep svc-write || true')).toBe('');
  });

  it("returns 507 when the sandbox's disk is full, and keeps the existing file", async () => {
    const small = await platform.call('POST', '/api/sandboxes?wait_ms=30000', {
      body: { image: 'busybox', resources: { disk_mb: 64 } },
    });
    const path = `/api/sandboxes/${small.body['id']}/files?path=/big`;
    const answer = await fetch(`${platform.url}${path}`, {
      method: 'POST',
      body: Buffer.alloc(80 * 1024 * 1024),
      headers: platform.owner.headers,
    });
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([507, 'DISK_FULL']);
    expect((await platform.call('GET', path)).status).toBe(404);
  });

  it('requires a running sandbox', async () => {
    await platform.call('POST', `/api/sandboxes/${id}/stop`);
    expect(await call('GET', '/list')).toMatchObject({ status: 409, body: { code: 'SANDBOX_NOT_RUNNING' } });
    await platform.call('POST', `/api/sandboxes/${id}/start?wait_ms=30000`);
    expect(await (await raw('GET', '?path=/srv/whole')).text()).toBe('whole');
  });
});

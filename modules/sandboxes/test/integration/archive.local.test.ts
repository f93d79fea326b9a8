import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { skippedTitle, temporaryFolder } from '@svc/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { localDriverReason } from '../support/local-subject.ts';
import { startPlatform, type TestPlatform } from '../support/platform.ts';
import { tarArchive, type TarEntry } from '../support/tar-archive.ts';

const reason = localDriverReason();
const title = 'archives of a real sandbox';

function tooManyEntries(): Buffer {
  const header = tarArchive([{ name: 'same' }]).subarray(0, 512);
  return gzipSync(Buffer.concat(Array.from({ length: 100_001 }, () => header)));
}

/** A file that is almost entirely a hole, in GNU tar's format: a few kilobytes represent any size. */
async function sparse(format: 'gnu' | 'pax', sizeBytes: number): Promise<Buffer> {
  await using folder = await temporaryFolder();
  const file = await open(join(folder.path, 'hole'), 'w');
  await file.truncate(sizeBytes);
  await file.write('end', sizeBytes - 3);
  await file.close();
  const made = execFileSync('tar', ['-C', folder.path, '--sparse', `--format=${format}`, '-cf', '-', 'hole']);
  expect(made.length).toBeLessThan(64 * 1024);
  return made;
}

describe.skipIf(reason !== null)(reason === null ? title : skippedTitle(title, reason), () => {
  let platform: TestPlatform;
  let id: string;

  const send = (path: string, body: Buffer, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${platform.url}/api/containers/${id}/files/archive?path=${encodeURIComponent(path)}`, {
      method: 'PUT',
      body,
      headers: { ...platform.owner.headers, 'content-type': 'application/x-tar', ...headers },
    });
  const fetchTar = (path: string, method = 'GET'): Promise<Response> =>
    fetch(`${platform.url}/api/sandboxes/${id}/files?path=${encodeURIComponent(path)}&archive=tar`, {
      method,
      headers: platform.owner.headers,
    });
  const run = async (script: string): Promise<string> => {
    const { body } = await platform.call('POST', `/api/containers/${id}/exec`, { body: { command: script } });
    expect(body).toMatchObject({ exit_code: 0 });
    return body['stdout'];
  };
  const listing = (archive: Buffer): string[] =>
    execFileSync('tar', ['-tf', '-'], { input: archive, encoding: 'utf8' }).trim().split('\n').toSorted();

  beforeAll(async () => {
    platform = await startPlatform({ prepare: 'busybox' });
    const body = { image: 'busybox', resources: { disk_mb: 192 } };
    const created = await platform.call('POST', '/api/sandboxes?wait_ms=30000', { body });
    expect(created.body['status']).toBe('running');
    id = created.body['id'];
  });
  afterAll(async () => {
    await platform.dispose();
  });

  it('unpacks plain and gzip archives with modes, times, links and long names', async () => {
    const long = `${'deep/'.repeat(30)}${'n'.repeat(90)}`;
    const folder = execFileSync('mktemp', ['-d'], { encoding: 'utf8' }).trim();
    const script = `cd ${folder} && mkdir -p sub ${long.slice(0, long.lastIndexOf('/'))} && echo one > sub/one && chmod 750 sub/one &&
      ln sub/one sub/two && ln -s ../nowhere sub/link && echo far > ${long} && touch -d 2020-01-02 sub/one && mkdir -m 711 closed`;
    execFileSync('sh', ['-c', script]);
    const archive = execFileSync('tar', ['-C', folder, '-cf', '-', '.'], { maxBuffer: 1 << 26 });
    execFileSync('rm', ['-r', folder]);
    for (const [target, body] of [
      ['/srv/plain', archive],
      ['/srv/zipped', gzipSync(archive)],
    ] as const) {
      const answer = await send(target, body);
      expect([answer.status, await answer.json()]).toEqual([200, { path: target, entries: 37, size_bytes: 8 }]);
      expect(await run(`cd ${target} && cat sub/one sub/two ${long} && readlink sub/link`)).toBe(
        'one\none\nfar\n../nowhere\n',
      );
      expect(await run(`cd ${target} && stat -c '%a %h %Y' sub/one && stat -c %a closed && ls -A`)).toBe(
        '750 2 1577923200\n711\nclosed\ndeep\nsub\n',
      );
    }
  });

  it('merges into existing folders and replaces each file atomically', async () => {
    await run('mkdir -p /srv/joined/sub && echo old > /srv/joined/sub/a && echo kept > /srv/joined/sub/b');
    const archive = tarArchive([
      { name: 'sub/', type: 'folder' },
      { name: 'sub/a', content: 'new\n' },
      { name: 'c', content: 'c\n' },
    ]);
    expect((await send('/srv/joined', archive)).status).toBe(200);
    expect(await run('cd /srv/joined && cat sub/a sub/b c && ls -A')).toBe('new\nkept\nc\nc\nsub\n');
  });

  it.each<[string, TarEntry[], string]>([
    ['an absolute path', [{ name: '/etc/evil', content: 'x' }], 'absolute'],
    ['a path that climbs', [{ name: 'a/../../evil', content: 'x' }], '..'],
    [
      'a way through a link',
      [
        { name: 'way', type: 'symlink', target: '/etc' },
        { name: 'way/evil', content: 'x' },
      ],
      'passes through',
    ],
    ['a hard link out', [{ name: 'out', type: 'link', target: '../../../etc/passwd' }], 'hard link'],
    ['a hard link to an absolute path', [{ name: 'out', type: 'link', target: '/etc/passwd' }], 'hard link'],
    [
      'a hard link to a link',
      [
        { name: 'way', type: 'symlink', target: '/etc/passwd' },
        { name: 'out', type: 'link', target: 'way' },
      ],
      'hard link',
    ],
    ['a character device', [{ name: 'null', type: 'character' }], 'device'],
    ['a block device', [{ name: 'disk', type: 'block' }], 'device'],
    ['a FIFO', [{ name: 'pipe', type: 'fifo' }], 'FIFO'],
    [
      'a file where it has a folder',
      [
        { name: 'a/', type: 'folder' },
        { name: 'a', content: 'x' },
      ],
      'folder',
    ],
    [
      'a link where it has a folder',
      [
        { name: 'd/'.repeat(49) + 'x', content: '' },
        { name: 'd/'.repeat(49), type: 'symlink', target: '.' },
      ],
      'folder',
    ],
  ])('refuses %s and leaves nothing behind', async (_what, entries, word) => {
    const answer = await send('/srv/hostile/here', tarArchive([{ name: 'first', content: 'good' }, ...entries]));
    const body = (await answer.json()) as Record<string, unknown>;
    expect(body).toMatchObject({ code: 'INVALID_ARCHIVE', status: 400 });
    expect(body['message']).toContain(word);
    expect(await run('test ! -e /srv/hostile && ls /etc | grep evil || true')).toBe('');
  });

  it.each<[string, () => Buffer, number, string]>([
    ['what is no archive', () => randomBytes(4096), 400, 'INVALID_ARCHIVE'],
    ['nothing at all', () => Buffer.alloc(0), 400, 'INVALID_ARCHIVE'],
    [
      'one that ends in the middle',
      () => tarArchive([{ name: 'a', content: 'x'.repeat(5000) }]).subarray(0, 2048),
      400,
      'INVALID_ARCHIVE',
    ],
    [
      'gzip that ends in the middle',
      () => gzipSync(tarArchive([{ name: 'a', content: randomBytes(5000) }])).subarray(0, 3000),
      400,
      'INVALID_ARCHIVE',
    ],
    [
      'a claim of eight gigabytes',
      () => tarArchive([{ name: 'a', claimedBytes: 8 * 2 ** 30 - 1 }]),
      413,
      'ARCHIVE_TOO_LARGE',
    ],
    [
      'a bomb of zeros',
      () => gzipSync(tarArchive([{ name: 'a', content: Buffer.alloc(100 << 20) }])),
      413,
      'ARCHIVE_TOO_LARGE',
    ],
    ['too many entries', tooManyEntries, 413, 'ARCHIVE_TOO_LARGE'],
    ['more than the disk has', () => tarArchive([{ name: 'a', content: randomBytes(190 << 20) }]), 507, 'DISK_FULL'],
  ])('refuses %s and leaves nothing behind', async (_what, make, status, code) => {
    const answer = await send('/srv/broken', make());
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
    expect(await run('test ! -e /srv/broken; ls -A /srv | grep svc- || true')).toBe('');
  });

  it.each(['gnu', 'pax'] as const)('refuses sparse files that expand beyond the limit (%s)', async (format) => {
    // One exceeds the disk; the other fits, but expands from almost nothing.
    for (const sizeBytes of [2 ** 40, 160 << 20]) {
      const answer = await send('/srv/sparse', await sparse(format, sizeBytes));
      expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'ARCHIVE_TOO_LARGE' }]);
      expect(await run('test ! -e /srv/sparse; ls -A /srv | grep svc- || true')).toBe('');
    }
    expect((await send('/srv/holes', await sparse(format, 1 << 20))).status).toBe(200);
    expect(await run('wc -c < /srv/holes/hole; tail -c 4 /srv/holes/hole | tr "\\000" 0; rm -r /srv/holes')).toBe(
      '1048576\n0end',
    );
  });

  it('moves nothing when a folder and a file have the same path', async () => {
    await run('mkdir -p /srv/taken/name /srv/taken2 && echo kept > /srv/taken2/name');
    const file = await send(
      '/srv/taken',
      tarArchive([
        { name: 'before', content: 'x' },
        { name: 'name', content: 'x' },
      ]),
    );
    expect([file.status, ((await file.json()) as { code: string }).code]).toEqual([409, 'PATH_EXISTS']);
    const folder = await send(
      '/srv/taken2',
      tarArchive([
        { name: 'before', content: 'x' },
        { name: 'name/x', content: 'x' },
      ]),
    );
    expect(folder.status).toBe(409);
    expect(await run('ls -A /srv/taken /srv/taken2')).toBe('/srv/taken:\nname\n\n/srv/taken2:\nname\n');
  });

  it('does not follow a symlink in place of a folder of the archive', async () => {
    await run('mkdir -p /srv/linked /srv/elsewhere && ln -s /srv/elsewhere /srv/linked/sub');
    expect((await send('/srv/linked', tarArchive([{ name: 'sub/x', content: 'x' }]))).status).toBe(409);
    expect(await run('ls -A /srv/elsewhere')).toBe('');
  });

  it('leaves nothing behind when the upload breaks off', async () => {
    const abort = new AbortController();
    const archive = tarArchive([{ name: 'a', content: randomBytes(1 << 20) }]);
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        controller.enqueue(archive.subarray(0, 1 << 19));
        setTimeout(() => abort.abort(), 200);
      },
    });
    const init = { method: 'PUT', body, duplex: 'half', signal: abort.signal, headers: platform.owner.headers };
    const url = `${platform.url}/api/containers/${id}/files/archive?path=/srv/half`;
    await expect(fetch(url, init as RequestInit)).rejects.toThrow(); // the types lack `duplex`
    await expect.poll(() => run('ls -A /srv | grep half || true')).toBe('');
  });

  it('sends a folder as a tar stream that tar can read, without other file systems', async () => {
    await run(
      'mkdir -p /srv/down/sub && cd /srv/down && echo one > sub/one && ln sub/one two && ln -s sub/one three && mkfifo pipe',
    );
    const answer = await fetchTar('/srv/down');
    expect(answer.headers.get('content-type')).toBe('application/x-tar');
    expect(answer.headers.get('content-disposition')).toContain('down.tar');
    expect(listing(Buffer.from(await answer.arrayBuffer()))).toEqual(['sub/', 'sub/one', 'three', 'two']);
    const root = listing(Buffer.from(await (await fetchTar('/')).arrayBuffer()));
    expect(root).toEqual(expect.arrayContaining(['proc/', 'dev/', 'srv/down/sub/one']));
    expect(root.filter((name) => /^(proc|dev|sys)\/./.test(name))).toEqual([]);
    expect((await fetchTar('/srv/down', 'HEAD')).status).toBe(200);
  });

  it('uploads a downloaded folder unchanged', async () => {
    await run(
      'mkdir -p /srv/round && cd /srv/round && head -c 3000000 /dev/urandom > big && mkdir -m 700 d && echo x > d/x',
    );
    const first = Buffer.from(await (await fetchTar('/srv/round')).arrayBuffer());
    expect((await send('/srv/again', first)).status).toBe(200);
    const sums = 'find . -type f | sort | xargs sha256sum && stat -c %a d';
    expect(await run(`cd /srv/again && ${sums}`)).toBe(await run(`cd /srv/round && ${sums}`));
  });

  it('names the error in a download request', async () => {
    for (const [path, status, code] of [
      ['/nowhere', 404, 'PATH_NOT_FOUND'],
      ['/etc/passwd', 400, 'NOT_A_DIRECTORY'],
      ['', 400, 'INVALID_PATH'],
    ] as const) {
      const answer = await fetchTar(path);
      expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([status, code]);
    }
  });
});

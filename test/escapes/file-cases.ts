import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { HelperConnection, HelperRequest } from '@svc/sandboxes/testing/helper-connection';
import { TRANSFER_WINDOW_BYTES } from '@svc/sandboxes/testing/frames';
import { tarArchive, type TarEntry } from '@svc/sandboxes/testing/tar-archive';
import { runCommand } from '../kubernetes/commands.ts';
import type { EscapeCase } from './escape-case.ts';
import type { Ground, Sandbox } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { withSecret } from './secret-file.ts';

const ANSWER_LIMIT_MS = 10_000;
const MAX_BYTES = 1024 * 1024;

/** Attacks through the files API: the platform calls the helper on files prepared by the sandbox. */
export function fileCases(): EscapeCase[] {
  return [
    {
      title: 'reads files of this host through a link swapped for a file',
      attempt: (ground) => withSecret((path, secret) => readWhileSwapping(ground, path, secret)),
      control: ({ host }) => withSecret((path, secret) => host('content', path, secret)),
    },
    {
      title: 'reads files of this host through /proc/self/fd, /proc/1/root and similar links',
      attempt: ({ sandbox }) =>
        withSecret(async (path, secret) => {
          const { connection } = await sandbox('one');
          const ways = [
            '/proc/self/root',
            '/proc/1/root',
            '/proc/1/cwd',
            '/proc/self/fd/0',
            '/proc/self/fd/3',
            '/proc/thread-self/root',
          ];
          const up = ['', '/..', '/../..', '/../../../../..'];
          const paths = ways.flatMap((way) => up.map((each) => `${way}${each}${path}`));
          return anyReads(connection, [...paths, `/../../../..${path}`, path], secret);
        }),
      control: ({ host }) => withSecret((path, secret) => host('content', `/proc/self/root/..${path}`, secret)),
    },
    refused('stops the files API with a FIFO', 'mkfifo /root/fifo', { op: 'file.read', path: '/root/fifo' }),
    refused('feeds the files API from a device', 'ln -s /dev/zero /root/zero', { op: 'file.read', path: '/root/zero' }),
    refused('feeds the files API from a terminal', 'ln -s /dev/ptmx /root/ptmx', {
      op: 'file.read',
      path: '/root/ptmx',
    }),
    refused('changes the kernel through the files API', 'true', {
      op: 'file.write',
      path: '/proc/sys/kernel/core_pattern',
    }),
    refused('changes the helper through the files API', 'true', { op: 'file.write', path: '/.sandbox/agent' }),
    refused('moves the helper through the files API', 'echo x > /root/other', {
      op: 'file.move',
      path: '/root/other',
      target: '/.sandbox/agent',
      overwrite: true,
    }),
    refused('removes its root through the files API', 'true', { op: 'file.remove', path: '/', recursive: true }),
    ...HOSTILE_MEMBERS.map(([what, entries]) => archiveCase(what, entries)),
  ];
}

async function readWhileSwapping({ sandbox }: Ground, path: string, secret: string): Promise<Outcome> {
  const one = await sandbox('one');
  const swap = `cd /root; while [ ! -e stop ]; do ln -sf ${path} s; mv -f s swapped; ln -sf /proc/1/root${path} s; mv -f s swapped; echo own > s; mv -f s swapped; done`;
  const swapping = one.shell(swap);
  let outcome: Outcome = { done: false, detail: 'its own files only' };
  for (let attempt = 0; attempt < 200 && !outcome.done; attempt += 1) {
    outcome = await anyReads(one.connection, ['/root/swapped'], secret);
  }
  await one.shell('touch /root/stop');
  await swapping;
  await one.shell('rm -f /root/stop /root/swapped');
  return outcome;
}

async function anyReads(connection: HelperConnection, paths: readonly string[], secret: string): Promise<Outcome> {
  for (const path of paths) {
    const { content } = await ask(connection, { op: 'file.read', path, offset: 0, length: MAX_BYTES });
    if (content.includes(secret)) return { done: true, detail: path };
  }
  return { done: false, detail: `${paths.length} paths` };
}

interface Answer {
  readonly ok: boolean;
  readonly code: string;
  readonly content: Buffer;
}

/** Runs an operation with bounded data; returns BLOCKED if there is no answer. */
async function ask(connection: HelperConnection, request: HelperRequest, input?: Buffer): Promise<Answer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const stream = connection.start(request, {
    inputWindowBytes: TRANSFER_WINDOW_BYTES,
    data: (chunk) => {
      bytes += chunk.length;
      if (bytes <= MAX_BYTES) chunks.push(Buffer.from(chunk));
      if (bytes <= MAX_BYTES) stream.consumed(chunk.length);
    },
  });
  const late = Promise.withResolvers<'late'>();
  const timer = setTimeout(() => late.resolve('late'), ANSWER_LIMIT_MS);
  try {
    if (input !== undefined) await Promise.race([stream.write(input), stream.outcome, late.promise]);
    stream.finishInput();
    const outcome = await Promise.race([stream.outcome, late.promise]);
    const content = Buffer.concat(chunks);
    if (outcome === 'late') return { ok: false, code: 'BLOCKED', content };
    return outcome.ok ? { ok: true, code: 'OK', content } : { ok: false, code: outcome.code, content };
  } finally {
    clearTimeout(timer);
    stream.abandon();
  }
}

/** Succeeds if the operation is carried out or gets no answer. The control runs it on the sandbox's own file. */
function refused(title: string, setup: string, request: HelperRequest): EscapeCase {
  const tried = async (one: Sandbox, actual: HelperRequest): Promise<Outcome> => {
    const answer = await ask(one.connection, actual, request.op === 'file.write' ? Buffer.from('x') : undefined);
    const alive = await one.shell('echo alive');
    const done = answer.ok || answer.code === 'BLOCKED' || answer.content.length > 0 || alive.stdout !== 'alive\n';
    return { done, detail: answer.code };
  };
  return {
    title,
    attempt: async ({ sandbox }) => {
      const one = await sandbox('one');
      await one.shell(setup);
      return tried(one, request);
    },
    control: async ({ sandbox }) => {
      const one = await sandbox('one');
      await one.shell('mkdir -p /root/own; echo own > /root/own/file; echo x > /root/other');
      const own = request.op === 'file.remove' ? '/root/own' : '/root/own/file';
      const target = 'target' in request ? { path: '/root/other', target: own } : { path: own };
      return tried(one, { ...request, ...target });
    },
  };
}

export const HOSTILE_MEMBERS: readonly (readonly [what: string, entries: readonly TarEntry[]])[] = [
  ['an absolute path', [{ name: '/root/escaped', content: 'x' }]],
  ['a path that starts with ..', [{ name: '../escaped', content: 'x' }]],
  [
    '.. inside a path',
    [
      { name: 'a', type: 'folder' },
      { name: 'a/../../escaped', content: 'x' },
    ],
  ],
  [
    'a link that a later member goes through',
    [
      { name: 'l', type: 'symlink', target: '..' },
      { name: 'l/escaped', content: 'x' },
    ],
  ],
  [
    'a hard link to a file outside',
    [
      { name: 'h', type: 'link', target: '../outside' },
      { name: 'h', content: 'x' },
    ],
  ],
];

/** Succeeds if anything outside the given folder is created or changed. The control is tar in trusting mode. */
function archiveCase(what: string, entries: readonly TarEntry[]): EscapeCase {
  return {
    title: `leaves the folder of an upload with an archive that has ${what}`,
    attempt: async ({ sandbox }) => {
      const one = await sandbox('one');
      await one.shell('cd /root; rm -rf in escaped; mkdir in; echo kept > outside');
      const limits = { max_entries: 100, max_bytes: MAX_BYTES, max_ratio: 100 };
      const answer = await ask(
        one.connection,
        { op: 'file.unpack', path: '/root/in', parents: true, ...limits },
        tarArchive(entries),
      );
      const { stdout } = await one.shell(
        'cd /root; ls -d escaped ../escaped 2>/dev/null; cat outside; stat -c %h outside',
      );
      return { done: stdout !== 'kept\n1\n', detail: answer.code };
    },
    control: () => unpackTrusting(entries),
  };
}

/** Unpacks like a program that trusts archives. */
export async function unpackTrusting(entries: readonly TarEntry[]): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-archive-'));
  try {
    const target = join(folder, 'root/in');
    await runCommand('mkdir', ['-p', target]);
    await writeFile(join(dirname(target), 'outside'), 'kept');
    // Redirects absolute paths, so that they stay in the test's folder.
    const here = entries.map((entry) =>
      entry.name.startsWith('/') ? { ...entry, name: join(folder, entry.name) } : entry,
    );
    await writeFile(join(folder, 'archive.tar'), tarArchive(here));
    await runCommand('tar', [
      '-xPf',
      join(folder, 'archive.tar'),
      '-C',
      target,
      '--overwrite',
      '--keep-directory-symlink',
    ]).catch(() => undefined);
    const escaped = await stat(join(dirname(target), 'escaped')).then(
      () => true,
      () => false,
    );
    const outside = join(dirname(target), 'outside');
    const changed = (await readFile(outside, 'utf8')) !== 'kept' || (await stat(outside)).nlink > 1;
    return { done: escaped || changed, detail: `escaped ${escaped}, changed ${changed}` };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

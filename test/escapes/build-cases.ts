import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { tarArchive, type TarEntry } from '@svc/sandboxes/testing/tar-archive';
import { waitFor, type FakeCaller } from '@svc/testing';
import type { EscapeCase } from './escape-case.ts';
import { HOSTILE_MEMBERS, unpackTrusting } from './file-cases.ts';
import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { MARK, markedProcesses, marksProcess } from './marked-processes.ts';
import { METADATA_ADDRESS, OUTSIDE_PORT, PRIVATE_ADDRESSES, PUBLIC_ADDRESS, WORD } from './outside.ts';
import { failureOf } from './platform-ground.ts';
import { withSecret } from './secret-file.ts';

const HOST_VARIABLE = 'SVC_ESCAPE_HOST';
const RESOURCES = { cpu: 1, memory_mb: 128, disk_mb: 64, pids: 64 };
/** Folders that the platform or the helper writes to when a sandbox starts. */
const LINKED = ['etc', 'root', 'home', 'srv', 'var', 'run', 'linked'];

interface Build {
  readonly dockerfile: string;
  /** One for each COPY from the context. */
  readonly archives?: readonly (readonly TarEntry[])[];
  readonly [field: string]: unknown;
}

interface BuildResult extends Outcome {
  readonly name: string;
  readonly id: string;
  readonly cachedSteps: number;
}

export function buildCases(): EscapeCase[] {
  return [
    {
      title: 'reads files of this host by COPY, with .., absolute paths and links',
      attempt: (ground) => withSecret((path, secret) => anyBuild(ground, copiesOf(path, secret))),
      control: (ground) =>
        build(ground, {
          dockerfile: `FROM busybox\nCOPY file /got\n${looksFor('placed')}`,
          archives: [[{ name: 'file', content: 'placed' }]],
        }),
    },
    {
      title: 'writes outside of the folder of its files with a hostile archive for COPY',
      attempt: (ground) =>
        anyBuild(
          ground,
          HOSTILE_MEMBERS.map(([, archive]) => hostileCopy(archive)),
        ),
      control: async () => {
        const results = await Promise.all(HOSTILE_MEMBERS.map(([, archive]) => unpackTrusting(archive)));
        return { done: results.every(({ done }) => done), detail: results.map(({ detail }) => detail).join('; ') };
      },
    },
    {
      title: 'reaches metadata, private addresses and this host in a build',
      attempt: async (ground) => {
        const { platformPort, hostAddresses } = ground.outside;
        const outside = [METADATA_ADDRESS, ...PRIVATE_ADDRESSES].map((address) => `${address} ${OUTSIDE_PORT}`);
        const here = ['gateway', '127.0.0.1', ...hostAddresses].map((address) => `${address} ${platformPort}`);
        return probeInBuild(
          ground,
          [...outside, ...here].map((target) => `connect ${target} ${WORD}`),
        );
      },
      control: (ground) => probeInBuild(ground, [`connect ${PUBLIC_ADDRESS} ${OUTSIDE_PORT} ${WORD}`]),
    },
    {
      title: 'starts more processes than the limit of its build (fork bomb)',
      attempt: (ground) => probeInBuild(ground, ['take-processes 150']),
      control: (ground) => probeInBuild(ground, ['take-processes 150'], { pids: 512 }),
    },
    {
      title: 'fills the disk of this host in a build',
      attempt: (ground) => probeInBuild(ground, ['take-bytes 150 /srv']),
      control: (ground) => probeInBuild(ground, ['take-bytes 150 /srv'], { disk_mb: 512 }),
    },
    {
      title: 'goes on after its build has ended',
      attempt: async (ground) => {
        const background = '(trap "" HUP TERM INT; exec sleep 7319) > /dev/null 2>&1 &';
        const made = await build(ground, { dockerfile: `FROM busybox\nRUN ${background} sleep 1` });
        if (!made.done) throw new Error(`it was not built: ${made.detail}`);
        return remains(ground);
      },
      control: (ground) => remains(ground, 'FROM busybox\nRUN sleep 7320'),
    },
    {
      title: 'gets a cached layer or uploaded files of another workspace',
      attempt: async (ground) => sharesWith(ground, (await ground.platform()).platform.access.user('stranger')),
      control: async (ground) => sharesWith(ground, (await ground.platform()).platform.owner),
    },
    {
      title: "is built from another workspace's template, a file of this host or a registry that it names",
      attempt: fromOthers,
      control: async (ground) => {
        const own = await build(ground, { dockerfile: 'FROM busybox\nRUN touch /own' });
        return build(ground, { dockerfile: `FROM ${own.name}\nRUN test -e /own` });
      },
    },
    {
      title: 'sets variables of programs of this host by ENV and ARG',
      attempt: async (ground) => {
        const { platform } = await ground.platform();
        const dockerfile = `FROM busybox\nARG ${MARK}=set\nENV ${MARK}=set LD_PRELOAD=/evil.so\nRUN test "$${MARK}" = set\nCMD sleep 60`;
        const made = await build(ground, { dockerfile });
        if (!made.done) throw new Error(`it was not built: ${made.detail}`);
        const body = { template: made.name, resources: RESOURCES };
        const { body: sandbox } = await platform.call('POST', '/api/containers?wait_ms=30000', { body });
        const outcome = await markedProcesses();
        await platform.call('DELETE', `/api/containers/${String(sandbox['id'])}`);
        return outcome;
      },
      control: marksProcess,
    },
    {
      title: 'reads variables of the platform by ARG and ENV',
      attempt: async (ground) => {
        process.env[HOST_VARIABLE] = 'a-secret-of-the-platform';
        const made = await build(ground, { dockerfile: readsVariable() });
        delete process.env[HOST_VARIABLE];
        return made;
      },
      control: (ground) => build(ground, { dockerfile: readsVariable(), build_args: { [HOST_VARIABLE]: 'given' } }),
    },
    {
      title: 'reaches folders of this host through links in an image that it builds',
      attempt: throughLinks,
      control: async () =>
        withHostFolder(async (folder) => {
          const root = join(dirname(folder), 'root');
          await mkdir(root);
          await symlink(folder, join(root, 'etc'));
          await writeFile(join(root, 'etc/hosts'), 'x');
          return (await readFile(join(root, 'etc/kept'), 'utf8')) === 'kept';
        }),
    },
    {
      title: 'damages other images by marks of removed files',
      attempt: damages,
      control: (ground) =>
        build(ground, { dockerfile: 'FROM busybox\nRUN touch /victim\nRUN touch /.wh.victim\nRUN test ! -e /victim' }),
    },
  ];
}

/** Fails the build, and so refuses it, unless the text is in what was copied. */
function looksFor(text: string): string {
  return `RUN cat /got /got/* /got/*/* 2>/dev/null | grep -q ${text}`;
}

function copiesOf(path: string, secret: string): Build[] {
  const end = looksFor(secret);
  const copy = (source: string, entries: readonly TarEntry[]): Build => ({
    dockerfile: `FROM busybox\nCOPY ${source} /got\n${end}`,
    archives: [entries],
  });
  const link: TarEntry = { name: 'link', type: 'symlink', target: path };
  const folder: TarEntry = { name: 'folder', type: 'symlink', target: dirname(path) };
  const from = (source: string): Build => ({
    dockerfile: `FROM busybox AS one\nRUN ln -s ${path} /link; ln -s ${dirname(path)} /folder\nFROM busybox\nCOPY --from=one ${source} /got\n${end}`,
  });
  const file: TarEntry = { name: 'file', content: 'x' };
  return [
    copy(`../../../../..${path}`, [file]),
    copy(path, [file]),
    copy(`file/../../..${path}`, [file]),
    copy('link', [link]),
    copy('.', [link, folder]),
    copy('folder/secret', [folder]),
    copy('folder/*', [folder]),
    copy('hard', [{ name: 'hard', type: 'link', target: path }]),
    copy('fd', [{ name: 'fd', type: 'symlink', target: `/proc/1/root${path}` }]),
    from('/link'),
    from('/folder/secret'),
    from(`/proc/1/root${path}`),
    from(`/proc/self/cwd${path}`),
  ];
}

function hostileCopy(archive: readonly TarEntry[]): Build {
  return {
    dockerfile:
      'FROM busybox\nRUN echo kept > /outside\nCOPY . /in/\nRUN test -e /escaped || test -e /in/../root/escaped || ls /tmp/escaped || test "$(cat /outside)" != kept',
    archives: [archive],
  };
}

function readsVariable(): string {
  const name = HOST_VARIABLE;
  return `ARG BEFORE=$${name}\nFROM busybox\nARG ${name}\nARG BEFORE\nENV TAKEN=$${name}\nRUN test -n "$${name}$BEFORE$TAKEN" || env | grep -q a-secret`;
}

/** Done if one of the programs succeeds. */
async function probeInBuild(
  ground: Ground,
  programs: readonly string[],
  wider: Partial<typeof RESOURCES> = {},
): Promise<Outcome> {
  const { probe } = await ground.platform();
  const run = programs.map((each) => `/probe ${each}`).join(' || ');
  return build(ground, {
    dockerfile: `FROM busybox\nCOPY --chmod=755 probe /probe\nRUN mkdir -p /srv && cd / && (${run})`,
    archives: [[{ name: 'probe', content: probe, mode: 0o755 }]],
    resources: { ...RESOURCES, ...wider },
  });
}

async function anyBuild(ground: Ground, builds: readonly Build[]): Promise<Outcome> {
  const refusals: string[] = [];
  for (const each of builds) {
    const { done, detail } = await build(ground, each);
    if (done) return { done, detail: each.dockerfile };
    refusals.push(detail);
  }
  return { done: false, detail: refusals.join('; ') };
}

/** Done if the build is ready in the end. */
async function build(ground: Ground, { archives = [], ...body }: Build, caller?: FakeCaller): Promise<BuildResult> {
  const { platform } = await ground.platform();
  const by = caller ?? platform.owner;
  const files: string[] = [];
  for (const entries of archives) files.push(await upload(ground, by, tarArchive(entries)));
  const name = `escape-${randomBytes(6).toString('hex')}`;
  const given = { resources: RESOURCES, ...(files.length === 0 ? {} : { files }), ...body };
  const started = await platform.call('POST', `/api/templates/${name}/builds`, { body: given, caller: by });
  const id = String(started.body['id']);
  if (started.status !== 202) return { done: false, detail: failureOf(started), name, id, cachedSteps: 0 };
  const made = await waitFor(
    async () => {
      const { body: state } = await platform.call('GET', `/api/templates/${name}/builds/${id}`, { caller: by });
      return ['ready', 'error'].includes(String(state['status'])) ? state : null;
    },
    { timeoutMs: 120_000 },
  );
  const detail = String(made['error']?.['message'] ?? 'ready');
  return { done: made['status'] === 'ready', detail, name, id, cachedSteps: Number(made['cached_steps'] ?? 0) };
}

async function upload(ground: Ground, caller: FakeCaller, archive: Buffer): Promise<string> {
  const { platform } = await ground.platform();
  const hash = createHash('sha256').update(archive).digest('hex');
  const answer = await fetch(`${platform.url}/api/templates/files/${hash}`, {
    method: 'PUT',
    headers: { ...caller.headers, 'content-type': 'application/x-tar' },
    body: new Uint8Array(archive),
  });
  if (!answer.ok) throw new Error(`an archive was not taken: ${await answer.text()}`);
  return hash;
}

/** Whether a sandbox of a build runs: while the given one is under way, or after all. */
async function remains(ground: Ground, dockerfile?: string): Promise<Outcome> {
  const { platform } = await ground.platform();
  const labelled = async (): Promise<string> => {
    const { body } = await platform.call('GET', '/api/containers?page_size=200');
    return JSON.stringify(
      body['containers'].filter((each: object) => JSON.stringify(each).includes('svc-template-build')),
    );
  };
  if (dockerfile === undefined) return { done: (await labelled()) !== '[]', detail: await labelled() };
  const path = '/api/templates/escape-under-way/builds';
  const { body: started } = await platform.call('POST', path, { body: { dockerfile, resources: RESOURCES } });
  const found = await waitFor(async () => ((await labelled()) === '[]' ? null : labelled()), { timeoutMs: 60_000 });
  await platform.call('POST', `${path}/${String(started['id'])}/cancel`);
  await waitFor(async () => (await labelled()) === '[]', { timeoutMs: 60_000 });
  return { done: true, detail: found };
}

/** Whether what the owner of a workspace has built and uploaded serves a build of this caller. */
async function sharesWith(ground: Ground, caller: FakeCaller): Promise<Outcome> {
  const { platform } = await ground.platform();
  const unique = randomBytes(8).toString('hex');
  const steps = { dockerfile: `FROM busybox\nRUN echo ${unique} > /layer` };
  const first = await build(ground, steps);
  const again = await build(ground, steps, caller);
  if (!first.done || !again.done) throw new Error(`it was not built: ${first.detail}; ${again.detail}`);
  const hash = await upload(ground, platform.owner, tarArchive([{ name: 'file', content: unique }]));
  const copy = { dockerfile: `FROM busybox\nCOPY file /got\n${looksFor(unique)}`, files: [hash] };
  const copied = await build(ground, copy, caller);
  const { body } = await platform.call('GET', `/api/templates/files/${hash}`, { caller });
  const facts = [again.cachedSteps > 0, copied.done, body['present'] === true];
  const isAll = caller === platform.owner;
  return { done: isAll ? facts.every(Boolean) : facts.some(Boolean), detail: JSON.stringify(facts) };
}

async function fromOthers(ground: Ground): Promise<Outcome> {
  const { platform } = await ground.platform();
  let connections = 0;
  const registry = createServer((socket) => {
    connections += 1;
    socket.destroy();
  });
  await once(registry.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(registry.address() as AddressInfo).port}`; // of a TCP listener
  const stranger = platform.access.user('stranger');
  try {
    const theirs = await build(ground, { dockerfile: 'FROM busybox\nRUN touch /theirs' }, stranger);
    if (!theirs.done) throw new Error(`it was not built: ${theirs.detail}`);
    const names = [
      [theirs.name, `${theirs.name}:latest`, theirs.id, `${stranger.workspaceUuid}/${theirs.name}`],
      ['file:///etc', '/etc/passwd', '../../etc', '.', `${host}/image`, `http://${host}/image`, `docker.io@${host}/x`],
    ].flat();
    const builds = names.flatMap((name) => [
      { dockerfile: `FROM ${name}\nRUN true` },
      { dockerfile: `FROM busybox\nCOPY --from=${name} / /got/` },
    ]);
    const outcome = await anyBuild(ground, builds);
    return outcome.done ? outcome : { done: connections > 0, detail: outcome.detail };
  } finally {
    await new Promise((resolve) => registry.close(resolve));
  }
}

/** An image whose folders are links to a folder of this host, and a volume on one of them. */
function throughLinks(ground: Ground): Promise<Outcome> {
  return withHostFolder(async (folder) => {
    const { platform } = await ground.platform();
    const links = LINKED.map((name) => `{ mv /${name} /old-${name} 2>/dev/null; ln -s ${folder} /${name}; }`).join(
      '; ',
    );
    const made = await build(ground, { dockerfile: `FROM busybox\nRUN ${links}; test -L /etc && test -L /root` });
    if (!made.done) throw new Error(`it was not built: ${made.detail}`);
    await platform.call('POST', '/api/volumes', { body: { name: made.name, size_mb: 64 } });
    let isRead = false;
    const statuses: unknown[] = [];
    for (const path of [null, '/linked/deep', '/linked', '/etc']) {
      const volumes = path === null ? [] : [{ name: made.name, path }];
      const body = { template: made.name, resources: RESOURCES, volumes };
      const { body: sandbox } = await platform.call('POST', '/api/containers?wait_ms=30000', { body });
      statuses.push(sandbox['status'] ?? sandbox['code']);
      const at = `/api/containers/${String(sandbox['id'])}`;
      const command = `cat ${folder}/kept /linked/kept /root/kept; echo x > /root/new; echo x > /linked/new`;
      const { body: read } = await platform.call('POST', `${at}/exec`, { body: { command } });
      await platform.call('DELETE', at);
      isRead ||= String(read['stdout']).includes('kept');
    }
    await platform.call('DELETE', `/api/volumes/${made.name}`);
    if (statuses[0] !== 'running') throw new Error(`the image was not started: ${JSON.stringify(statuses)}`);
    return isRead;
  });
}

/** Done if the work has read a folder of this host that everybody may read and write, or has put more into it. */
async function withHostFolder(work: (folder: string) => Promise<boolean>): Promise<Outcome> {
  const parent = await mkdtemp(join(tmpdir(), 'svc-linked-'));
  const folder = join(parent, 'host');
  try {
    await chmod(parent, 0o755);
    await mkdir(folder);
    await chmod(folder, 0o777);
    await writeFile(join(folder, 'kept'), 'kept');
    const isRead = await work(folder);
    const names = await readdir(folder);
    return { done: isRead || names.length > 1, detail: `read ${isRead}, ${names.join(' ')}` };
  } finally {
    await rm(parent, { recursive: true, force: true });
  }
}

/** Names that mean removed files in a layer, and that would lead out of it. */
async function damages(ground: Ground): Promise<Outcome> {
  const before = await build(ground, { dockerfile: 'FROM busybox\nRUN mkdir /before && touch /before/file' });
  if (!before.done) throw new Error(`it was not built: ${before.detail}`);
  const names = ['/.wh...', '/srv/.wh...', '/.wh..', '/.wh.', '/.wh..wh..opq', '/srv/.wh..wh..opq', '/.wh..wh.plnk'];
  const results: string[] = [];
  for (const name of names) {
    const made = await build(ground, { dockerfile: `FROM ${before.name}\nRUN mkdir -p /srv; : > '${name}'` });
    results.push(`${name} ${made.detail}`);
  }
  const after = await build(ground, { dockerfile: `FROM ${before.name}\nRUN test -e /before/file && test -e /bin/sh` });
  return { done: !after.done, detail: `${after.detail}; ${results.join('; ')}` };
}

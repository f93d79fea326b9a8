import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { ListObjectsV2Command } from '@aws-sdk/client-s3';
import type { TestPlatform } from '@svc/sandboxes/testing/platform';
import { waitFor, type FakeCaller } from '@svc/testing';
import type { EscapeCase } from './escape-case.ts';
import type { Ground } from './ground.ts';
import type { Outcome } from './outcome.ts';
import { failureOf, PROBE, type ApiSandbox, type PlatformGround, type StoredObject } from './platform-ground.ts';

const FOLDER = '/data';
const PREFIX = 'in/side';
const SECRET = 'outside-of-the-prefix';
const KEPT = 'kept';
/** Time within which a lost right takes effect, and some more. */
const RIGHT_LIMIT_MS = 4_000;
/** What s3fs stores for a device, and for a program of root with the set-user-ID bit. */
const DEVICE_MODE = String(0o020666);
const SET_UID_MODE = String(0o104755);

/** Keys whose last part is not a name, or that look as if they led out of the prefix. */
const HOSTILE_KEYS = ['../secret', './../secret', '/secret', '//secret', '..', '.', 'a/../../secret'];

/** Looks for a key of a mount in files, environments and command lines; does not match itself. */
const FIND_KEY =
  "grep -rlaE 'sbx_[a-z2-7]{26}[.][0-9][.][0-9a-f]{64}' /etc /home /root /run /tmp /var /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep .";

const CHANGES = [
  `mount -o remount,rw ${FOLDER} && echo x > ${FOLDER}/new`,
  `echo x > ${FOLDER}/file`,
  `echo x > ${FOLDER}/new`,
  `: > ${FOLDER}/file`,
  `truncate -s 0 ${FOLDER}/file`,
  `mv ${FOLDER}/file ${FOLDER}/moved`,
  `rm -f ${FOLDER}/file && ! test -e ${FOLDER}/file`,
  `chmod 600 ${FOLDER}/file`,
  `chown 5:5 ${FOLDER}/file`,
  `touch -d 2001-01-01 ${FOLDER}/file`,
  `mkdir ${FOLDER}/folder`,
  `ln -s x ${FOLDER}/link`,
  `exec 3< ${FOLDER}/file; echo x > /proc/self/fd/3`,
  `cd ${FOLDER} && echo x > /proc/self/cwd/file`,
];

export function mountCases(): EscapeCase[] {
  return [
    {
      title: 'changes a bucket that it mounts read-only',
      attempt: async (ground) => anyOf(await mounted(ground, 'read-only'), CHANGES),
      control: async (ground) => allOf(await mounted(ground, 'writable'), CHANGES.slice(1)),
    },
    {
      title: 'reads objects outside of the prefix of its mount, by .., links and keys with ..',
      attempt: async (ground) => find(await mounted(ground, 'read-only'), FOLDER, SECRET),
      control: async (ground) => find(await mounted(ground, 'whole'), FOLDER, SECRET),
    },
    {
      title: 'writes objects outside of the prefix of its mount',
      attempt: async (ground) => {
        const before = await keysOutside(ground);
        const sandbox = await mounted(ground, 'writable');
        await sandbox.shell(`cd ${FOLDER}; ${writesOf('..', '../..', '%2e%2e', '..%2f..', '..\\').join('; ')}`);
        const after = await keysOutside(ground);
        return { done: after !== before, detail: after };
      },
      control: async (ground) => {
        const before = await keysOutside(ground);
        await (await mounted(ground, 'whole')).shell(`echo x > ${FOLDER}/in/written`);
        return { done: (await keysOutside(ground)) !== before, detail: before };
      },
    },
    {
      title: 'leaves the prefix of its mount with requests of a program that it has taken over',
      attempt: (ground) => takenOver(ground, `${PREFIX}/`),
      control: (ground) => takenOver(ground, ''),
    },
    {
      title: 'finds the key of a mount, its socket or the address of the object store',
      attempt: async (ground) => {
        const sandbox = await mounted(ground, 'read-only');
        const told = await sandbox.probe('tells', 'mounts.sock', '/run/svc', ...(await addressesOf(ground)));
        return told.done ? told : sandbox.succeeds(`${FIND_KEY} || ls -d /run/svc`);
      },
      control: async (ground) => {
        const sandbox = await mounted(ground, 'read-only');
        const key = `$(printf 'sbx_%026d' 2 | tr 0 a).0.$(printf %064d 0)`;
        const told = await ground.host('tells', 'mounts.sock');
        return told.done ? sandbox.succeeds(`echo "${key}" > /tmp/key; ${FIND_KEY}; e=$?; rm /tmp/key; exit $e`) : told;
      },
    },
    {
      title: 'opens the device or the control of file systems in user space (FUSE)',
      attempt: async (ground) => (await mounted(ground, 'writable')).probe('fuse'),
      control: ({ host }) => host('fuse'),
    },
    {
      title: 'uncovers what is below a mounted bucket',
      attempt: async (ground) => (await mounted(ground, 'writable')).probe('unmount', FOLDER),
      control: ({ free }) => free('unmount', '/proc'),
    },
    {
      title: 'links a file of a bucket to another place',
      attempt: async (ground) =>
        anyOf(await mounted(ground, 'writable'), [`ln ${FOLDER}/file /root/hard`, `ln ${FOLDER}/file ${FOLDER}/hard`]),
      control: async (ground) => (await mounted(ground, 'writable')).succeeds('ln /bin/probe /bin/hard'),
    },
    {
      title: 'gets a device or the rights of root through the attributes of an object',
      attempt: async (ground) => {
        const sandbox = await mounted(ground, 'whole');
        const device = `test -c ${FOLDER}/in/device || test -b ${FOLDER}/in/device || mknod ${FOLDER}/in/null c 1 3`;
        const own = `cp ${PROBE} ${FOLDER}/in/own && chmod 6755 ${FOLDER}/in/own && chown 0:0 ${FOLDER}/in/own; chmod 6755 ${FOLDER}/in/own`;
        await sandbox.shell(`${own}; grep -q ^app: /etc/passwd || echo app:x:1000:1000::/:/bin/sh >> /etc/passwd`);
        const stored = await sandbox.succeeds(`test -u ${FOLDER}/in/set-uid && test -x ${FOLDER}/in/set-uid`);
        if (!stored.done) throw new Error(`the attributes were not taken: ${stored.detail}`);
        const isRoot = await sandbox.succeeds(`${FOLDER}/in/set-uid is-root || ${FOLDER}/in/own is-root`, 'app');
        return isRoot.done ? isRoot : sandbox.succeeds(device);
      },
      control: ({ host }) => host('set-uid', '/var/tmp'),
    },
    {
      title: 'fills the disk of this host by a file of a bucket that it never closes',
      attempt: async (ground) => (await mounted(ground, 'narrow')).probe('take-bytes', '150', FOLDER),
      control: async (ground) => (await mounted(ground, 'wide')).probe('take-bytes', '150', FOLDER),
    },
    {
      title: 'mounts a bucket of another workspace by its name',
      attempt: async (ground) => mountAs(ground, (await ground.platform()).platform.access.user('stranger')),
      control: async (ground) => mountAs(ground, (await ground.platform()).platform.owner),
    },
    {
      title: 'reads a bucket, open files too, after its creator has lost the right',
      attempt: async (ground) => readAfter(ground, (creator, { access }) => access.revoke(creator)),
      control: async (ground) => readAfter(ground, () => undefined),
    },
  ];
}

type Kind = 'read-only' | 'writable' | 'whole' | 'narrow' | 'wide';

/** A sandbox with the bucket at `FOLDER`; the same for the same kind. Only `whole` has more than the prefix. */
async function mounted(ground: Ground, kind: Kind): Promise<ApiSandbox> {
  const platform = await ground.platform();
  const mount = { bucket: await bucketOf(platform), path: FOLDER, read_only: kind === 'read-only' };
  const resources = { cpu: 1, memory_mb: 128, disk_mb: kind === 'wide' ? 512 : 64, pids: 64 };
  const prefix = kind === 'whole' ? '' : PREFIX;
  return platform.sandbox(`mount-${kind}`, { mounts: [{ ...mount, prefix }], resources });
}

function bucketOf(platform: PlatformGround): Promise<string> {
  const file = (key: string, content: string | Buffer, mode?: string): StoredObject => ({
    key,
    content,
    ...(mode === undefined ? {} : { metadata: { mode, uid: '0', gid: '0' } }),
  });
  const links = ['../secret', '/data/../in/secret', '../../in/secret'].map((target, index) =>
    file(`${PREFIX}/link${index}`, target, String(0o120777)),
  );
  return platform.bucket('mounted', [
    file(`${PREFIX}/file`, KEPT),
    file(`${PREFIX}/own`, KEPT), // for the requests of a program that was taken over
    file('own', KEPT),
    file('right/file', KEPT),
    file('in/secret', SECRET),
    file('in/device', 'x', DEVICE_MODE),
    file('in/set-uid', platform.probe, SET_UID_MODE),
    ...HOSTILE_KEYS.map((key) => file(`${PREFIX}/${key}`, SECRET)),
    ...links,
  ]);
}

async function anyOf({ succeeds }: ApiSandbox, scripts: readonly string[]): Promise<Outcome> {
  if (!(await succeeds(`test -e ${FOLDER}/file`)).done) throw new Error('there is no file to try it with');
  const refusals: string[] = [];
  for (const script of scripts) {
    const { done, detail } = await succeeds(script);
    if (done) return { done, detail: script };
    refusals.push(detail);
  }
  return { done: false, detail: refusals.join('; ') };
}

/** Each on the file as it was. */
async function allOf({ succeeds }: ApiSandbox, scripts: readonly string[]): Promise<Outcome> {
  for (const script of scripts) {
    const { done, detail } = await succeeds(
      `rm -rf ${FOLDER}/new ${FOLDER}/folder; echo ${KEPT} > ${FOLDER}/file; ${script}`,
    );
    if (!done) return { done, detail: `${script}: ${detail}` };
  }
  return { done: true, detail: `${scripts.length} changes` };
}

/** Reads all that is below a folder, through links too, and what paths with .. would name. */
async function find({ succeeds }: ApiSandbox, folder: string, text: string): Promise<Outcome> {
  const ups = ['..', '../..', '../in', '%2e%2e', './..', 'file/..', 'file/../..'].map((up) => `${folder}/${up}/secret`);
  return succeeds(`(grep -r '' ${folder}; cat ${folder}/* ${ups.join(' ')}) 2>/dev/null | grep ${text}`);
}

function writesOf(...ups: readonly string[]): string[] {
  return ups.flatMap((up) => [
    `mkdir -p ${up}/made 2>/dev/null`,
    `echo x > '${up}/secret'`,
    `mv file '${up}/moved' && mv '${up}/moved' file`,
    `ln -s '${up}/secret' link-to-it; echo x > link-to-it`,
  ]);
}

/** Keys and sizes of the bucket without those of the prefix. */
async function keysOutside(ground: Ground): Promise<string> {
  const platform = await ground.platform();
  const Bucket = await bucketOf(platform);
  const { Contents = [] } = await platform.client.send(new ListObjectsV2Command({ Bucket }));
  const outside = Contents.filter(({ Key = '' }) => !Key.startsWith(`${PREFIX}/`));
  return outside.map(({ Key, ETag }) => `${Key} ${ETag}`).join('\n');
}

/** Where the object store serves S3 and the platform its API. */
async function addressesOf(ground: Ground): Promise<string[]> {
  const { platform, store } = await ground.platform();
  return [store.endpoint, platform.url].map((url) => new URL(url).host);
}

async function mountAs(ground: Ground, caller: FakeCaller): Promise<Outcome> {
  const platform = await ground.platform();
  const mounts = [{ bucket: await bucketOf(platform), path: FOLDER }];
  const body = { image: 'busybox', mounts };
  const answer = await platform.platform.call('POST', '/api/containers?wait_ms=30000', { body, caller });
  if (answer.status < 300) await platform.platform.call('DELETE', `/api/containers/${answer.body['id']}`, { caller });
  return { done: answer.status < 300, detail: answer.status < 300 ? 'mounted' : failureOf(answer) };
}

/** Whether a program still reads a file that it has opened, or another one, some time after this happened to the creator. */
async function readAfter(
  ground: Ground,
  happens: (creator: FakeCaller, platform: TestPlatform) => void,
): Promise<Outcome> {
  const platform = await ground.platform();
  const { access, owner } = platform.platform;
  const creator = access.serviceAccount(owner.workspaceUuid, ['write']);
  const mounts = [{ bucket: await bucketOf(platform), prefix: 'right', path: FOLDER, read_only: true }];
  // The owner stays able to look into it.
  const { id } = await platform.create({ mounts }, creator);
  const inside = (command: string) =>
    platform.platform.call('POST', `/api/containers/${id}/exec`, { body: { command } });
  const read = `cat <&3 || cat ${FOLDER}/file`;
  const wait = 'touch /tmp/open; until test -e /tmp/go; do sleep 0.1; done';
  const reading = inside(`exec 3< ${FOLDER}/file; ${wait}; ${read}`);
  await waitFor(async () => (await inside('ls /tmp/open')).body['exit_code'] === 0, { timeoutMs: 10_000 });
  happens(creator, platform.platform);
  await setTimeout(RIGHT_LIMIT_MS);
  await inside('touch /tmp/go');
  const { body } = await reading;
  await platform.platform.call('DELETE', `/api/containers/${id}`);
  return { done: String(body['stdout']).includes(KEPT), detail: String(body['output']) };
}

/** What the program that serves a mount could ask the platform if the sandbox had taken it over. */
async function takenOver(ground: Ground, prefix: string): Promise<Outcome> {
  const platform = await ground.platform();
  const { workspaceUuid, principal } = platform.platform.owner;
  const bucketName = await bucketOf(platform);
  const { folders } = platform.store.module;
  const bucketId = (await folders.find(workspaceUuid, bucketName)) ?? 0;
  const place = { workspaceUuid, bucketName, bucketId, prefix, readOnly: false, principalId: principal.id };
  const server = createServer((request, response) => void folders.serve(place, request, response));
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo; // of a TCP listener
  const ask = async (method: string, operation: string, query: Readonly<Record<string, string>>): Promise<string> => {
    const url = `http://127.0.0.1:${port}/${operation}?${new URLSearchParams(query).toString()}`;
    return (await fetch(url, { method, ...(method === 'PUT' ? { body: 'x' } : {}) })).text();
  };
  try {
    const before = await keysOutside(ground);
    const answers: string[] = [];
    for (const path of [
      'secret',
      'in/secret',
      ...HOSTILE_KEYS,
      '%2e%2e/secret',
      '..\\secret',
      '/in/secret',
      '\0/../secret',
      'file\0',
    ]) {
      answers.push(await ask('GET', 'read', { path }), await ask('GET', 'list', { path, after: '' }));
      if (answers.some((answer) => answer.includes(SECRET))) return { done: true, detail: path };
      await ask('PUT', 'folder', { path });
      await ask('POST', 'rename', { from: 'own', to: path });
      await ask('POST', 'rename', { from: path, to: 'taken' });
      await ask('DELETE', 'remove', { path, kind: 'file' });
    }
    const after = await keysOutside(ground);
    return { done: after !== before, detail: after };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

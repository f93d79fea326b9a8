import { done, type CredentialKind } from '@svc/platform/testing';
import { createSshKey, openSsh, type OpenSsh, type SshCredentials } from '@svc/sandboxes/testing/open-ssh';
import { waitFor } from '@svc/testing';
import { once, type EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Channel } from './channel.ts';
import { closed, openDownload, openSocket, openStream, openUpload, type Open } from './open-channel.ts';
import { outlivesWithMaker } from './outlives.ts';
import { PORT, TICKS, type Place } from './place.ts';

const apiOf = ({ platform, sandbox }: Place, path: string): string =>
  `${platform.url}/api/containers/${sandbox}${path}`;

const JSON_TYPE = { 'content-type': 'application/json' };

/** A call of the Connect protocol whose response is a stream. */
function openRpc({ platform, sandbox, tokens }: Place, method: string, message: unknown): Promise<Open> {
  const json = Buffer.from(JSON.stringify(message));
  const head = Buffer.alloc(5);
  head.writeUInt32BE(json.length, 1);
  const headers = {
    'e2b-sandbox-id': sandbox.slice('sbx_'.length),
    'x-access-token': tokens.access,
    'content-type': 'application/connect+json',
    'connect-protocol-version': '1',
  };
  const body = Buffer.concat([head, json]);
  return openStream(`${platform.url}/e2b/envd/${method}`, { method: 'POST', headers, body });
}

/** Cookies and sign-ins are not passwords of SSH, and only users have keys. */
const withoutToken = (kind: CredentialKind): string | null =>
  kind === 'session cookie' ? 'is a cookie, which SSH clients cannot send' : null;
const withoutKey = (kind: CredentialKind): string | null =>
  kind === 'JWT' ? null : 'SSH keys belong to users, who register them when they are signed in';

async function logIn(place: Place, credentials: Pick<SshCredentials, 'password' | 'privateKey'>): Promise<OpenSsh> {
  const { sandbox, sshPort, caller } = place;
  const username = caller.team === null ? sandbox : `${sandbox}+${caller.team}`;
  const open = (): Promise<OpenSsh> => openSsh({ port: sshPort, username, ...credentials });
  // The listener accepts few clients of one address that have not logged in yet.
  return waitFor(open, { intervalMs: 500, description: 'a login over SSH' });
}

const byToken = (place: Place): Promise<OpenSsh> =>
  logIn(place, { password: String(place.caller.headers['authorization']).replace(/^Bearer /, '') });

async function byKey(place: Place): Promise<OpenSsh> {
  const { privateKey, publicKey } = createSshKey();
  const body = { name: 'laptop', public_key: publicKey };
  await done(place.platform, 'POST', '/api/ssh-keys', place.caller.headers, body);
  return logIn(place, { privateKey });
}

async function held(ssh: OpenSsh, channel: EventEmitter, isQuiet = false): Promise<Open> {
  channel.on('error', () => undefined);
  channel.once('end', () => ssh.close()); // as a client does that has read everything
  const ended = closed(channel);
  if (!isQuiet) await once(channel, 'data');
  if ('resume' in channel && typeof channel.resume === 'function') channel.resume();
  return { ended, close: () => ssh.close() };
}

async function openCommand(ssh: OpenSsh): Promise<Open> {
  return held(ssh, await ssh.exec(TICKS));
}

async function openForward(ssh: OpenSsh): Promise<Open> {
  const channel = await ssh.forward(PORT);
  channel.write('GET / HTTP/1.1\r\n\r\n');
  return held(ssh, channel);
}

const BEAT = 'date > /data/beat';
/** Has what the shell said about the write that failed. */
const REFUSED = '/tmp/refused';
const BEATING = `while ${BEAT}; do sleep 0.5; done; mv /tmp/said ${REFUSED}`;
/** Looks at the process first, which creates the file before it ends. */
const LOOK = `kill -0 $(cat /tmp/beating) && is=writing || is='gone without a refusal'; cat ${REFUSED} || echo $is`;
const LOOK_SECONDS = 20;

/** A program that writes to the bucket again and again, until it may not. */
async function openMount({ run }: Place): Promise<Open> {
  await run(BEAT);
  await run(`(setsid sh -c '${BEATING}' > /dev/null 2> /tmp/said & echo $! > /tmp/beating)`);
  const closing = new AbortController();
  let state = 'not looked at yet';
  const isRefused = async (): Promise<boolean> => {
    // The steward may be a former owner, whose commands end when the role changes: that says nothing about the mount.
    while (!closing.signal.aborted) {
      state = await Promise.race([
        run(LOOK, LOOK_SECONDS).catch(String),
        delay(2_000 * LOOK_SECONDS, 'no response', { ref: false }),
      ]);
      if (/Permission denied|Input\/output error/.test(state)) return true;
      await delay(500);
    }
    return false;
  };
  return { ended: isRefused(), state: () => state.trim(), close: () => closing.abort() };
}

export const SANDBOX_CHANNELS: Readonly<Record<string, Channel>> = {
  'the event stream': {
    open: ({ platform, caller, scope, steward, sandbox }) => {
      const opened = openStream(`${platform.url}/api/events${scope}`, { headers: caller.headers });
      const rename = (): Promise<unknown> =>
        platform.call('PATCH', `/api/containers/${sandbox}${scope}`, steward.headers, { labels: { at: 'once' } });
      return Promise.all([opened, rename()]).then(([open]) => open);
    },
  },
  'the output of a command': {
    open: (place) => {
      const body = JSON.stringify({ command: TICKS, stream: true, timeout_seconds: 600 });
      const headers = { ...place.caller.headers, ...JSON_TYPE };
      return openStream(apiOf(place, `/exec${place.scope}`), { method: 'POST', headers, body });
    },
  },
  'a watch of files': {
    open: (place) =>
      openStream(apiOf(place, `/files/watch${place.scope}&path=/watched`), { headers: place.caller.headers }),
  },
  'a download of a file': {
    open: (place) => openDownload(apiOf(place, `/files${place.scope}&path=/large`), { headers: place.caller.headers }),
  },
  'an upload of a file': {
    open: (place) => {
      const headers = { ...place.caller.headers, 'content-type': 'application/octet-stream' };
      const stored = async (): Promise<boolean> => (await place.run('ls /tmp/sent || true')) !== '';
      return openUpload(apiOf(place, `/files${place.scope}&path=/tmp/sent`), { method: 'POST', headers }, stored);
    },
  },
  'a process of an E2B client': {
    open: (place) => {
      const process = { cmd: '/bin/sh', args: ['-c', TICKS] };
      return openRpc(place, 'process.Process/Start', { process });
    },
  },
  'an E2B client that follows a process': {
    open: async (place) => {
      const tag = 'followed';
      await openRpc(place, 'process.Process/Start', { process: { cmd: '/bin/sh', args: ['-c', TICKS] }, tag });
      return openRpc(place, 'process.Process/Connect', { process: { tag } });
    },
  },
  'a watch of an E2B client': {
    open: (place) => openRpc(place, 'filesystem.Filesystem/WatchDir', { path: '/watched' }),
  },
  'a terminal': {
    through: 'terminal',
    open: ({ platform, sandbox, caller, scope }) =>
      openSocket(`${platform.url}/ws/terminal/${sandbox}${scope}`, caller.headers),
  },
  'a terminal by a ticket': {
    open: async ({ platform, sandbox, caller, scope }) => {
      const path = `/api/containers/${sandbox}/terminal/tickets${scope}`;
      const { ticket } = await done(platform, 'POST', path, caller.headers);
      return openSocket(`${platform.url}/ws/terminal/${sandbox}?ticket=${String(ticket)}`, {});
    },
  },
  'a command over SSH': {
    through: 'modules/sandboxes/src/ssh/ssh-connection.ts',
    refuses: withoutToken,
    open: async (place) => openCommand(await byToken(place)),
  },
  SFTP: { refuses: withoutToken, open: async (place) => held(...(await sftpOf(place))) },
  'a forward over SSH': { refuses: withoutToken, open: async (place) => openForward(await byToken(place)) },
  'a command over SSH by a key': {
    refuses: withoutKey,
    outlives: (way) =>
      /member|team|workspace/.test(way) ? null : 'an SSH key is a credential of its own, removed by itself',
    open: async (place) => openCommand(await byKey(place)),
  },
  'a mounted bucket': {
    through: 'modules/sandboxes/src/routes/mounts/mount-server.ts',
    outlives: outlivesWithMaker,
    open: openMount,
  },
};

async function sftpOf(place: Place): Promise<[OpenSsh, EventEmitter, boolean]> {
  const ssh = await byToken(place);
  return [ssh, await ssh.sftp(), true];
}

import { randomBytes } from 'node:crypto';
import { PlayedKubernetes, type PlayedKubernetesOptions } from '@svc/clusters/testing/kubernetes';
import { done, type Caller, type CredentialKind, type WholePlatform } from '@svc/platform/testing';
import { waitFor } from '@svc/testing';

/** A workspace with one of everything that has channels, and a caller in it. */
export interface Place {
  readonly platform: WholePlatform;
  readonly kind: CredentialKind;
  readonly caller: Caller;
  /** Created everything that the caller's credential may not create. */
  readonly steward: Caller;
  /** `?workspace_uuid=…`, with the team of the caller if there is one. */
  readonly scope: string;
  /** A sandbox with a mounted bucket, whose ports need a link or a token. */
  readonly sandbox: string;
  /** A sandbox of an E2B client with public ports. */
  readonly publicSandbox: string;
  /** For the E2B data plane of `sandbox`, and for its ports. */
  readonly tokens: { readonly access: string; readonly traffic: string };
  readonly bucket: string;
  readonly store: string;
  readonly cluster: { readonly id: string; readonly token: string };
  readonly sshPort: number;
  /** The agent's tunnel. */
  readonly tunnel: PlayedKubernetes;
  /** Runs a command in the sandbox as the steward, within the time of a busy machine unless told otherwise. */
  run(command: string, seconds?: number): Promise<string>;
  close(): Promise<void>;
}

/** Port of the program in the sandboxes that speaks without end. */
export const PORT = 8080;
/** A busy machine takes its time. */
const MOST_SECONDS = 240;
/** Larger than all buffers between the store and a reader. */
export const LARGE_BYTES = 16 * 1024 * 1024;
export const TICKS = 'while echo tick; do sleep 1; done';

/** Answers a request, or switches protocols if it is asked to, and speaks without end. */
const PROGRAM = `#!/bin/sh
status='200 OK'
while read -r line; do
  line=$(printf %s "$line" | tr -d '\\r')
  case $line in
    [Uu]pgrade:*) status='101 Switching Protocols\\r\\nConnection: Upgrade\\r\\nUpgrade: websocket' ;;
    '') break ;;
  esac
done
printf "HTTP/1.1 $status\\r\\n\\r\\n"
${TICKS}
`;

const scopeOf = ({ workspace, team }: Caller): string =>
  `?workspace_uuid=${workspace}${team === null ? '' : `&team_uuid=${team}`}`;

/** What the sandboxes of a place are made of. */
export interface SandboxMaterial {
  /** An image with busybox. */
  readonly image: string;
  /** More fields of the request. */
  readonly more: Readonly<Record<string, unknown>>;
  readonly hasMounts: boolean;
}

/** Those of the local driver, which has everything. */
const LOCAL: SandboxMaterial = {
  image: 'busybox',
  more: { resources: { cpu: 0.5, memory_mb: 128, disk_mb: 64, pids: 256 } },
  hasMounts: true,
};

export async function openPlace(
  platform: WholePlatform,
  kind: CredentialKind,
  { caller, steward }: { caller: Caller; steward: Caller },
  material = LOCAL,
): Promise<Place> {
  const store = `/api/v1/workspace/${caller.workspace}/object-store`;
  const bucket = `held-${randomBytes(8).toString('hex')}`;
  const [scope, stewards] = [scopeOf(caller), scopeOf(steward)];
  await done(platform, 'POST', `${store}/buckets${stewards}`, steward.headers, { name: bucket });
  const [sandbox, publicSandbox, cluster, ssh] = await Promise.all([
    createSandbox(platform, caller, bucket, material),
    createPublicSandbox(platform, caller, material),
    done(platform, 'POST', `/v1/clusters${stewards}`, steward.headers, { name: 'production' }),
    done(platform, 'GET', '/api/ssh', steward.headers),
    putLarge(platform, `${store}/buckets/${bucket}/objects/content${stewards}&key=large`, steward),
  ]);
  const kubernetes = await connectCluster(platform, cluster, steward);
  const runIn = async (id: string, command: string, seconds = MOST_SECONDS): Promise<string> => {
    const path = `/api/containers/${id}/exec${stewards}`;
    const body = { command, timeout_seconds: seconds };
    const { stdout } = await done(platform, 'POST', path, steward.headers, body);
    return String(stdout);
  };
  const run: Place['run'] = (command, seconds) => runIn(sandbox, command, seconds);
  const serving = { steward, stewards, run: runIn };
  await Promise.all([sandbox, publicSandbox].map((id) => serveProgram(platform, id, serving)));
  await run(`mkdir -p /watched; truncate -s 1G /large`);
  const found = await done(platform, 'GET', `/e2b/sandboxes/${sandbox.slice(4)}${scope}`, caller.headers);
  const connected = await done(platform, 'POST', `/e2b/sandboxes/${sandbox.slice(4)}/connect${scope}`, caller.headers, {
    timeout: 600,
  });
  return {
    platform,
    kind,
    caller,
    steward,
    scope,
    sandbox,
    publicSandbox,
    tokens: { access: String(found['envdAccessToken']), traffic: String(connected['trafficAccessToken']) },
    bucket,
    store,
    cluster: { id: String(cluster['id']), token: String(cluster['token']) },
    sshPort: Number(ssh['port']),
    tunnel: kubernetes,
    run,
    close: async () => {
      await kubernetes.close();
      for (const id of [sandbox, publicSandbox]) {
        await platform.call('DELETE', `/api/containers/${id}${stewards}`, steward.headers);
      }
    },
  };
}

async function createSandbox(
  platform: WholePlatform,
  caller: Caller,
  bucket: string,
  { image, more, hasMounts }: SandboxMaterial,
): Promise<string> {
  const mounts = hasMounts ? { mounts: [{ bucket, path: '/data' }] } : {};
  const path = `/api/containers${scopeOf(caller)}`;
  const made = await done(platform, 'POST', path, caller.headers, { image, ...mounts, ...more });
  const id = String(made['id']);
  const isSettled = async (): Promise<string | null> => {
    const { status, error } = await done(platform, 'GET', `/api/containers/${id}${scopeOf(caller)}`, caller.headers);
    if (status === 'error') return JSON.stringify(error);
    return status === 'running' ? '' : null;
  };
  const waiting = { timeoutMs: 500 * MOST_SECONDS, intervalMs: 200, description: 'a sandbox' };
  const fault = await waitFor(isSettled, waiting);
  if (fault !== '') throw new Error(`the sandbox does not run: ${fault}`);
  return id;
}

async function createPublicSandbox(
  platform: WholePlatform,
  caller: Caller,
  { image }: SandboxMaterial,
): Promise<string> {
  const body = { templateID: image, timeout: 600, allow_internet_access: false };
  const made = await done(platform, 'POST', `/e2b/sandboxes${scopeOf(caller)}`, caller.headers, body);
  return `sbx_${String(made['sandboxID'])}`;
}

async function putLarge(platform: WholePlatform, path: string, { headers }: Caller): Promise<void> {
  const response = await fetch(`${platform.url}${path}`, {
    method: 'PUT',
    headers: { ...headers, 'content-type': 'application/octet-stream' },
    body: new Uint8Array(LARGE_BYTES),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
}

async function serveProgram(
  platform: WholePlatform,
  id: string,
  {
    steward,
    stewards,
    run,
  }: { steward: Caller; stewards: string; run: (id: string, command: string) => Promise<string> },
): Promise<void> {
  const path = `/api/containers/${id}/files${stewards}&path=/answer&mode=755`;
  const headers = { ...steward.headers, 'content-type': 'application/octet-stream' };
  const response = await fetch(`${platform.url}${path}`, { method: 'POST', headers, body: PROGRAM });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  const isListening = `netstat -ltn | grep -q ':${PORT} '`;
  await run(id, `(setsid nc -ll -p ${PORT} -e /answer > /dev/null 2>&1 &) ; until ${isListening}; do sleep 0.1; done`);
}

/** A tunnel with an API server behind it: a watch never ends, and neither does the output of an exec. */
async function connectCluster(
  { url, call }: WholePlatform,
  cluster: Record<string, unknown>,
  { headers, team }: Caller,
): Promise<PlayedKubernetes> {
  const ofTeam: Record<string, string> = team === null ? {} : { 'x-team-uuid': team };
  const ask = async (path: string): Promise<number> => (await call('GET', path, { ...headers, ...ofTeam })).status;
  const body = { metadata: { name: 'web-1' }, spec: { containers: [{ name: 'main' }] } };
  const { id, token } = cluster as { id: string; token: string }; // the shape is tested in the clusters module
  const answer = ({ pathname }: URL) => ({ body, endless: pathname.endsWith('/watch') });
  const exec: PlayedKubernetesOptions['exec'] = (socket) => {
    const timer = setInterval(() => socket.send(Buffer.from('\u0001tick')), 500);
    socket.once('close', () => clearInterval(timer));
  };
  return PlayedKubernetes.dial(url, { id, token }, { answer, exec }, ask);
}

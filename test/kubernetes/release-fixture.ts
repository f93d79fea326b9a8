import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { findCommand, findPostgresPrograms, startPostgres, temporaryFolder } from '@svc/testing';
import { CommandLine } from '../command-line/command-line.ts';
import { startEngine } from '../replicas/engine.ts';
import { PROJECT_ROOT } from '../system/running-platform.ts';
import { ensureHelm } from './binaries.ts';
import { runCommand } from './commands.ts';
import type { Kubernetes } from './index.ts';

const DNS_IMAGE = 'localhost/dnsmasq:1';
/** Of kubelet's configuration. */
const DNS_ADDRESS = '10.96.0.10';

/** What every release here has; `startBackends` adds addresses. */
const VALUES: readonly string[] = [
  'replicas=2',
  'masterKey.existingSecret=master',
  'database.existingSecret=database',
  'objectStore.engine=s3',
  'objectStore.s3.existingSecret=engine',
  'owner.existingSecret=owner',
  'persistence.enabled=false', // the cluster has no storage class
  'service.type=NodePort',
  'resources.requests.cpu=50m',
];

/** A namespace with everything that an operator prepares before two replicas of the platform are installed. */
export interface ReleaseFixture extends AsyncDisposable {
  readonly namespace: string;
  readonly ownerPassword: string;
  /** Values of the chart that name what is prepared. */
  readonly values: readonly string[];
  /** Runs a Helm command on the release `svc`; returns its standard output. */
  helm(command: string, ...rest: readonly string[]): Promise<string>;
  /** Address from this machine of a port of the release's service, which must be of the type NodePort. */
  addressOf(port: 'http' | 's3'): Promise<string>;
  /** Gives the pods of the cluster a name server that knows the release's service. */
  serveNames(): Promise<void>;
}

/** Ends what was started, last first. */
type Undo = (() => Promise<unknown>)[];

/** Prepares PostgreSQL, an S3 engine, the Secrets, and the platform's image on the node. */
export async function prepareRelease(kubernetes: Kubernetes): Promise<ReleaseFixture> {
  const undo: Undo = [];
  const dispose = async (): Promise<void> => {
    for (const each of undo.toReversed()) await each();
  };
  try {
    const folder = await temporaryFolder('svc-release-');
    undo.push(() => folder.remove());
    const backends = await startBackends(kubernetes, folder.path, undo);
    await importPlatform(kubernetes, folder.path);
    const namespace = `release-${randomBytes(4).toString('hex')}`;
    const ownerPassword = randomBytes(16).toString('hex');
    await createNamespace(kubernetes, namespace, { ...backends.secrets, owner: { password: ownerPassword } });
    undo.push(() => kubernetes.kubectl('delete', 'namespace', namespace, '--wait=false'));
    const helm = async (command: string, ...rest: readonly string[]): Promise<string> => {
      const args = [command, 'svc', ...rest, '--namespace', namespace];
      const env = { ...process.env, KUBECONFIG: kubernetes.kubeconfig, NO_PROXY: '*' };
      return (await runCommand(await ensureHelm(), args, { env })).stdout;
    };
    undo.push(() => helm('uninstall', '--ignore-not-found'));
    return {
      namespace,
      ownerPassword,
      values: [...backends.values, ...VALUES],
      helm,
      addressOf: async (port) => {
        const query = `jsonpath={.spec.ports[?(@.name=="${port}")].nodePort}`;
        const found = await kubernetes.kubectl('-n', namespace, 'get', 'service', 'svc', '-o', query);
        return `http://${await nodeAddress(kubernetes)}:${found}`;
      },
      serveNames: async () => {
        await serveNames(kubernetes, namespace);
        undo.push(() => kubernetes.kubectl('-n', namespace, 'delete', 'service,pod', 'names', '--now'));
      },
      [Symbol.asyncDispose]: dispose,
    };
  } catch (error) {
    await dispose();
    throw error;
  }
}

interface Backends {
  readonly values: readonly string[];
  /** Contents of Secrets by name. */
  readonly secrets: Readonly<Record<string, Readonly<Record<string, string>>>>;
}

async function startBackends(kubernetes: Kubernetes, folder: string, undo: Undo): Promise<Backends> {
  const programs = findPostgresPrograms();
  if (programs === null) throw new Error('needs PostgreSQL; install it with: apt-get install -y postgresql');
  const database = await startPostgres(programs, {
    environment: { PATH: process.env['PATH'] ?? '' },
    isRoot: process.getuid?.() === 0,
    signal: new AbortController().signal,
    logFile: join(folder, 'postgres.log'),
  });
  undo.push(() => database.stop());
  const { environment, [Symbol.asyncDispose]: stopEngine } = await startEngine();
  undo.push(async () => stopEngine());
  const given = (name: string): string => environment[`SVC_OBJECT_STORE_S3_${name}`] ?? '';
  const reachable = async (address: string): Promise<URL> => {
    const url = new URL(address);
    const host = kubernetes.hostAddress ?? '127.0.0.1';
    const entry = await forwardTo(host, Number(url.port));
    undo.push(() => closed(entry));
    url.host = `${host}:${(entry.address() as AddressInfo).port}`;
    return url;
  };
  return {
    values: [
      `objectStore.s3.endpoint=${(await reachable(given('ENDPOINT'))).origin}`,
      `objectStore.s3.bucket=${given('BUCKET')}`,
      `objectStore.s3.region=${given('REGION')}`,
    ],
    secrets: {
      master: { 'master-key': randomBytes(32).toString('hex') },
      database: { uri: (await reachable(database.url)).href },
      engine: { 'access-key-id': given('ACCESS_KEY_ID'), 'secret-access-key': given('SECRET_ACCESS_KEY') },
    },
  };
}

async function createNamespace(
  { kubectl }: Kubernetes,
  namespace: string,
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  const metadata = { name: namespace, labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } };
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata },
    ...Object.entries(secrets).map(([name, stringData]) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name, namespace },
      stringData,
    })),
  ];
  await kubectl.withInput(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-');
}

/** Builds the image as an operator does, and imports it. */
async function importPlatform(kubernetes: Kubernetes, folder: string): Promise<void> {
  const archive = join(folder, 'platform.tar');
  const environment = { HOME: folder };
  await new CommandLine(environment, PROJECT_ROOT).answer(['package', 'image', '--output', archive]);
  await kubernetes.importArchive(archive);
}

async function nodeAddress({ kubectl }: Kubernetes): Promise<string> {
  const query = 'jsonpath={.clusters[0].cluster.server}';
  return new URL(await kubectl('config', 'view', '--minify', '-o', query)).hostname;
}

/** dnsmasq at the address that kubelet gives to pods. */
async function serveNames({ kubectl, importImage }: Kubernetes, namespace: string): Promise<void> {
  const root = await programRoot('dnsmasq');
  try {
    await importImage(DNS_IMAGE, root, ['dnsmasq']);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  const service = await kubectl('-n', namespace, 'get', 'service', 'svc', '-o', 'jsonpath={.spec.clusterIP}');
  const flags = ['--keep-in-foreground', '--no-resolv', '--no-hosts', '--user=', '--port=5353', '--pid-file='];
  const name = `svc.${namespace}.svc.cluster.local`;
  const selector = { app: 'names' };
  const container = {
    name: 'names',
    image: DNS_IMAGE,
    imagePullPolicy: 'IfNotPresent',
    args: [...flags, `--address=/${name}/${service}`, '--local=/cluster.local/'],
    command: ['/usr/sbin/dnsmasq'],
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ['ALL'] },
      runAsNonRoot: true,
      runAsUser: 65532,
      seccompProfile: { type: 'RuntimeDefault' },
    },
  };
  const items = [
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'names', namespace, labels: selector },
      spec: { containers: [container] },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'names', namespace },
      spec: { clusterIP: DNS_ADDRESS, selector, ports: [{ name: 'dns', protocol: 'UDP', port: 53, targetPort: 5353 }] },
    },
  ];
  await kubectl.withInput(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }), 'apply', '-f', '-');
  await kubectl('-n', namespace, 'wait', 'pod/names', '--for=condition=Ready', '--timeout=120s');
}

/** A root folder with a program and the libraries that it loads. */
async function programRoot(program: string): Promise<string> {
  const path = findCommand(program);
  if (path === null) throw new Error(`${program} is missing`);
  const root = await mkdtemp(join(tmpdir(), 'svc-program-'));
  const { stdout } = await runCommand('ldd', [path]);
  const libraries = [...stdout.matchAll(/(\/\S+) \(0x/g)].map(([, file = '']) => file);
  for (const file of [path, ...libraries]) {
    await mkdir(join(root, dirname(file)), { recursive: true });
    await copyFile(file, join(root, file));
  }
  return root;
}

/** Pods reach the servers of a test, which listen on 127.0.0.1, through the address of the link to the cluster. */
async function forwardTo(host: string, port: number): Promise<Server> {
  const server = createServer((client) => {
    const target = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [client, target],
      [target, client],
    ] as const) {
      from.setNoDelay(true);
      from.on('error', () => to.destroy());
      from.once('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, host);
  await once(server, 'listening');
  return server;
}

function closed(server: Server): Promise<void> {
  return new Promise((resolve) => server.close(() => resolve()));
}

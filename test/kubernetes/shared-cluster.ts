import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { binariesFolder } from './binaries.ts';
import { runCommand } from './commands.ts';
import { packImage } from './images.ts';
import { registriesFolder } from './node.ts';
import { kubectlFor, type Kubectl } from './kubectl.ts';

/** Names the cluster shared by all test files of a run; set by `node test/kubernetes/main.ts share -- COMMAND`. */
export const SHARED_CLUSTER_VARIABLE = 'SVC_TEST_KUBERNETES';

/** What another process needs to use a cluster that runs on this machine: each start costs ten seconds and 400 MiB. */
export interface SharedCluster {
  readonly kubeconfig: string;
  readonly hostAddress: string;
  /** First process of the node's namespaces, from which images are imported. */
  readonly nodeProcess: number;
  readonly containerdSocket: string;
}

export function sharedCluster(): SharedCluster | null {
  const text = process.env[SHARED_CLUSTER_VARIABLE] ?? '';
  return text === '' ? null : (JSON.parse(text) as SharedCluster); // written by `main.ts share`
}

/** The cluster shared by the whole run. Each test uses its own namespaces and names; `stop` leaves it running. */
export function joinCluster(shared: SharedCluster): Kubernetes {
  const kubectl = join(binariesFolder(), 'kubectl');
  if (!existsSync(kubectl))
    throw new Error('the shared cluster has no kubectl; run: node test/kubernetes/main.ts build');
  return {
    kubeconfig: shared.kubeconfig,
    kubectl: kubectlFor(kubectl, shared.kubeconfig),
    hostAddress: shared.hostAddress,
    shared,
    importImage: (name, root, command, user) => bringIn(shared, name, root, command, user),
    importArchive: (file) => load(shared, file),
    stop: () => Promise.resolve(),
  };
}

/** Makes the node trust the authority (PEM file) of a registry, as an operator does. */
export async function trustRegistry(
  { containerdSocket }: SharedCluster,
  host: string,
  authority: string,
): Promise<void> {
  const folder = join(registriesFolder(dirname(containerdSocket)), host);
  await mkdir(folder, { recursive: true });
  const lines = [`server = "https://${host}"`, `[host."https://${host}"]`, `  ca = "${authority}"`];
  await writeFile(join(folder, 'hosts.toml'), `${lines.join('\n')}\n`);
}

async function bringIn(
  shared: SharedCluster,
  name: string,
  root: string,
  command: readonly string[],
  user?: string,
): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-image-'));
  try {
    const archive = await packImage(folder, name, root, { command, ...(user === undefined ? {} : { user }) });
    await load(shared, archive);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function load(shared: SharedCluster, archive: string): Promise<void> {
  const enter = ['--target', String(shared.nodeProcess), '--net', '--mount', '--pid', '--ipc', '--uts', '--'];
  const ctr = ['ctr', '-a', shared.containerdSocket, '-n', 'k8s.io', 'images', 'import', archive];
  await runCommand('nsenter', [...enter, ...ctr]);
}

export interface Kubernetes {
  readonly kubeconfig: string;
  readonly kubectl: Kubectl;
  /** Address of this machine as seen by pods; null if the cluster is external or has no pods. */
  readonly hostAddress: string | null;
  /** How other processes on this machine join; null without a node, or if the cluster is external. */
  readonly shared: SharedCluster | null;
  /** Builds an image from a folder on the node; pods use it with `imagePullPolicy: Never`. */
  importImage(name: string, root: string, command: readonly string[], user?: string): Promise<void>;
  /** Imports the images of an archive on the node under the names in the archive. */
  importArchive(file: string): Promise<void>;
  /** Ends and removes everything. An external cluster is left unchanged. */
  stop(): Promise<void>;
}

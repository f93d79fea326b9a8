import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binariesFolder } from './binaries.ts';
import { runCommand } from './commands.ts';
import { packImage } from './images.ts';
import { kubectlFor } from './kubectl.ts';
import type { Kubernetes } from './start.ts';

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

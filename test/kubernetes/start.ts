import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureBinaries } from './binaries.ts';
import { makeCertificates, writeKubeconfig, type Certificates } from './certificates.ts';
import { untilReady } from './commands.ts';
import { SERVICE_ADDRESS, startApiServer, startControllers, startEtcd, type ApiServerPlan } from './control-plane.ts';
import { assertRunning, startDaemon, type Daemon } from './daemon.ts';
import { kubectlFor } from './kubectl.ts';
import { startMetricsServer } from './metrics-server.ts';
import { createNamespace } from './namespace.ts';
import {
  NODE_ADDRESS,
  importArchive,
  importBaseImages,
  importImage,
  makeBridge,
  startContainerd,
  startKubelet,
  startProxy,
  type NodePlan,
} from './node.ts';
import { joinCluster, sharedCluster, type Kubernetes } from './shared-cluster.ts';
import { clusterPrograms, ensurePrograms } from './system-packages.ts';

export interface StartOptions {
  /** Folder for state and logs, created if missing and removed at the end; a temporary one by default. */
  dir?: string;
  /** Only etcd and the API server: no controllers, no pods. Needs no root. */
  apiOnly?: boolean;
  /** Also metrics.k8s.io, for `kubectl top` and autoscalers; not with `apiOnly`. */
  metrics?: boolean;
  /** A separate cluster even if the run shares one: for tests that change cluster-wide state. */
  alone?: boolean;
  say?: (line: string) => void;
}

/** Starts a real Kubernetes, or uses the one named by `KUBECONFIG_UNDER_TEST` or shared by this run. */
export async function startKubernetes(options: StartOptions = {}): Promise<Kubernetes> {
  const given = process.env['KUBECONFIG_UNDER_TEST'] ?? '';
  if (given !== '') return givenCluster(given);
  const say = options.say ?? (() => undefined);
  const apiOnly = options.apiOnly ?? false;
  const shared = apiOnly || options.alone === true || options.dir !== undefined ? null : sharedCluster();
  if (shared !== null) return joinCluster(shared);
  await ensurePrograms('Kubernetes', clusterPrograms(apiOnly));
  const binaries = await ensureBinaries(say);
  const folder = await stateFolder(options.dir);
  if (apiOnly) return startApiOnly(folder, binaries);
  return startNode(folder, binaries, options.metrics === true);
}

async function startApiOnly(folder: string, binaries: string): Promise<Kubernetes> {
  const [port, etcdPort, etcdPeerPort] = await Promise.all([freePort(), freePort(), freePort()]);
  const certificates = await makeCertificates(join(folder, 'certificates'), ['127.0.0.1', SERVICE_ADDRESS]);
  const plan = { folder, binaries, certificates, address: '127.0.0.1', port, etcdPort, etcdPeerPort };
  const daemons: Daemon[] = [];
  const stop = once(async () => {
    for (const daemon of daemons.toReversed()) await daemon.stop();
    await rm(folder, { recursive: true, force: true });
  });
  return guarded(stop, async () => {
    const start = (name: string, program: string, args: readonly string[]): Daemon =>
      startDaemon(folder, name, program, args);
    const kubeconfig = await bringUpApi(plan, start, daemons, certificates);
    return {
      kubeconfig,
      kubectl: kubectlFor(join(binaries, 'kubectl'), kubeconfig),
      hostAddress: null,
      shared: null,
      importImage: () => Promise.reject(new Error('this cluster has no node')),
      importArchive: () => Promise.reject(new Error('this cluster has no node')),
      stop,
    };
  });
}

async function startNode(folder: string, binaries: string, withMetrics: boolean): Promise<Kubernetes> {
  if (process.getuid?.() !== 0) throw new Error('a cluster with pods needs root; without it only apiOnly works');
  const namespace = await createNamespace();
  const daemons: Daemon[] = [];
  const stop = once(async () => {
    await namespace.destroy(); // ends all processes inside
    for (const daemon of daemons) await daemon.stop(0);
    await rm(folder, { recursive: true, force: true });
  });
  return guarded(stop, async () => {
    const addresses = ['127.0.0.1', SERVICE_ADDRESS, NODE_ADDRESS, namespace.nodeAddress];
    const certificates = await makeCertificates(join(folder, 'certificates'), addresses);
    await makeBridge(namespace);
    const start = (name: string, program: string, args: readonly string[]): Daemon =>
      namespace.start(folder, name, program, args);
    const plan: ApiServerPlan = {
      folder,
      binaries,
      certificates,
      address: '0.0.0.0',
      port: 6443,
      etcdPort: 2379,
      etcdPeerPort: 2380,
      advertiseAddress: NODE_ADDRESS,
    };
    const kubeconfig = await bringUpApi(plan, start, daemons, certificates, namespace.nodeAddress);
    const nodePlan = await nodePlanOf(plan, certificates, namespace);
    daemons.push(...startControllers(start, plan, nodePlan.adminKubeconfig));
    daemons.push(await startContainerd(nodePlan));
    await importBaseImages(nodePlan);
    const kubelet = await startKubelet(nodePlan);
    daemons.push(kubelet, startProxy(nodePlan));
    const kubectl = kubectlFor(join(binaries, 'kubectl'), kubeconfig);
    await untilReady('the node', 120_000, async () => {
      await assertRunning(kubelet);
      await kubectl('wait', '--for=condition=Ready', 'node/node-1', '--timeout=1s');
      await kubectl('get', 'serviceaccount', 'default'); // pods are refused until a controller has created it
    });
    if (withMetrics) daemons.push(await startMetricsServer(nodePlan, kubectl));
    return {
      kubeconfig,
      kubectl,
      hostAddress: namespace.hostAddress,
      shared: {
        kubeconfig,
        hostAddress: namespace.hostAddress,
        nodeProcess: namespace.firstProcess,
        containerdSocket: join(folder, 'containerd.sock'),
      },
      importImage: (name, root, command, user) => importImage(nodePlan, name, root, command, user),
      importArchive: (file) => importArchive(nodePlan, file),
      stop,
    };
  });
}

async function bringUpApi(
  plan: ApiServerPlan,
  start: (name: string, program: string, args: readonly string[]) => Daemon,
  daemons: Daemon[],
  certificates: Certificates,
  host = '127.0.0.1',
): Promise<string> {
  const kubeconfig = join(plan.folder, 'kubeconfig');
  await writeKubeconfig(kubeconfig, `https://${host}:${plan.port}`, certificates.authority, certificates.admin);
  daemons.push(startEtcd(start, plan));
  const apiServer = startApiServer(start, plan);
  daemons.push(apiServer);
  const kubectl = kubectlFor(join(plan.binaries, 'kubectl'), kubeconfig);
  await untilReady('the API server', 120_000, async () => {
    await assertRunning(apiServer);
    await kubectl('get', '--raw', '/readyz');
    await kubectl('get', 'namespace', 'default');
  });
  return kubeconfig;
}

/**
 * Inside the namespace the API server is at the bridge's address; the outside one leads through the pair of interfaces.
 */
async function nodePlanOf(
  plan: ApiServerPlan,
  certificates: Certificates,
  namespace: NodePlan['namespace'],
): Promise<NodePlan> {
  const server = `https://${NODE_ADDRESS}:${plan.port}`;
  const nodeKubeconfig = join(plan.folder, 'node.kubeconfig');
  const adminKubeconfig = join(plan.folder, 'inside.kubeconfig');
  await writeKubeconfig(nodeKubeconfig, server, certificates.authority, certificates.node);
  await writeKubeconfig(adminKubeconfig, server, certificates.authority, certificates.admin);
  return { folder: plan.folder, binaries: plan.binaries, certificates, namespace, nodeKubeconfig, adminKubeconfig };
}

async function givenCluster(kubeconfig: string): Promise<Kubernetes> {
  const built = join(await ensureBinaries(), 'kubectl');
  return {
    kubeconfig,
    kubectl: kubectlFor(existsSync(built) ? built : 'kubectl', kubeconfig),
    hostAddress: process.env['KUBERNETES_UNDER_TEST_HOST_ADDRESS'] ?? null,
    shared: null,
    importImage: () => Promise.reject(new Error('images cannot be given to a cluster from outside')),
    importArchive: () => Promise.reject(new Error('images cannot be given to a cluster from outside')),
    stop: () => Promise.resolve(),
  };
}

async function stateFolder(dir?: string): Promise<string> {
  if (dir === undefined) return realpath(await mkdtemp(join(tmpdir(), 'svc-kubernetes-')));
  await mkdir(dir, { recursive: true });
  return realpath(dir);
}

/** Stops what was started if a later step fails. */
async function guarded(stop: () => Promise<void>, start: () => Promise<Kubernetes>): Promise<Kubernetes> {
  try {
    return await start();
  } catch (error) {
    await stop();
    throw error;
  }
}

function once(action: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => (running ??= action());
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo; // a TCP listener's address is never a string
      server.close(() => resolve(port));
    });
  });
}

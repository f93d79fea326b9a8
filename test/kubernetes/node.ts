import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Certificates } from './certificates.ts';
import { untilReady } from './commands.ts';
import { assertRunning, type Daemon } from './daemon.ts';
import { makeBusyboxRoot, packImage } from './images.ts';
import type { NodeNamespace } from './namespace.ts';

export const POD_SUBNET = '10.244.0.0/24';
/** The node's own address: a kubelet rejects loopback and link-local ones. */
export const NODE_ADDRESS = '10.244.0.1';
const BRIDGE = 'pods0';

export interface NodePlan {
  folder: string;
  binaries: string;
  certificates: Certificates;
  namespace: NodeNamespace;
  /** Kubeconfig paths for the kubelet and kube-proxy. */
  nodeKubeconfig: string;
  adminKubeconfig: string;
}

/** Created before the API server starts, because pods use the bridge's address. */
export async function makeBridge(namespace: NodeNamespace): Promise<void> {
  await namespace.run('ip', ['link', 'add', BRIDGE, 'type', 'bridge']);
  await namespace.run('ip', ['addr', 'add', `${NODE_ADDRESS}/24`, 'dev', BRIDGE]);
  await namespace.run('ip', ['link', 'set', BRIDGE, 'up']);
}

/** Where containerd looks for the settings of a registry, at each pull: `HOST/hosts.toml`. */
export function registriesFolder(folder: string): string {
  return join(folder, 'registries');
}

export async function startContainerd(plan: NodePlan): Promise<Daemon> {
  const { folder } = plan;
  await mkdir(join(folder, 'cni'), { recursive: true });
  await writeFile(join(folder, 'cni', '10-pods.conflist'), JSON.stringify(networkOf(folder)));
  await writeFile(
    join(folder, 'containerd.toml'),
    `version = 2
root = "${folder}/containerd"
state = "${folder}/containerd-state"
disabled_plugins = ["io.containerd.internal.v1.opt", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.devmapper", "io.containerd.snapshotter.v1.zfs"]
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "localhost/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "${registriesFolder(folder)}"
`,
  );
  const daemon = plan.namespace.start(folder, 'containerd', 'containerd', [
    '--config',
    join(folder, 'containerd.toml'),
  ]);
  await untilReady('containerd', 30_000, async () => {
    await assertRunning(daemon);
    await plan.namespace.run('ctr', ['-a', join(folder, 'containerd.sock'), 'version']);
  });
  return daemon;
}

/** Imports the two images that every cluster has: the pause image, which holds a pod's namespaces, and a busybox. */
export async function importBaseImages(plan: NodePlan): Promise<void> {
  const root = await makeBusyboxRoot();
  try {
    await importImage(plan, 'localhost/pause:1', root, ['/bin/sleep', '2147483647']);
    await importImage(plan, 'localhost/busybox:1', root, ['/bin/sh']);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

export async function importImage(
  plan: NodePlan,
  name: string,
  root: string,
  command: readonly string[],
  user?: string,
): Promise<void> {
  const archive = await packImage(plan.folder, name, root, { command, ...(user === undefined ? {} : { user }) });
  await importArchive(plan, archive);
  await rm(archive);
}

/** Imports the images of an existing archive into containerd. */
export async function importArchive(plan: NodePlan, archive: string): Promise<void> {
  const socket = join(plan.folder, 'containerd.sock');
  await plan.namespace.run('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', archive]);
}

export async function startKubelet(plan: NodePlan): Promise<Daemon> {
  const { folder, namespace } = plan;
  await writeFile(join(folder, 'resolv.conf'), 'nameserver 10.96.0.10\n');
  await writeFile(join(folder, 'kubelet.yaml'), JSON.stringify(kubeletConfiguration(plan)));
  return namespace.start(folder, 'kubelet', join(plan.binaries, 'kubelet'), [
    `--config=${folder}/kubelet.yaml`,
    `--kubeconfig=${plan.nodeKubeconfig}`,
    '--hostname-override=node-1',
    `--root-dir=${folder}/kubelet`,
    `--cert-dir=${folder}/kubelet-certificates`,
    `--node-ip=${NODE_ADDRESS}`,
    '--runtime-cgroups=/',
    '--kubelet-cgroups=/',
  ]);
}

export function startProxy(plan: NodePlan): Daemon {
  return plan.namespace.start(plan.folder, 'kube-proxy', join(plan.binaries, 'kube-proxy'), [
    `--kubeconfig=${plan.adminKubeconfig}`,
    '--hostname-override=node-1',
    '--proxy-mode=iptables',
    // Pods share one bridge, so a reply would go straight to the calling pod and miss the address translation.
    '--masquerade-all=true',
    '--conntrack-max-per-core=0',
    `--cluster-cidr=${POD_SUBNET}`,
  ]);
}

function networkOf(folder: string): object {
  const addresses = { type: 'host-local', ranges: [[{ subnet: POD_SUBNET }]], routes: [{ dst: '0.0.0.0/0' }] };
  return {
    cniVersion: '0.4.0',
    name: 'pods',
    plugins: [
      {
        type: 'bridge',
        bridge: BRIDGE,
        isGateway: true,
        // Outside their subnet, pods appear as the node: this machine has no route to their addresses.
        ipMasq: true,
        hairpinMode: true,
        ipam: { ...addresses, dataDir: `${folder}/cni/addresses` },
      },
      { type: 'portmap', capabilities: { portMappings: true } },
    ],
  };
}

function kubeletConfiguration(plan: NodePlan): object {
  const { folder, namespace, certificates } = plan;
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    address: NODE_ADDRESS,
    healthzBindAddress: '127.0.0.1',
    authentication: {
      anonymous: { enabled: false },
      webhook: { enabled: true },
      x509: { clientCAFile: certificates.authority.certificate },
    },
    authorization: { mode: 'Webhook' },
    cgroupDriver: 'cgroupfs',
    cgroupRoot: namespace.cgroup,
    containerRuntimeEndpoint: `unix://${folder}/containerd.sock`,
    clusterDNS: ['10.96.0.10'],
    clusterDomain: 'cluster.local',
    resolvConf: `${folder}/resolv.conf`,
    podLogsDir: `${folder}/pod-logs`,
    volumePluginDir: `${folder}/volume-plugins`,
    failSwapOn: false,
    failCgroupV1: false,
    // A test machine's disk may be nearly full; never evict a pod for that.
    evictionHard: { 'memory.available': '50Mi', 'nodefs.available': '1%', 'imagefs.available': '1%' },
    imageGCHighThresholdPercent: 100,
    imageGCLowThresholdPercent: 99,
    containerLogMaxSize: '1Mi',
    syncFrequency: '10s',
  };
}

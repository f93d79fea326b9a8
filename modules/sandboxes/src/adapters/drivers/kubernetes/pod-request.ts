import type { KubeObject } from '@svc/kube';
import type { NetworkMode, SandboxSpec } from '../../../domain/driver.ts';
import { CAPABILITIES, HELPER_PATH } from '../local/oci-config.ts';
import { seccompProfile } from '../local/seccomp-profile.ts';
import {
  DISK_CONTAINER,
  DISK_VOLUME,
  HELPER_CONTAINER,
  NETWORK_LABEL,
  OWNER_LABEL,
  POD,
  podName,
  SANDBOX_CONTAINER,
  SANDBOX_LABEL,
  STATE_ANNOTATION,
} from './names.ts';

const HELPER_FOLDER = HELPER_PATH.slice(0, HELPER_PATH.lastIndexOf('/'));
const INSTALL_FOLDER = '/install';
/** Where the init container that fills the disk has it; and the part of it with the folders of the sandbox. */
const DISK_FOLDER = '/.sandbox-disk';
const FILES_FOLDER = 'files';
/** To give files of any owner to their owners. */
const FILL_CAPABILITIES = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_FSETID', 'CAP_SETFCAP'];
const HELPER_SIZE = '16Mi';
const MAX_SHARED_MIB = 1024;
/** The scheduler reserves a tenth of the CPU limit: sandboxes are mostly idle. */
const CPU_REQUEST_DIVISOR = 10;
/** The helper ends with its processes; a removed sandbox has nothing to save. */
const REMOVAL_GRACE_SECONDS = 1;
const KUBELET_PORT = 10_250;
/** Without these, the cluster deletes a pod, and with it its files, when its node is away for five minutes. */
const NODE_ABSENCE = ['not-ready', 'unreachable'].map((condition) => ({
  key: `node.kubernetes.io/${condition}`,
  operator: 'Exists',
  effect: 'NoExecute',
}));
/**
 * What the helper leaves to the programs of a sandbox: it compiles the filter on the node, whose architecture is not known
 * here. The container runtime's own profile applies too, and allows more.
 */
const LIMITS = JSON.stringify({ capabilities: CAPABILITIES, seccomp: seccompProfile('x64', 'arm64') });
/**
 * What only the runtime's own children have, until they apply the limits: it keeps the sandbox's programs from tracing
 * them. The Pod Security level `baseline` allows it, and the helper makes no devices.
 */
const MARK_OF_THE_RUNTIME = 'CAP_MKNOD';
/** Images may ask the runtime of a node with GPUs for all of them, those of other sandboxes included. */
const NO_GPUS = [{ name: 'NVIDIA_VISIBLE_DEVICES', value: 'void' }];
/** For a pod without a network, because a pod with its own resolvers must name one. */
const NO_NAMESERVER = '127.0.0.1';

export interface PodOptions {
  readonly owner: string;
  readonly namespace: string;
  /** OCI reference of the sandbox's image. */
  readonly image: string;
  /** OCI reference of an image that has the helper at `HELPER_PATH`. */
  readonly helperImage: string;
  /** Name of a Secret with the credentials of both images' registries. */
  readonly pullSecret: string | null;
  readonly runtimeClass: string | null;
  /** Whether root inside is another user outside (`hostUsers: false`). */
  readonly userNamespace: boolean;
  readonly nameservers: readonly string[];
}

export interface SandboxPodOptions extends PodOptions {
  /** Name of the Secret with the credentials of the platform's registry, if the sandbox's image is there; null if not. */
  readonly imageSecret: string | null;
  /** The cluster's extended resource for GPUs; null if sandboxes have none. */
  readonly gpuResource: string | null;
  /** What it is until it is started. */
  readonly state: 'filling' | 'stopped';
  /** Folders in the root that are on the claim of the sandbox; null: it has none, and the pod has its files. */
  readonly diskFolders: readonly string[] | null;
}

/**
 * The pod of a sandbox. Provides the local driver's isolation as far as a pod can: the helper is PID 1, brought in by
 * an init container and mounted read-only, it applies the limits of system calls and capabilities, and the network policies
 * select the pod by its labels. Folders on a claim are mounted over those of the image, because a pod may neither mount an
 * overlay nor change its root.
 */
export function sandboxPod(spec: SandboxSpec, options: SandboxPodOptions): KubeObject {
  const { owner, namespace, image, helperImage, gpuResource } = options;
  const { memoryMb } = spec.resources;
  const folders = options.diskFolders ?? [];
  const helper = { name: 'helper', mountPath: HELPER_FOLDER, readOnly: true };
  const disk = diskOf(spec, options, helper);
  return {
    ...POD,
    metadata: {
      name: podName(owner, spec.id),
      namespace,
      labels: { [OWNER_LABEL]: owner, [SANDBOX_LABEL]: spec.id, [NETWORK_LABEL]: spec.network },
      annotations: {
        [STATE_ANNOTATION]: options.state,
        // Its files are lost with the pod, or at least its processes.
        'cluster-autoscaler.kubernetes.io/safe-to-evict': 'false',
      },
    },
    spec: {
      ...podBase(options),
      ...dns(spec.network, options.nameservers),
      hostname: spec.hostname,
      tolerations: NODE_ABSENCE,
      initContainers: [
        {
          name: HELPER_CONTAINER,
          image: helperImage,
          command: [HELPER_PATH, 'install', `${INSTALL_FOLDER}/agent`, LIMITS],
          resources: smallResources(),
          securityContext: containerSecurity([]),
          volumeMounts: [{ name: 'helper', mountPath: INSTALL_FOLDER }],
        },
        ...disk.initContainers,
      ],
      containers: [
        {
          name: SANDBOX_CONTAINER,
          image,
          command: [HELPER_PATH, 'init', '--limited', ...folders],
          ...((spec.resources.gpus ?? 0) === 0 && { env: NO_GPUS }),
          resources: sandboxResources(spec, gpuResource),
          securityContext: containerSecurity([...CAPABILITIES, MARK_OF_THE_RUNTIME]),
          volumeMounts: [helper, { name: 'shared-memory', mountPath: '/dev/shm' }, ...disk.mounts],
        },
      ],
      volumes: [
        { name: 'helper', emptyDir: { sizeLimit: HELPER_SIZE } },
        // Its content counts against the sandbox's memory; when full, it must leave memory for processes.
        {
          name: 'shared-memory',
          emptyDir: { medium: 'Memory', sizeLimit: `${Math.min(Math.floor(memoryMb / 2), MAX_SHARED_MIB)}Mi` },
        },
        ...disk.volumes,
      ],
    },
  };
}

interface PodDisk {
  readonly initContainers: readonly object[];
  readonly mounts: readonly object[];
  readonly volumes: readonly object[];
}

/** The claim of a sandbox, which the helper fills in the sandbox's image, where it finds the files. */
function diskOf(spec: SandboxSpec, options: SandboxPodOptions, helper: object): PodDisk {
  const { owner, image, gpuResource, diskFolders } = options;
  if (diskFolders === null) return { initContainers: [], mounts: [], volumes: [] };
  const filler = {
    name: DISK_CONTAINER,
    image,
    command: [HELPER_PATH, 'fill', DISK_FOLDER, image, ...diskFolders],
    env: NO_GPUS,
    resources: sandboxResources(spec, gpuResource),
    securityContext: containerSecurity(FILL_CAPABILITIES),
    terminationMessagePolicy: 'FallbackToLogsOnError',
    volumeMounts: [helper, { name: DISK_VOLUME, mountPath: DISK_FOLDER }],
  };
  return {
    initContainers: [filler],
    mounts: diskFolders.map((name) => ({
      name: DISK_VOLUME,
      mountPath: `/${name}`,
      subPath: `${FILES_FOLDER}/${name}`,
    })),
    volumes: [{ name: DISK_VOLUME, persistentVolumeClaim: { claimName: podName(owner, spec.id) } }],
  };
}

function sandboxResources({ resources }: SandboxSpec, gpuResource: string | null): Readonly<Record<string, unknown>> {
  const { memoryMb, cpuMillis, diskMb, gpus = 0 } = resources;
  return {
    limits: {
      cpu: `${cpuMillis}m`,
      memory: `${memoryMb}Mi`,
      'ephemeral-storage': `${diskMb}Mi`,
      ...(gpuResource === null || gpus === 0 ? {} : { [gpuResource]: gpus }),
    },
    requests: {
      cpu: `${Math.ceil(cpuMillis / CPU_REQUEST_DIVISOR)}m`,
      memory: `${memoryMb}Mi`,
      'ephemeral-storage': HELPER_SIZE,
    },
  };
}

export type ProbeKind = 'open' | 'isolated';

export function probeName(owner: string, kind: ProbeKind): string {
  return `svc-sandbox-probe-${owner}-${kind}`;
}

/**
 * A pod that tries to reach the API server: `open` succeeds when it does, `isolated`, which the policies select,
 * succeeds when it reaches neither the API server nor the kubelet of its own node, which some plugins leave open.
 */
export function probePod(kind: ProbeKind, options: Omit<PodOptions, 'image'>, seconds: number): KubeObject {
  const { owner, namespace, helperImage } = options;
  // The kubelet expands them.
  const apiServer = '$(KUBERNETES_SERVICE_HOST):$(KUBERNETES_SERVICE_PORT)';
  const targets = kind === 'open' ? [apiServer] : [apiServer, `$(NODE_ADDRESS):${KUBELET_PORT}`];
  const wanted = kind === 'open' ? 'reached' : 'blocked';
  return {
    ...POD,
    metadata: {
      name: probeName(owner, kind),
      namespace,
      labels: { [OWNER_LABEL]: owner, ...(kind === 'isolated' ? { [NETWORK_LABEL]: 'none' } : {}) },
    },
    spec: {
      ...podBase({ ...options, runtimeClass: null, imageSecret: null }),
      ...dns('none', []),
      containers: [
        {
          name: 'probe',
          image: helperImage,
          command: [HELPER_PATH, 'probe', wanted, String(seconds), ...targets],
          env: [{ name: 'NODE_ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } }],
          resources: smallResources(),
          securityContext: containerSecurity([]),
        },
      ],
    },
  };
}

function podBase({
  runtimeClass,
  userNamespace,
  pullSecret,
  imageSecret,
}: Pick<SandboxPodOptions, 'runtimeClass' | 'userNamespace' | 'pullSecret' | 'imageSecret'>): Readonly<
  Record<string, unknown>
> {
  const secrets = [pullSecret, imageSecret].filter((name) => name !== null);
  return {
    ...(runtimeClass === null ? {} : { runtimeClassName: runtimeClass }),
    ...(userNamespace ? { hostUsers: false } : {}),
    ...(secrets.length === 0 ? {} : { imagePullSecrets: secrets.map((name) => ({ name })) }),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    // A container that starts again has an empty root: its files would be lost without an error.
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: REMOVAL_GRACE_SECONDS,
    securityContext: { runAsUser: 0, runAsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } },
  };
}

function containerSecurity(capabilities: readonly string[]): Readonly<Record<string, unknown>> {
  const add = capabilities.map((name) => name.replace(/^CAP_/, ''));
  return {
    privileged: false,
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'], ...(add.length === 0 ? {} : { add }) },
  };
}

function smallResources(): Readonly<Record<string, unknown>> {
  const amounts = { cpu: '50m', memory: '32Mi', 'ephemeral-storage': HELPER_SIZE };
  return { limits: amounts, requests: amounts };
}

/** The cluster's own resolver would tell a sandbox the names of the cluster's services. */
function dns(network: NetworkMode, nameservers: readonly string[]): Readonly<Record<string, unknown>> {
  const servers = network === 'egress' ? nameservers : [NO_NAMESERVER];
  return { dnsPolicy: 'None', dnsConfig: { nameservers: servers } };
}

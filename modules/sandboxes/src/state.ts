import { createDisabledModule, serviceStateFields, type Listener, type ServiceModule } from '@svc/http';
import { Type, type Static } from 'typebox';
import type { DriverStatus } from './domain/driver.ts';
import { sharesKernel, type IsolationPolicy } from './domain/isolation.ts';

const nullableText = Type.Union([Type.String(), Type.Null()]);

const warmImageSchema = Type.Object({
  image: Type.String(),
  ready: Type.Integer({ description: 'Sandboxes ready now' }),
  target: Type.Integer({ description: 'Sandboxes to keep ready' }),
  hits: Type.Integer({ description: 'Creates served from the pool since the start' }),
  misses: Type.Integer({ description: 'Creates that found the pool empty' }),
});

/** A workspace's sandboxes in the overview, with what this machine can run. */
export const sandboxesStateSchema = Type.Object({
  ...serviceStateFields,
  running: Type.Integer({ description: 'Running sandboxes, not counting paused ones' }),
  paused: Type.Integer(),
  total: Type.Integer(),
  limit: Type.Integer(),
  driver: nullableText,
  runtime: nullableText,
  isolations: Type.Array(Type.String(), { description: 'Isolations available here: namespaces, gvisor' }),
  isolation: Type.Union([Type.String(), Type.Null()], { description: 'Default isolation' }),
  isolation_reason: Type.Union([Type.String(), Type.Null()], {
    description:
      "Why a sandbox with the default isolation shares the host's kernel or cannot be created; null with gVisor",
  }),
  shares_kernel: Type.Union([Type.Boolean(), Type.Null()], {
    description: "Whether programs of such a sandbox run directly on the host's kernel; false with gVisor",
  }),
  missing_capabilities: Type.Array(Type.String(), {
    description:
      'Capabilities that this driver lacks, such as disk_limit, egress_allow, egress_rules, gpus, mounts, pause, snapshots, templates or volumes',
  }),
  platform_images_reason: Type.Union([Type.String(), Type.Null()], {
    description: 'Why nodes of Kubernetes cannot pull images from the platform; null if nothing speaks against it',
  }),
  warm_pool: Type.Array(warmImageSchema, {
    description: 'Ready sandboxes on the replica that responds, for each image in sandboxes.warm_pool',
  }),
});

export type SandboxesState = Static<typeof sandboxesStateSchema>;

type MachineState = Pick<
  SandboxesState,
  'enabled' | 'reason' | 'runtime' | 'isolations' | 'isolation' | 'isolation_reason' | 'shares_kernel'
>;

const NO_ISOLATION = { isolations: [], isolation: null, isolation_reason: null, shares_kernel: null };

/** What this machine can run. */
export function describeMachine(status: DriverStatus, isolation: IsolationPolicy): MachineState {
  if (!status.available) {
    const remedy = status.install === null ? '' : `; install with: ${status.install}`;
    return { enabled: false, reason: `${status.reason}${remedy}`, runtime: null, ...NO_ISOLATION };
  }
  const { runtime } = status.details;
  return {
    enabled: true,
    reason: null,
    runtime: typeof runtime === 'string' ? runtime : null,
    isolations: [...isolation.allowed()],
    isolation: isolation.default,
    isolation_reason: isolation.reason,
    shares_kernel: sharesKernel(isolation.default),
  };
}

/** The listener for SSH clients, which the platform opens. */
export interface SshPart {
  /** Null if it is off. */
  readonly ssh: Pick<Listener, 'announceClose' | 'close' | 'connectionCount' | 'listen'> | null;
}

/** The module if `services` in the configuration does not name it. */
export function createDisabledSandboxesModule(reason: string): ServiceModule<SandboxesState> & SshPart {
  const state = { running: 0, paused: 0, total: 0, limit: 0, driver: null, runtime: null, missing_capabilities: [] };
  return {
    ...createDisabledModule<SandboxesState>(
      { ...state, ...NO_ISOLATION, platform_images_reason: null, warm_pool: [] },
      reason,
    ),
    ssh: null,
  };
}

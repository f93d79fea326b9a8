import { createSandboxesModule, type DriverStatus, type SandboxesModule } from '@svc/sandboxes';
import { diskForRows } from '../disk-reserve.ts';
import type { ServiceStates } from '../http/status-routes.ts';
import { HELPER_FOLDER } from '../project-folders.ts';
import { replicaIdOf } from '../replica-id.ts';
import type { ServiceContext } from './service-context.ts';
import { countOf, type SandboxesService } from './service.ts';

export async function createSandboxesService(context: ServiceContext): Promise<SandboxesService> {
  const { config, log, metrics, access, audit, rights, folder, databases, endpoints } = context;
  const sandboxes = await createSandboxesModule({
    database: databases.main,
    access,
    audit,
    rights,
    quotaLimits: context.quotaLimits,
    log,
    metrics,
    config: config.sandboxes,
    dataFolder: folder.path,
    helperFolder: HELPER_FOLDER,
    clientOf: context.clientOf,
    publicUrl: () => endpoints.url,
    node: replicaIdOf(folder.path),
    disk: config.sandboxes.driver === 'local' ? context.disk : diskForRows(context),
  });
  return {
    name: 'sandboxes',
    registerRoutes: (app) => sandboxes.registerRoutes(app),
    registerUpgrades: (router) => sandboxes.registerUpgrades(router),
    handlePreview: (request, response) => sandboxes.handlePreview(request, response),
    start: (signal) => sandboxes.start(signal),
    close: () => sandboxes.close(),
    // If sandboxes cannot run, the rest of the platform still serves: the overview gives the reason, and readiness does
    // not fail.
    readiness: () => sandboxes.readiness().reason ?? 'ok',
    state: async (workspaceUuid) => ({
      ...describeDriver(sandboxes.status()),
      ...(await sandboxes.activeInWorkspace(workspaceUuid)),
      total: await sandboxes.countInWorkspace(workspaceUuid),
      limit: config.sandboxes.max_per_caller,
      driver: config.sandboxes.driver,
      ...describeIsolation(sandboxes),
      warm_pool: [...sandboxes.warmPool()],
    }),
    quotaUsage: (workspaceUuids) => sandboxes.quotaUsage(workspaceUuids),
    holdings: async (workspaceUuid) => countOf(await sandboxes.countInWorkspace(workspaceUuid), 'sandbox', 'sandboxes'),
  };
}

function describeDriver(status: DriverStatus): Pick<ServiceStates['sandboxes'], 'enabled' | 'reason' | 'runtime'> {
  if (!status.available) {
    const remedy = status.install === null ? '' : `; install with: ${status.install}`;
    return { enabled: false, reason: `${status.reason}${remedy}`, runtime: null };
  }
  const { runtime } = status.details;
  return { enabled: true, reason: null, runtime: typeof runtime === 'string' ? runtime : null };
}

function describeIsolation({
  status,
  isolation,
}: SandboxesModule): Pick<
  ServiceStates['sandboxes'],
  'isolations' | 'isolation' | 'isolation_reason' | 'shares_kernel'
> {
  if (!status().available) return { isolations: [], isolation: null, isolation_reason: null, shares_kernel: null };
  const { default: usual, reason, allowed } = isolation();
  return {
    isolations: [...allowed],
    isolation: usual,
    isolation_reason: reason,
    shares_kernel: usual !== 'gvisor',
  };
}

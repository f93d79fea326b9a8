import type { KeyObject } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { renderE2bError, useErrorRenderer, type HttpApp } from '@svc/http';
import type { CallerLimiter } from '../domain/admission.ts';
import type { ApiKeys } from '../domain/access/api-keys.ts';
import type { EventLog } from '../domain/events/event-log.ts';
import type { SandboxAccess } from '../domain/access/sandbox-access.ts';
import type { VolumeAccess } from '../domain/access/volume-access.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { CommandService } from '../domain/exec/command-service.ts';
import type { FileService } from '../domain/files/file-service.ts';
import type { ProcessService } from '../domain/processes/process-service.ts';
import type { MountService } from '../domain/mounts/mount-service.ts';
import type { ForkDeps } from '../domain/snapshots/fork.ts';
import type { ForkCopies } from '../domain/snapshots/fork-copies.ts';
import type { SecretService } from '../domain/secrets/secret-service.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { CreateDeps } from '../e2b/control/create-body.ts';
import { registerForkRoute } from '../e2b/control/fork-route.ts';
import { registerLifecycleRoutes } from '../e2b/control/lifecycle-routes.ts';
import { registerKeyRoutes } from '../e2b/control/key-routes.ts';
import { registerLogRoutes } from '../e2b/control/log-routes.ts';
import { registerTeamRoutes } from '../e2b/control/team-routes.ts';
import { registerOtherRoutes } from '../e2b/control/other-routes.ts';
import { registerNetworkRoute } from '../e2b/control/network-route.ts';
import { registerTemplateControl } from '../e2b/control/template-routes.ts';
import { registerSecretRoutes } from '../e2b/control/secret-routes.ts';
import { registerControlRoutes } from '../e2b/control/sandbox-routes.ts';
import { registerE2bVolumeRoutes } from '../e2b/control/volume-routes.ts';
import { registerUnsupported } from '../e2b/control/unsupported.ts';
import { EnvdAdmission } from '../e2b/envd/envd-admission.ts';
import { directToEnvd, directToPort } from '../e2b/envd/envd-host.ts';
import { registerComposeRoute } from '../e2b/envd/compose-route.ts';
import { registerFileTransfers } from '../e2b/envd/file-transfer-routes.ts';
import { createFilesystemRpc } from '../e2b/envd/filesystem-rpc.ts';
import { createProcessRpc } from '../e2b/envd/process-rpc.ts';
import { registerRpcRoutes } from '../e2b/envd/rpc-routes.ts';
import { registerStatusRoutes } from '../e2b/envd/status-routes.ts';
import { declareE2bRoutes } from '../e2b/declare-routes.ts';
import { Watchers } from '../e2b/envd/watchers.ts';
import { createVolumeAdmission } from '../e2b/volume-content/volume-admission.ts';
import { registerVolumeContent } from '../e2b/volume-content/volume-content-routes.ts';
import type { VolumeFileService } from '../domain/volumes/volume-file-service.ts';
import { acceptEmptyJson } from '../routes/json-body.ts';
import type { PortTraffic } from '../routes/preview/port-traffic.ts';
import { perMinute } from '../routes/per-minute.ts';
import type { MetricPart } from './metric-module.ts';

const CONTROL_PREFIX = '/e2b';
const ENVD_PREFIX = '/e2b/envd';
const SIGNATURES_PER_MINUTE = 1200;

/** The parts of the domain that the API is served from. */
export interface E2bRouteDeps extends Omit<CreateDeps, 'limitsEgress' | 'secretNames'> {
  readonly service: SandboxService;
  readonly files: FileService;
  readonly volumeFiles: VolumeFileService;
  readonly processes: ProcessService;
  readonly commands: CommandService;
  readonly usage: MetricPart;
  readonly secrets: SecretService;
  readonly mounts: MountService;
  readonly forkCopies: ForkCopies;
  readonly confirm: ForkDeps['confirm'];
  readonly events: { readonly log: EventLog };
  /** Counts creates through both APIs. */
  readonly createLimiter: CallerLimiter;
}

export interface E2bPart {
  registerRoutes(app: HttpApp, deps: E2bRouteDeps): Promise<void>;
  /**
   * Directs a request for the data plane's own host to its routes; returns false for any other. One whose headers name
   * another port gets the host of that port.
   */
  direct(request: IncomingMessage): boolean;
  close(): void;
}

export interface E2bPartOptions {
  readonly context: SandboxContext;
  readonly access: SandboxAccess;
  readonly volumeAccess: VolumeAccess;
  readonly keys: ApiKeys;
  readonly traffic: PortTraffic;
  /** Domain whose hosts name a port and a sandbox. */
  readonly domain: string;
  readonly publicUrl: () => string;
  /** Signs URLs for uploads. */
  readonly key: () => Promise<KeyObject>;
  /** URL for clients that require TLS. */
  readonly secureUrl: () => string;
}

/** Serves E2B clients from the same domain as the contract's own routes. */
export function createE2bPart({
  context,
  access,
  volumeAccess,
  keys,
  traffic,
  domain,
  secureUrl,
  publicUrl,
  key,
}: E2bPartOptions): E2bPart {
  const { clock, random, holder } = context;
  const hostDomain = (): string => {
    const { port } = new URL(secureUrl());
    return port === '' ? domain : `${domain}:${port}`;
  };
  const watchers = new Watchers(clock, () => random.uuid());
  return {
    async registerRoutes(app, deps) {
      const { service, files, processes, usage, secrets, volumes } = deps;
      const secretNames = async (workspaceUuid: string): Promise<ReadonlySet<string>> =>
        new Set((await secrets.list(workspaceUuid)).map(({ name }) => name));
      const admission = new EnvdAdmission({ service, access, holder, clock });
      await app.register(async (scope) => {
        useErrorRenderer(scope, renderE2bError);
        acceptEmptyJson(scope);
        scope.decorateRequest('envdSandbox', null);
        scope.decorateRequest('e2bVolume', null);
        declareE2bRoutes(scope);
        scope.addHook('onRequest', admission.refuseElsewhere);
        scope.addHook('preHandler', admission.wake);
        const limitsEgress = context.driver.limitsEgress === true;
        const addressed = { access, traffic, hostDomain, clock, context, clusters: context.clusterChoice };
        const control = { ...deps, ...addressed, limitsEgress, secretNames, prefix: CONTROL_PREFIX };
        registerControlRoutes(scope, control);
        registerLifecycleRoutes(scope, control);
        registerForkRoute(scope, control);
        registerNetworkRoute(scope, control);
        registerE2bVolumeRoutes(scope, { ...control, volumeAccess });
        const admit = createVolumeAdmission({ access: volumeAccess, volumes });
        await registerVolumeContent(scope, { prefix: CONTROL_PREFIX, admit, volumes, files: deps.volumeFiles });
        registerSecretRoutes(scope, control);
        registerKeyRoutes(scope, { prefix: CONTROL_PREFIX, keys });
        const eventLog = deps.events.log;
        registerLogRoutes(scope, { prefix: CONTROL_PREFIX, service, eventLog });
        registerTeamRoutes(scope, { prefix: CONTROL_PREFIX, clock, eventLog });
        registerOtherRoutes(scope, { ...control, sampler: usage.sampler, metrics: usage.store });
        const { uploads } = deps.templates;
        await registerTemplateControl(scope, { ...control, uploads, publicUrl, key });
        registerUnsupported(scope, CONTROL_PREFIX);
        registerStatusRoutes(scope, { prefix: ENVD_PREFIX, admission, sampler: usage.sampler });
        const services = [createProcessRpc({ processes, clock }), createFilesystemRpc({ files, watchers, clock })];
        await registerRpcRoutes(scope, { prefix: ENVD_PREFIX, admission, services });
        const signatureLimiter = perMinute(SIGNATURES_PER_MINUTE, clock);
        registerComposeRoute(scope, { prefix: ENVD_PREFIX, admission, files });
        await registerFileTransfers(scope, ENVD_PREFIX, { admission, files, access, clock, signatureLimiter });
      });
    },
    direct(request) {
      if (directToEnvd(request, domain, ENVD_PREFIX)) return true;
      directToPort(request, domain, ENVD_PREFIX);
      return false;
    },
    close: () => watchers.close(),
  };
}

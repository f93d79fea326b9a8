import { renderFlatError, useErrorRenderer, type HttpApp } from '@svc/http';
import { QuotaRates, trafficQuotas } from '@svc/quotas';
import type { Clock } from '@svc/runtime';
import type { SandboxesConfig } from '../config.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { IsolationPolicy } from '../domain/isolation.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import type { Tickets } from '../domain/tickets.ts';
import type { SandboxDriver } from '../domain/driver.ts';
import type { E2bPart } from './e2b-module.ts';
import type { ClusterPart } from './cluster-module.ts';
import type { RegistryPart } from './registry-module.ts';
import type { WebhookPart } from './webhook-module.ts';
import type { EventPart } from './event-module.ts';
import type { CommandService } from '../domain/exec/command-service.ts';
import type { ProcessService } from '../domain/processes/process-service.ts';
import type { FileService } from '../domain/files/file-service.ts';
import type { ImageCatalog } from '../domain/images/catalog.ts';
import type { ImageStore } from '../adapters/images/image-store.ts';
import type { MetricPart } from './metric-module.ts';
import { createCallerLimiter, perMinute } from '../routes/per-minute.ts';
import type { PreviewPart } from './preview-module.ts';
import type { SshListener } from '../ssh/ssh-listener.ts';
import type { SecretService } from '../domain/secrets/secret-service.ts';
import type { MountService } from '../domain/mounts/mount-service.ts';
import type { VolumeFileService } from '../domain/volumes/volume-file-service.ts';
import type { VolumeService } from '../domain/volumes/volume-service.ts';
import type { TemplateService } from '../domain/templates/template-service.ts';
import type { ForkDeps } from '../domain/snapshots/fork.ts';
import type { ForkCopies } from '../domain/snapshots/fork-copies.ts';
import type { SnapshotService } from '../domain/snapshots/snapshot-service.ts';
import { registerEgressRoute } from '../routes/egress-route.ts';
import { registerExecRoutes } from '../routes/exec-routes.ts';
import { registerFileReadRoutes } from '../routes/file-read-routes.ts';
import { registerFileRoutes, SANDBOX_FILES } from '../routes/file-routes.ts';
import { registerFileWriteRoutes } from '../routes/file-write-routes.ts';
import { registerImageRoutes } from '../routes/image-routes.ts';
import { ownSandboxRoutes, refuseElsewhere } from '../routes/holder-hook.ts';
import { acceptEmptyJson } from '../routes/json-body.ts';
import { registerEgressRuleRoutes } from '../routes/egress-rule-routes.ts';
import { registerProcessRoutes } from '../routes/process-routes.ts';
import { registerSandboxRoutes } from '../routes/sandbox-routes.ts';
import { registerSecretRoutes } from '../routes/secret-routes.ts';
import { registerSessionRoutes } from '../routes/session-routes.ts';
import { registerSnapshotMakingRoutes, registerSnapshotRoutes } from '../routes/snapshot-routes.ts';
import { registerSshRoutes } from '../routes/ssh-routes.ts';
import { registerTemplateRoutes } from '../routes/template-routes.ts';
import { registerTicketRoutes } from '../routes/ticket-routes.ts';
import { registerVolumeFileRoutes } from '../routes/volume-file-routes.ts';
import { registerVolumeRoutes } from '../routes/volume-routes.ts';
import { registerWebhookRoutes, WEBHOOK_ATTEMPTS_PER_MINUTE } from '../routes/webhook-routes.ts';
import { registerWatchRoutes, WatchCounts } from '../routes/watch-routes.ts';

/** Sandboxes are served under both names; `containers` is the older one. */
const PREFIXES = ['/api/containers', '/api/sandboxes'] as const;

export interface RouteDeps {
  readonly config: SandboxesConfig;
  readonly clock: Clock;
  /** How many replicas share the limits now. */
  readonly replicas: () => number;
  readonly context: SandboxContext;
  readonly isolation: IsolationPolicy;
  readonly driver: SandboxDriver;
  readonly catalog: ImageCatalog;
  readonly images: ImageStore;
  readonly service: SandboxService;
  readonly tickets: Tickets;
  readonly snapshots: SnapshotService;
  readonly templates: TemplateService;
  readonly secrets: SecretService;
  readonly volumes: VolumeService;
  readonly volumeFiles: VolumeFileService;
  readonly mounts: MountService;
  readonly forkCopies: ForkCopies;
  readonly confirm: ForkDeps['confirm'];
  readonly files: FileService;
  readonly commands: CommandService;
  readonly processes: ProcessService;
  readonly events: EventPart;
  readonly usage: MetricPart;
  readonly previews: PreviewPart;
  readonly ssh: SshListener | null;
  readonly e2b: E2bPart;
  readonly clusterPart: ClusterPart;
  readonly webhooks: WebhookPart;
  readonly registryPart: RegistryPart;
}

/** Registers every route of the module in its own scope, because errors use the shape of the sandbox contract. */
export async function registerRoutes(app: HttpApp, deps: RouteDeps): Promise<void> {
  const { config, clock, context, isolation, driver, catalog, images, service, snapshots, files } = deps;
  const { secrets, templates, volumes, mounts, clusterPart } = deps;
  const clusters = clusterPart.choice;
  const createLimiter = createCallerLimiter({
    perCaller: perMinute(config.max_creates_per_minute, clock, deps.replicas),
    quotaLimits: context.quotaLimits,
    quota: { rates: new QuotaRates(() => clock.nowMs()), of: trafficQuotas.creates_per_minute },
  });
  const watches = new WatchCounts();
  await app.register(async (scope) => {
    useErrorRenderer(scope, renderFlatError);
    acceptEmptyJson(scope);
    ownSandboxRoutes(scope, PREFIXES);
    refuseElsewhere(scope, PREFIXES, context.holder);
    const snapshotRoutes = {
      service,
      clusters,
      snapshots,
      volumes,
      mounts,
      forkCopies: deps.forkCopies,
      confirm: deps.confirm,
      config,
      createLimiter,
      images,
      now: () => clock.now(),
    };
    registerSnapshotRoutes(scope, snapshotRoutes);
    registerSecretRoutes(scope, secrets);
    clusterPart.registerRoutes(scope);
    registerVolumeRoutes(scope, { volumes, createLimiter });
    registerWebhookRoutes(scope, {
      webhooks: deps.webhooks.service,
      timeoutSeconds: config.webhooks.timeout_seconds,
      attemptLimiter: perMinute(WEBHOOK_ATTEMPTS_PER_MINUTE, clock, deps.replicas),
    });
    await registerTemplateRoutes(scope, { templates, config, createLimiter });
    await registerVolumeFileRoutes(scope, deps.volumeFiles);
    for (const prefix of PREFIXES) {
      const sandboxFiles = { prefix, files, owner: SANDBOX_FILES };
      registerSandboxRoutes(scope, { prefix, isolation, secrets, templates, ...snapshotRoutes });
      registerEgressRuleRoutes(scope, { prefix, context, service, secrets, images });
      registerSnapshotMakingRoutes(scope, { prefix, ...snapshotRoutes });
      registerTicketRoutes(scope, { prefix, service, tickets: deps.tickets });
      registerFileRoutes(scope, sandboxFiles);
      registerFileReadRoutes(scope, sandboxFiles);
      await registerFileWriteRoutes(scope, sandboxFiles);
      registerWatchRoutes(scope, { ...sandboxFiles, watches });
      registerSessionRoutes(scope, { prefix, service, live: context.live });
      registerProcessRoutes(scope, { prefix, processes: deps.processes });
      registerEgressRoute(scope, { prefix, service, images });
      registerExecRoutes(scope, { prefix, commands: deps.commands, clock });
    }
    deps.events.registerRoutes(scope, PREFIXES, service);
    deps.usage.registerRoutes(scope, PREFIXES, service);
    deps.previews.registerRoutes(scope, PREFIXES);
    registerImageRoutes(scope, { catalog, images, driver });
    registerSshRoutes(scope, { address: () => deps.ssh?.address ?? null });
  });
  await deps.registryPart.registerRoutes(app);
  await deps.e2b.registerRoutes(app, { ...deps, createLimiter });
}

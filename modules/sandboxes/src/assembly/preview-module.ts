import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access, HeldRights } from '@svc/access';
import type { ClientOfRequest, HttpApp, UpgradeRouter } from '@svc/http';
import type { Metrics } from '@svc/telemetry';
import type { Kysely } from 'kysely';
import type { SandboxContext } from '../domain/context.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { sandboxErrors } from '../errors.ts';
import { registerPortRoutes } from '../routes/port-routes.ts';
import { OpenPreviews } from '../domain/preview/open-previews.ts';
import { PreviewGateway } from '../routes/preview/preview-gateway.ts';
import { loadPreviewKey } from '../domain/preview/preview-key.ts';
import { PreviewLinks } from '../routes/preview/preview-links.ts';
import { createPreviewLinkRepository } from '../store/preview-link-repository.ts';
import type { SandboxTables } from '../store/tables.ts';

export interface PreviewPart {
  registerRoutes(app: HttpApp, prefixes: readonly string[]): void;
  registerUpgrades(router: UpgradeRouter): void;
  /** Handles requests for the preview domain or path before any other handler sees them. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  observe(metrics: Metrics): void;
  close(): void;
}

export interface PreviewPartOptions {
  readonly kysely: Kysely<SandboxTables>;
  readonly context: SandboxContext;
  readonly service: SandboxService;
  readonly access: Access;
  readonly rights: HeldRights;
  readonly clientOf: ClientOfRequest;
  /** Where the signing key is kept. */
  readonly folder: string;
  readonly domain: string;
  readonly publicUrl: () => string;
}

/** Creates preview links to sandbox ports and the gateway that serves them. */
export function createPreviewPart(options: PreviewPartOptions): PreviewPart {
  const { kysely, context, service, access, rights, clientOf, domain, publicUrl } = options;
  const { clock, random, live, log, holder } = context;
  let key: Promise<KeyObject> | null = null;
  const open = new OpenPreviews(clock);
  const links = new PreviewLinks({
    access,
    repository: createPreviewLinkRepository(kysely),
    key: () => (key ??= loadPreviewKey(options.folder, random.bytes)),
    clock,
    random,
    assertHere: async (id) => holder.assertHere(await service.byId(id)),
    revoked: (ids) => open.cutLinks(ids),
  });
  const gateway = new PreviewGateway({
    domain,
    links,
    open,
    access,
    rights,
    clientOf,
    reach: async (id) => {
      const sandbox = await service.byId(id);
      await holder.assertHere(sandbox);
      const { status } = sandbox;
      const connection = status === 'running' ? live.findConnection(id) : null;
      if (connection === null) throw sandboxErrors.SANDBOX_NOT_RUNNING({ details: { status } });
      return connection;
    },
    begin: (id) => live.begin(id, clock.nowMs()),
    publicUrl,
    clock,
    log,
  });
  return {
    registerRoutes(app, prefixes) {
      for (const prefix of prefixes) registerPortRoutes(app, { prefix, service, links, domain, publicUrl });
    },
    registerUpgrades: (router) => router.addFirst(gateway.upgrades),
    handle: (request, response) => gateway.handle(request, response),
    observe(metrics) {
      metrics.observableGauge('svc_sandbox_previews_open', 'Open connections to sandbox ports', () => open.size);
    },
    close: () => open.close(),
  };
}

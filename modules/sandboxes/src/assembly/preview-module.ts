import type { KeyObject } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access, HeldRights } from '@svc/access';
import type { ClientOfRequest, Forwarding, HttpApp, UpgradeRouter } from '@svc/http';
import type { Metrics } from '@svc/telemetry';
import type { Kysely } from 'kysely';
import type { SandboxAccess } from '../domain/access/sandbox-access.ts';
import type { SandboxContext } from '../domain/context.ts';
import type { Sandbox } from '../domain/sandbox.ts';
import type { SandboxService } from '../domain/sandbox-service.ts';
import { continueOnUse } from '../e2b/continue-sandbox.ts';
import { registerPortRoutes } from '../routes/port-routes.ts';
import { OpenPreviews } from '../domain/preview/open-previews.ts';
import { PortTraffic } from '../routes/preview/port-traffic.ts';
import { PreviewGateway } from '../routes/preview/preview-gateway.ts';
import { PreviewLinks } from '../routes/preview/preview-links.ts';
import { createPreviewLinkRepository } from '../store/preview-link-repository.ts';
import type { SandboxTables } from '../store/tables.ts';

export interface PreviewPart {
  registerRoutes(app: HttpApp, prefixes: readonly string[]): void;
  registerUpgrades(router: UpgradeRouter): void;
  /** Handles requests for the preview domain or path before any other handler sees them. */
  handle(request: IncomingMessage, response: ServerResponse): boolean;
  /** Access to ports without a link. */
  readonly traffic: PortTraffic;
  /** Open connections to sandbox ports. */
  readonly open: OpenPreviews;
  observe(metrics: Metrics): void;
  close(): void;
}

export interface PreviewPartOptions {
  readonly kysely: Kysely<SandboxTables>;
  readonly context: SandboxContext;
  readonly service: SandboxService;
  readonly access: Access;
  /** Tokens of sandboxes. */
  readonly sandboxAccess: SandboxAccess;
  readonly rights: HeldRights;
  readonly forwarding: Forwarding;
  readonly clientOf: ClientOfRequest;
  /** Loads the key that signs links. */
  readonly previewKey: () => Promise<KeyObject>;
  readonly domain: string;
  readonly publicUrl: () => string;
}

/** Creates preview links to sandbox ports and the gateway that serves them. */
export function createPreviewPart(options: PreviewPartOptions): PreviewPart {
  const { kysely, context, service, access, sandboxAccess, rights, forwarding, clientOf, domain, publicUrl } = options;
  const { clock, random, live, log, holder } = context;
  const open = new OpenPreviews(clock);
  const links = new PreviewLinks({
    access,
    repository: createPreviewLinkRepository(kysely),
    key: options.previewKey,
    clock,
    random,
    revoked: (ids) => open.cutLinks(ids),
  });
  const find = (id: string): Promise<Sandbox> => service.byId(id);
  const traffic = new PortTraffic({ links, sandboxAccess, access, find, clock });
  const gateway = new PreviewGateway({
    domain,
    links,
    traffic,
    open,
    access,
    rights,
    forwarding,
    clientOf,
    reach: async (id, hasLink, signal) => {
      const sandbox = await service.byId(id);
      await holder.assertHere(sandbox);
      const connection = await service.connectionTo(
        hasLink ? sandbox : await continueOnUse(service, clock, sandbox, signal),
      );
      return { connection, requestHost: sandbox.requestHost };
    },
    begin: (id) => live.begin(id, clock.nowMs()),
    publicUrl,
    clock,
    log,
  });
  return {
    traffic,
    registerRoutes(app, prefixes) {
      for (const prefix of prefixes) registerPortRoutes(app, { prefix, service, links, domain, publicUrl });
    },
    registerUpgrades: (router) => router.addFirst(gateway.upgrades),
    handle: (request, response) => gateway.handle(request, response),
    open,
    observe(metrics) {
      metrics.observableGauge('svc_sandbox_previews_open', 'Open connections to sandbox ports', () => open.size);
    },
    close: () => open.close(),
  };
}

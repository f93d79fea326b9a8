import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { storeErrors } from '../errors.ts';
import type { DomainRecord } from '../domain/ports/custom-domains.ts';
import { auditedHostname, envelopeSchema, hostnameIn, newDomainBody } from './domain-schemas.ts';
import { domainSchema, toDomainView, type DomainView } from './domain-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { teamQuery, workspaceParams } from './schemas.ts';

const TAGS = ['object store'];

const listQuery = Type.Object({
  team_uuid: Type.Optional(Type.String()),
  bucket: Type.Optional(Type.String({ minLength: 1, maxLength: 63 })),
});
const domainParams = Type.Object({
  workspace_uuid: Type.String({ format: 'uuid' }),
  hostname: Type.String({ minLength: 1, maxLength: 1_024 }),
});
const listSchema = Type.Object({ domains: Type.Array(domainSchema), count: Type.Integer() });
const removedSchema = Type.Object({ hostname: Type.String(), removed: Type.Literal(true) });

/** A workspace needs a store before it can have domains. */
export async function assertProvisioned({ services }: ManagementDeps, workspaceUuid: string): Promise<void> {
  if (!(await services.deps.metadata.isProvisioned({ workspaceUuid }))) throw storeErrors.TenantNotProvisioned();
}

export function describeDomain({ domains }: ManagementDeps, domain: DomainRecord): DomainView {
  return toDomainView(domain, domains.targetOf(domain.bucketId));
}

export function registerDomainRoutes(app: HttpApp, management: ManagementDeps): void {
  registerAllDomains(app, management);
  registerOneDomain(app, management);
}

function registerAllDomains(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;
  const domains = management.domains.service;

  app.get(
    '/domains',
    {
      config: { action: 'domain:list' },
      schema: {
        tags: TAGS,
        summary: 'List custom domains',
        params: workspaceParams,
        querystring: listQuery,
        response: { 200: envelopeSchema(listSchema) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      await assertProvisioned(management, workspaceUuid);
      const { bucket: name } = request.query;
      const bucket = name === undefined ? null : await services.buckets.getOwn(name, workspaceUuid);
      const found = await domains.list(workspaceUuid, bucket);
      const views = found.map((domain) => describeDomain(management, domain));
      return envelope('Custom domains', { domains: views, count: views.length });
    },
  );

  app.post(
    '/domains',
    {
      config: { action: 'domain:create', auditResource: (request) => auditedHostname(request.body) },
      schema: {
        tags: TAGS,
        summary: 'Register a custom domain on a bucket',
        params: workspaceParams,
        querystring: teamQuery,
        body: newDomainBody,
        response: { 200: envelopeSchema(domainSchema), 201: envelopeSchema(domainSchema) },
      },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      await assertProvisioned(management, workspaceUuid);
      const bucket = await services.buckets.getOwn(request.body.bucket, workspaceUuid);
      const { domain, created } = await domains.register(bucket, hostnameIn(request.body));
      return reply
        .status(created ? 201 : 200)
        .send(envelope('Custom domain registered', describeDomain(management, domain)));
    },
  );
}

function registerOneDomain(app: HttpApp, management: ManagementDeps): void {
  const domains = management.domains.service;

  app.get(
    '/domains/:hostname/status',
    {
      config: { action: 'domain:list' },
      schema: {
        tags: TAGS,
        summary: 'Check the DNS of a custom domain now, at most once every 10 seconds, and return its status',
        params: domainParams,
        querystring: teamQuery,
        response: { 200: envelopeSchema(domainSchema) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      await assertProvisioned(management, workspaceUuid);
      const domain = await domains.check(request.params.hostname, workspaceUuid);
      return envelope('Custom domain', describeDomain(management, domain));
    },
  );

  app.delete(
    '/domains/:hostname',
    {
      config: { action: 'domain:delete', auditResource: (request) => auditedHostname(request.params) },
      schema: {
        tags: TAGS,
        summary: 'Remove a custom domain; takes effect immediately',
        params: domainParams,
        querystring: teamQuery,
        response: { 200: envelopeSchema(removedSchema) },
      },
    },
    async (request) => {
      const { workspaceUuid } = grantOf(request);
      await assertProvisioned(management, workspaceUuid);
      const { hostname } = await domains.find(request.params.hostname, workspaceUuid);
      await domains.remove(hostname, workspaceUuid);
      return envelope('Custom domain removed', { hostname, removed: true as const });
    },
  );
}

import type { Grant } from '@svc/access';
import { grantOf, type HttpApp } from '@svc/http';
import { Type } from 'typebox';
import { storeErrors } from '../errors.ts';
import type { BucketRecord } from '../domain/ports/records.ts';
import { assertProvisioned, describeDomain } from './domain-routes.ts';
import { auditedHostname, envelopeSchema, hostnameBody, hostnameIn } from './domain-schemas.ts';
import { bucketDomainsSchema, domainSchema } from './domain-view.ts';
import { envelope } from './envelope.ts';
import type { ManagementDeps } from './management-deps.ts';
import { bucketParams, teamQuery } from './schemas.ts';

const TAGS = ['object store'];

const removeQuery = Type.Object({
  team_uuid: Type.Optional(Type.String()),
  hostname: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1_024,
      description: 'Domain to remove; default: all domains of the bucket',
    }),
  ),
});
const removedSchema = Type.Object({ bucket: Type.String(), removed: Type.Array(Type.String()) });

/** The registrations of `/domains`, seen from the bucket. */
export function registerBucketDomainRoutes(app: HttpApp, management: ManagementDeps): void {
  const { services } = management;
  const domains = management.domains.service;
  const findBucket = async (name: string, { workspaceUuid }: Grant): Promise<BucketRecord> => {
    await assertProvisioned(management, workspaceUuid);
    return await services.buckets.getOwn(name, workspaceUuid);
  };

  app.get(
    '/buckets/:name/custom-domain',
    {
      config: { action: 'domain:list' },
      schema: {
        tags: TAGS,
        summary: 'List the custom domains of a bucket and their CNAME target',
        params: bucketParams,
        querystring: teamQuery,
        response: { 200: envelopeSchema(bucketDomainsSchema) },
      },
    },
    async (request) => {
      const bucket = await findBucket(request.params.name, grantOf(request));
      const found = await domains.list(bucket.workspaceUuid, bucket);
      const views = found.map((domain) => describeDomain(management, domain));
      const target = { bucket: bucket.name, cname_target: management.domains.targetOf(bucket.id) };
      return envelope('Custom domains', { ...target, ...views[0], domains: views, count: views.length });
    },
  );

  for (const [method, replaceOthers, summary] of [
    ['PUT', true, 'Replace the custom domains of a bucket with one hostname'],
    ['POST', false, 'Add a custom domain to a bucket'],
  ] as const) {
    app.route({
      method,
      url: '/buckets/:name/custom-domain',
      config: { action: 'domain:create', auditResource: (request) => auditedHostname(request.body) },
      schema: {
        tags: TAGS,
        summary,
        params: bucketParams,
        querystring: teamQuery,
        body: hostnameBody,
        response: { 200: envelopeSchema(domainSchema), 201: envelopeSchema(domainSchema) },
      },
      handler: async (request, reply) => {
        const bucket = await findBucket(request.params.name, grantOf(request));
        const { domain, created } = await domains.register(bucket, hostnameIn(request.body), { replaceOthers });
        return reply
          .status(created ? 201 : 200)
          .send(envelope('Custom domain registered', describeDomain(management, domain)));
      },
    });
  }

  app.delete(
    '/buckets/:name/custom-domain',
    {
      config: { action: 'domain:delete' },
      schema: {
        tags: TAGS,
        summary: 'Remove the custom domains of a bucket; takes effect immediately',
        params: bucketParams,
        querystring: removeQuery,
        response: { 200: envelopeSchema(removedSchema) },
      },
    },
    async (request) => {
      const bucket = await findBucket(request.params.name, grantOf(request));
      const { hostname } = request.query;
      const wanted =
        hostname === undefined
          ? await domains.list(bucket.workspaceUuid, bucket)
          : [await domains.find(hostname, bucket.workspaceUuid)];
      const removed: string[] = [];
      for (const domain of wanted) {
        if (domain.bucketId !== bucket.id) continue;
        await domains.remove(domain.hostname, bucket.workspaceUuid);
        removed.push(domain.hostname);
      }
      if (removed.length === 0) throw storeErrors.NoSuchDomain({ details: { resource: hostname ?? bucket.name } });
      return envelope('Custom domains removed', { bucket: bucket.name, removed });
    },
  );
}

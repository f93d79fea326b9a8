import { grantedAccessOf, grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { VolumeAccess } from '../../domain/access/volume-access.ts';
import { NAME_PATTERN } from '../../domain/identifiers.ts';
import type { Volume } from '../../domain/volumes/volume.ts';
import { creatorFields } from '../../routes/create-request.ts';
import { newSandbox } from '../../routes/new-sandbox.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';

const PAGE_SIZE = 200;

export interface E2bVolumeDeps extends Pick<ControlDeps, 'prefix' | 'volumes' | 'createLimiter'> {
  readonly volumeAccess: VolumeAccess;
}

/** Volumes, with a token for their content. */
export function registerE2bVolumeRoutes(app: HttpApp, deps: E2bVolumeDeps): void {
  const { prefix, volumes, createLimiter } = deps;
  app.get(`${prefix}/volumes`, { config: { action: 'volume:list' }, schema: { hide: true } }, async (request) => {
    const { workspaceUuid } = grantOf(request);
    const found: Volume[] = [];
    // Clients expect the whole list; the quota bounds it.
    for (let cursor: string | null = null; ;) {
      const page = await volumes.list(workspaceUuid, { kind: 'volume', pageSize: PAGE_SIZE, cursor });
      found.push(...page.volumes);
      cursor = page.nextCursor;
      if (cursor === null) return found.map(({ id, name }) => ({ volumeID: id, name }));
    }
  });

  const body = Type.Object({ name: Type.String({ pattern: NAME_PATTERN }) });
  app.post(
    `${prefix}/volumes`,
    {
      config: { action: 'volume:create', ownedByBody: (request) => newSandbox(request, null) },
      schema: { hide: true, body },
    },
    async (request, reply) => {
      const principal = principalOf(request);
      await createLimiter.admit(principal, grantOf(request).workspaceUuid);
      const { workspaceUuid } = grantOf(request);
      const wanted = { workspaceUuid, maker: creatorFields(principal), name: request.body.name };
      const made = await volumes.create({ ...wanted, sizeMb: null, source: null });
      return reply.status(201).send(await render(made, request, deps));
    },
  );

  app.get(
    `${prefix}/volumes/:id`,
    { config: { action: 'volume:list' }, schema: { hide: true, params: e2bIdParams } },
    async (request) => render(await volumes.getById(grantOf(request).workspaceUuid, request.params.id), request, deps),
  );

  app.delete(
    `${prefix}/volumes/:id`,
    { config: { action: 'volume:delete' }, schema: { hide: true, params: e2bIdParams } },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { name } = await volumes.getById(workspaceUuid, request.params.id);
      await volumes.remove(workspaceUuid, name);
      return reply.status(204).send();
    },
  );
}

async function render({ id, name }: Volume, request: FastifyRequest, { volumeAccess }: E2bVolumeDeps) {
  return { volumeID: id, name, token: await volumeAccess.issue(id, grantedAccessOf(request)) };
}

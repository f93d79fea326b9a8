import { grantedAccessOf, grantOf, principalOf, type HttpApp, type Owned } from '@svc/http';
import type { Clock } from '@svc/runtime';
import type { CallerLimiter } from '../../domain/admission.ts';
import type { FastifyRequest } from 'fastify';
import { Type, type Static } from 'typebox';
import type { ClusterChoice } from '../../domain/clusters/choose-cluster.ts';
import type { SandboxContext } from '../../domain/context.ts';
import type { MountService } from '../../domain/mounts/mount-service.ts';
import type { CommandService } from '../../domain/exec/command-service.ts';
import type { FileService } from '../../domain/files/file-service.ts';
import type { SandboxPhase } from '../../domain/ports.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { ForkDeps } from '../../domain/snapshots/fork.ts';
import type { ForkCopies } from '../../domain/snapshots/fork-copies.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import { sandboxErrors } from '../../errors.ts';
import { newSandbox } from '../../routes/new-sandbox.ts';
import { goneSignal } from '../../routes/request-signal.ts';
import { addressOf, type AddressDeps } from './address.ts';
import { awaitReady } from './await-ready.ts';
import {
  createSandboxSchema,
  findImage,
  sourceOf,
  toDomainRequest,
  type CreateDeps,
  type CreateSandbox,
} from './create-body.ts';
import { listOfTexts, textsOf } from './query-lists.ts';
import { toDetailView, toListedView } from './sandbox-view.ts';
import { DEFAULT_USER } from '../envd/users.ts';
import { findAny, findSandbox, isExpired } from './sandbox-finder.ts';

const CREATE_WAIT_MS = 60_000;
const MAX_PAGE_SIZE = 100;
const FIRST_PAGE_SIZE = 200;

export interface ControlDeps extends CreateDeps, AddressDeps {
  /** `/e2b` */
  readonly prefix: string;
  readonly service: SandboxService;
  readonly clusters: Pick<ClusterChoice, 'choose'>;
  readonly files: FileService;
  readonly commands: CommandService;
  readonly mounts: MountService;
  readonly forkCopies: ForkCopies;
  readonly confirm: ForkDeps['confirm'];
  readonly clock: Clock;
  readonly context: SandboxContext;
  readonly createLimiter: CallerLimiter;
}

export const e2bIdParams = Type.Object({ id: Type.String({ maxLength: 100 }) });

export function registerControlRoutes(app: HttpApp, deps: ControlDeps): void {
  registerCreate(app, deps);
  registerLists(app, deps);
  registerSingle(app, deps);
}

function registerCreate(app: HttpApp, deps: ControlDeps): void {
  const { prefix, service, createLimiter } = deps;
  for (const path of ['/sandboxes', '/v2/sandboxes']) {
    app.post(
      `${prefix}${path}`,
      {
        config: { action: 'sandbox:create', ownedByBody: newlyOwned },
        schema: { hide: true, body: createSandboxSchema },
      },
      async (request, reply) => {
        const principal = principalOf(request);
        await createLimiter.admit(principal, grantOf(request).workspaceUuid);
        const grant = grantOf(request);
        const wanted = await toDomainRequest(request.body, principal, grant, deps);
        const sandbox = await service.create(wanted, CREATE_WAIT_MS, goneSignal(reply));
        if (sandbox.status === 'error') {
          await service.remove(grant.workspaceUuid, sandbox.id); // the client never learns its id
          const reason = sandbox.fault?.message ?? 'it did not start';
          throw sandboxErrors.RUNTIME_FAILED({ details: { reason } });
        }
        await complete(deps, request, sandbox);
        await awaitReady(deps, sandbox, goneSignal(reply));
        return reply.status(201).send(await addressOf(deps, request, sandbox));
      },
    );
  }
}

function newlyOwned(request: FastifyRequest): Owned {
  return newSandbox(request, sourceOf(request.body as CreateSandbox)); // validated
}

/** A sandbox that cannot be completed is removed: the client never learns its id. */
async function complete(
  { service, files, traffic }: ControlDeps,
  request: FastifyRequest<{ Body: Static<typeof createSandboxSchema> }>,
  sandbox: Sandbox,
): Promise<void> {
  const { id, workspaceUuid, status } = sandbox;
  try {
    if (status === 'running') await (await files.of(workspaceUuid, id)).ensureUser(DEFAULT_USER);
    if (request.body.network?.allowPublicTraffic === false) return;
    const { id: ownerId, expiresAt: notAfter } = principalOf(request);
    await traffic.publish(sandbox, { ownerId, granted: grantedAccessOf(request), notAfter });
  } catch (error) {
    await service.remove(workspaceUuid, id);
    throw error;
  }
}

const listQuery = Type.Object({
  metadata: Type.Optional(Type.String({ maxLength: 16_384 })),
  state: Type.Optional(listOfTexts),
  template: Type.Optional(Type.String({ maxLength: 256 })),
  startedAfter: Type.Optional(Type.String({ format: 'date-time' })),
  order: Type.Optional(Type.Union([Type.Literal('asc'), Type.Literal('desc')])),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_PAGE_SIZE })),
  nextToken: Type.Optional(Type.String({ maxLength: 200 })),
});

function registerLists(app: HttpApp, { prefix, service, clock, catalog }: ControlDeps): void {
  app.get(
    `${prefix}/sandboxes`,
    { config: { action: 'sandbox:list' }, schema: { hide: true, querystring: listQuery } },
    async (request) => {
      const now = clock.now();
      const page = await service.list(grantOf(request).workspaceUuid, {
        phases: ['active'],
        labels: parseMetadata(request.query.metadata),
        asOf: now.toISOString(),
        pageSize: FIRST_PAGE_SIZE,
        cursor: null,
      });
      return page.sandboxes.map((sandbox) => toListedView(sandbox, now));
    },
  );
  app.get(
    `${prefix}/v2/sandboxes`,
    { config: { action: 'sandbox:list' }, schema: { hide: true, querystring: listQuery } },
    async (request, reply) => {
      const now = clock.now();
      const { metadata, state, template, startedAfter, order, limit, nextToken } = request.query;
      const page = await service.list(grantOf(request).workspaceUuid, {
        phases: parseStates(state),
        labels: parseMetadata(metadata),
        image: template === undefined ? undefined : (findImage(template, catalog) ?? template),
        startedSince: startedAfter === undefined ? undefined : new Date(startedAfter).toISOString(),
        asOf: now.toISOString(),
        oldestFirst: order === 'asc',
        pageSize: limit ?? MAX_PAGE_SIZE,
        cursor: nextToken ?? null,
      });
      if (page.nextCursor !== null) reply.header('x-next-token', page.nextCursor);
      return page.sandboxes.map((sandbox) => toListedView(sandbox, now));
    },
  );
}

function registerSingle(app: HttpApp, { prefix, service, access, clock, hostDomain }: ControlDeps): void {
  const path = `${prefix}/sandboxes/:id`;
  const schema = { hide: true, params: e2bIdParams };
  app.get(path, { config: { action: 'sandbox:read', anyNode: true }, schema }, async (request) => {
    const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
    const token = await access.issue(sandbox.id, grantedAccessOf(request));
    return toDetailView(sandbox, token, hostDomain(), clock.now());
  });
  app.delete(path, { config: { action: 'sandbox:delete', anyNode: true }, schema }, async (request, reply) => {
    const { workspaceUuid } = grantOf(request);
    const sandbox = await findAny(service, workspaceUuid, request.params.id); // a failed one, too
    await service.remove(workspaceUuid, sandbox.id);
    if (isExpired(sandbox, clock.now()) && sandbox.onExpiry === 'delete') throw sandboxErrors.SANDBOX_NOT_FOUND();
    return reply.status(204).send();
  });
}

/** Both by default. */
function parseStates(state: Static<typeof listOfTexts> = ['running', 'paused']): SandboxPhase[] {
  return textsOf(state).map((name) => {
    if (name === 'running') return 'active';
    if (name === 'paused') return 'suspended';
    throw sandboxErrors.INVALID_FIELD({ details: { field: 'state', reason: 'is neither running nor paused' } });
  });
}

/** `key=value` pairs as in a query, each part encoded once more. */
function parseMetadata(metadata: string | undefined): Record<string, string> {
  const labels: Record<string, string> = {};
  for (const [key, value] of new URLSearchParams(metadata ?? '')) {
    try {
      labels[decodeURIComponent(key)] = decodeURIComponent(value);
    } catch (cause) {
      throw sandboxErrors.INVALID_FIELD({ details: { field: 'metadata', reason: 'is not encoded as UTF-8' }, cause });
    }
  }
  return labels;
}

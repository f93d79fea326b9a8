import { grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Sandbox } from '../../domain/sandbox.ts';
import { sandboxErrors } from '../../errors.ts';
import { expiryIn } from '../../routes/create-request.ts';
import { goneSignal } from '../../routes/request-signal.ts';
import { continueSandbox } from '../continue-sandbox.ts';
import { addressOf } from './address.ts';
import { DEFAULT_TIMEOUT_SECONDS, timeoutSchema } from './create-body.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';
import { findSandbox, isSuspended } from './sandbox-finder.ts';

const DEFAULT_REFRESH_SECONDS = 60;

const timeoutBody = Type.Object({ timeout: timeoutSchema });
const optionalBody = Type.Optional(
  Type.Union([
    Type.Object({ timeout: Type.Optional(timeoutSchema), memory: Type.Optional(Type.Boolean()) }),
    Type.Null(),
  ]),
);
const refreshBody = Type.Optional(
  Type.Union([Type.Object({ duration: Type.Optional(Type.Integer({ minimum: 0, maximum: 3600 })) }), Type.Null()]),
);

/** Timeouts, pausing and connecting. */
export function registerLifecycleRoutes(app: HttpApp, deps: ControlDeps): void {
  registerTimeouts(app, deps);
  registerPause(app, deps);
  registerConnects(app, deps);
}

function registerTimeouts(app: HttpApp, deps: ControlDeps): void {
  const { prefix, service, clock } = deps;
  app.post(
    `${prefix}/sandboxes/:id/timeout`,
    {
      config: { action: 'sandbox:update', anyNode: true },
      schema: { hide: true, params: e2bIdParams, body: timeoutBody },
    },
    async (request, reply) => {
      const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
      if (!isSuspended(sandbox, clock.now())) await expireIn(deps, request, sandbox, request.body.timeout);
      return reply.status(204).send();
    },
  );
  app.post(
    `${prefix}/sandboxes/:id/refreshes`,
    {
      config: { action: 'sandbox:update', anyNode: true },
      schema: { hide: true, params: e2bIdParams, body: refreshBody },
    },
    async (request, reply) => {
      const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
      await extend(deps, request, sandbox, request.body?.duration ?? DEFAULT_REFRESH_SECONDS);
      return reply.status(204).send();
    },
  );
}

function registerPause(app: HttpApp, { prefix, service, clock }: ControlDeps): void {
  app.post(
    `${prefix}/sandboxes/:id/pause`,
    {
      config: { action: 'sandbox:update', answersLate: true },
      schema: { hide: true, params: e2bIdParams, body: optionalBody },
    },
    async (request, reply) => {
      const { workspaceUuid } = grantOf(request);
      const { id, ...sandbox } = await findSandbox(service, clock, workspaceUuid, request.params.id);
      if (isSuspended({ id, ...sandbox }, clock.now())) throw sandboxErrors.SANDBOX_ALREADY_PAUSED();
      const keepsMemory = request.body?.memory ?? true;
      await (keepsMemory ? service.pause(workspaceUuid, id) : service.stop(workspaceUuid, id));
      // Its time stands still until it is connected again; a guest's sandbox expires nevertheless.
      if (principalOf(request).kind !== 'guest') await service.change(workspaceUuid, id, { expiresAt: null });
      return reply.status(204).send();
    },
  );
}

function registerConnects(app: HttpApp, deps: ControlDeps): void {
  const { prefix, service, clock } = deps;
  const options = {
    config: { action: 'sandbox:update', answersLate: true },
    schema: { hide: true, params: e2bIdParams, body: optionalBody },
  } as const;
  for (const path of ['/sandboxes/:id/connect', '/v2/sandboxes/:id/connect']) {
    app.post(`${prefix}${path}`, options, async (request, reply) => {
      const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
      const seconds = request.body?.timeout ?? DEFAULT_TIMEOUT_SECONDS;
      if (isSuspended(sandbox, clock.now())) return resume(deps, request, reply, sandbox, seconds);
      await extend(deps, request, sandbox, seconds);
      return reply.status(200).send(await addressOf(deps, request, sandbox));
    });
  }
  app.post(`${prefix}/sandboxes/:id/resume`, options, async (request, reply) => {
    const sandbox = await findSandbox(service, clock, grantOf(request).workspaceUuid, request.params.id);
    if (!isSuspended(sandbox, clock.now())) throw sandboxErrors.SANDBOX_ALREADY_RUNNING();
    return resume(deps, request, reply, sandbox, request.body?.timeout ?? DEFAULT_TIMEOUT_SECONDS);
  });
}

async function resume(
  deps: ControlDeps,
  request: FastifyRequest,
  reply: FastifyReply,
  sandbox: Sandbox,
  seconds: number,
): Promise<FastifyReply> {
  const { service, clock, config } = deps;
  const expiresAt = expiryIn(seconds, principalOf(request), sandbox, config, clock.now());
  const resumed = await continueSandbox(service, sandbox, expiresAt, goneSignal(reply));
  return reply.status(201).send(await addressOf(deps, request, resumed));
}

/** Never shortens the life of a sandbox. */
async function extend(deps: ControlDeps, request: FastifyRequest, sandbox: Sandbox, seconds: number): Promise<void> {
  const wanted = expiryIn(seconds, principalOf(request), sandbox, deps.config, deps.clock.now());
  if (sandbox.expiresAt === null || sandbox.expiresAt >= wanted) return;
  await deps.service.change(sandbox.workspaceUuid, sandbox.id, { expiresAt: wanted });
}

async function expireIn(deps: ControlDeps, request: FastifyRequest, sandbox: Sandbox, seconds: number): Promise<void> {
  const wanted = expiryIn(seconds, principalOf(request), sandbox, deps.config, deps.clock.now());
  await deps.service.change(sandbox.workspaceUuid, sandbox.id, { expiresAt: wanted });
}

import { isAppError } from '@svc/errors';
import { grantedAccessOf, grantOf, principalOf, type HttpApp } from '@svc/http';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import type { Sandbox } from '../../domain/sandbox.ts';
import { discardFork, fork } from '../../domain/snapshots/fork.ts';
import { sandboxErrors } from '../../errors.ts';
import { creatorFields, expiryIn, guestExpiry, limitOf } from '../../routes/create-request.ts';
import { goneSignal } from '../../routes/request-signal.ts';
import { addressOf } from './address.ts';
import { timeoutSchema } from './create-body.ts';
import { findSandbox } from './sandbox-finder.ts';
import { e2bIdParams, type ControlDeps } from './sandbox-routes.ts';

const MAX_FORKS = 20;
const FORK_WAIT_MS = 60_000;
/** As in E2B's own API. */
const DEFAULT_TIMEOUT_SECONDS = 15;

const body = Type.Optional(
  Type.Union([
    Type.Object({
      count: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_FORKS })),
      timeout: Type.Optional(timeoutSchema),
    }),
    Type.Null(),
  ]),
);

/** Forks have a copy of the files, as sandboxes created from a snapshot; processes start anew. */
export function registerForkRoute(app: HttpApp, deps: ControlDeps): void {
  const { prefix, service, traffic, clock, config, createLimiter } = deps;
  app.post(
    `${prefix}/sandboxes/:id/fork`,
    { config: { action: 'sandbox:create', answersLate: true }, schema: { hide: true, params: e2bIdParams, body } },
    async (request, reply) => {
      const principal = principalOf(request);
      await createLimiter.admit(principal, grantOf(request).workspaceUuid);
      const { workspaceUuid } = grantOf(request);
      const { id: sandboxId } = await findSandbox(service, clock, workspaceUuid, request.params.id);
      const { count = 1, timeout = DEFAULT_TIMEOUT_SECONDS } = request.body ?? {};
      const wanted = {
        workspaceUuid,
        maker: creatorFields(principal),
        principal,
        granted: grantedAccessOf(request),
        sandboxId,
        name: null,
        count,
        sharesBuckets: false,
        limit: limitOf(principal, config),
        expiresAt: guestExpiry(principal, config, clock.now()),
      };
      const wants = { seconds: timeout, isPublic: await traffic.isPublic(sandboxId) };
      const made = await fork(deps, wanted, FORK_WAIT_MS, goneSignal(reply));
      return reply.status(201).send(await Promise.all(made.map((each) => resultOf(deps, request, each, wants))));
    },
  );
}

/** A fork that does not start is removed, with its copies of volumes and forks of buckets: the client never learns its id. */
async function resultOf(
  deps: ControlDeps,
  request: FastifyRequest,
  made: Sandbox,
  { seconds, isPublic }: { readonly seconds: number; readonly isPublic: boolean },
): Promise<object> {
  const { service, traffic, config, clock } = deps;
  try {
    if (made.status === 'error') {
      throw sandboxErrors.RUNTIME_FAILED({ details: { reason: made.fault?.message ?? 'it did not start' } });
    }
    const principal = principalOf(request);
    const expiresAt = expiryIn(seconds, principal, made, config, clock.now());
    const sandbox = await service.change(made.workspaceUuid, made.id, { expiresAt });
    const maker = { ownerId: principal.id, granted: grantedAccessOf(request), notAfter: principal.expiresAt };
    if (isPublic) await traffic.publish(sandbox, maker);
    return { sandbox: await addressOf(deps, request, sandbox) };
  } catch (error) {
    await discardFork(deps, made);
    if (!isAppError(error)) throw error;
    return { error: { code: error.status, message: error.message } };
  }
}

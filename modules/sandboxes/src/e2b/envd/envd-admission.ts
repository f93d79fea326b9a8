import type { GrantedAccess } from '@svc/access';
import { isAppError } from '@svc/errors';
import type { Clock } from '@svc/runtime';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { SandboxAccess } from '../../domain/access/sandbox-access.ts';
import type { Sandbox } from '../../domain/sandbox.ts';
import type { SandboxService } from '../../domain/sandbox-service.ts';
import type { Holder } from '../../domain/holder.ts';
import { sandboxErrors } from '../../errors.ts';
import { goneSignal } from '../../routes/request-signal.ts';
import { continueOnUse } from '../continue-sandbox.ts';
import { isOver, isSuspended } from '../control/sandbox-finder.ts';
import { fromE2bId } from '../sandbox-ids.ts';

/** The port that clients name for the data plane. */
const ENVD_PORT = '49983';

declare module 'fastify' {
  interface FastifyRequest {
    /** The sandbox that a request of the data plane was admitted to. */
    envdSandbox: Sandbox | null;
  }
  interface FastifyContextConfig {
    /** A question about a paused sandbox that leaves it paused. */
    wakes?: false;
  }
}

export interface EnvdAdmissionDeps {
  readonly service: SandboxService;
  readonly access: SandboxAccess;
  readonly holder: Holder;
  readonly clock: Clock;
}

/** Admits requests of the data plane by the token of their sandbox. */
export class EnvdAdmission {
  readonly #deps: EnvdAdmissionDeps;

  constructor(deps: EnvdAdmissionDeps) {
    this.#deps = deps;
  }

  /**
   * Returns what the token in `X-Access-Token` was granted. Throws SANDBOX_TOKEN_INVALID, and SANDBOX_GONE to the holder
   * of a token for a sandbox that was deleted, has expired, or does not run.
   */
  readonly byToken = async (request: FastifyRequest): Promise<GrantedAccess> => {
    const { access } = this.#deps;
    const token = request.headers['x-access-token'];
    if (typeof token !== 'string') throw sandboxErrors.SANDBOX_TOKEN_INVALID();
    const named = sandboxIdOf(request);
    // Clients up to 2.10 name the sandbox in calls of procedures only; it follows from the token, too.
    const isNamed = request.headers['e2b-sandbox-id'] !== undefined;
    const id = isNamed ? named : await access.sandboxOf(token);
    if (id === null) throw sandboxErrors.SANDBOX_TOKEN_INVALID();
    const granted = await access.check(id, token);
    if (granted === null) throw gone(id);
    await this.admit(request, id);
    return granted;
  };

  /** Notes the sandbox for the route. */
  async admit(request: FastifyRequest, id: string): Promise<void> {
    const { service, clock } = this.#deps;
    const sandbox = await service.byId(id).catch((error: unknown) => {
      // Only a sandbox that is gone may look so: a client gives up on it.
      throw isAppError(error) && error.code === 'SANDBOX_NOT_FOUND' ? gone(id) : error;
    });
    if (isOver(sandbox, clock.now())) throw gone(id);
    request.envdSandbox = sandbox;
  }

  /** Refuses a request for a sandbox of another node that was not forwarded there. */
  readonly refuseElsewhere = async ({ envdSandbox }: FastifyRequest): Promise<void> => {
    if (envdSandbox !== null) await this.#deps.holder.assertHere(envdSandbox);
  };

  /**
   * Continues a paused sandbox whose creator wanted that; any other stays paused until a client connects to it. Runs
   * once the request is authorized.
   */
  readonly wake = async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const { service, clock } = this.#deps;
    const sandbox = request.envdSandbox;
    if (sandbox === null || !isSuspended(sandbox, clock.now())) return;
    if (request.routeOptions.config.wakes === false) throw gone(sandbox.id);
    request.envdSandbox = await continueOnUse(service, clock, sandbox, goneSignal(reply));
  };
}

/** Returns the sandbox of an admitted request. */
export function sandboxOf({ envdSandbox }: FastifyRequest): Sandbox {
  if (envdSandbox === null) throw sandboxErrors.SANDBOX_TOKEN_INVALID();
  return envdSandbox;
}

/** Clients name the sandbox and the port in headers, so that no wildcard name is needed. */
export function sandboxIdOf({ headers }: Pick<FastifyRequest, 'headers'>): string | null {
  const { 'e2b-sandbox-id': id, 'e2b-sandbox-port': port = ENVD_PORT } = headers;
  if (typeof id !== 'string') return null;
  if (port !== ENVD_PORT) {
    const details = { feature: `Port ${String(port).slice(0, 10)} by header`, remedy: 'create a link to the port' };
    throw sandboxErrors.E2B_UNSUPPORTED({ details });
  }
  return fromE2bId(id);
}

function gone(id: string): Error {
  return sandboxErrors.SANDBOX_GONE({ details: { sandbox: id } });
}

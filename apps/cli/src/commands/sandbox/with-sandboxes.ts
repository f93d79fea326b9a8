import { createClient, type Sandbox, type SandboxesClient } from '@svc/sdk';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import { findTarget, isSettled, type ConnectionFlags } from '../../client/connection.ts';
import { readDurationMs } from '../../client/key-request.ts';
import { withSession, type Session } from '../../client/session.ts';

/** One run of a sandbox command. */
export interface SandboxSession extends Session {
  sandboxes: SandboxesClient;
  /** Finds a sandbox by name or id. */
  find(nameOrId: string): Promise<Sandbox>;
}

const ID = /^sbx_[a-z2-7]{26}$/;

export function withSandboxes(flags: ConnectionFlags, run: (session: SandboxSession) => Promise<void>): Promise<void> {
  return withSession(flags, async (session) => {
    const sandboxes = await createSandboxesClient(flags, session);
    const find = (nameOrId: string): Promise<Sandbox> => findSandbox(sandboxes, nameOrId, session.signal);
    await run({ ...session, sandboxes, find });
  });
}

/** Creates the client. Also accepts `SANDBOX_URL` and `SANDBOX_TOKEN`, like every client of this API. */
async function createSandboxesClient(flags: ConnectionFlags, session: Session): Promise<SandboxesClient> {
  const { environment } = session;
  const { url: sandboxUrl, token: sandboxToken } = environment.sandbox;
  const target = await findTarget(flags, {
    ...environment,
    url: environment.url ?? sandboxUrl,
    token: environment.token ?? sandboxToken,
  });
  const { url: baseUrl, token, workspace, teamUuid } = target;
  // A workspace given by name requires a lookup; the platform already knows the caller's own.
  const workspaceUuid = isSettled(target) ? workspace : (await session.connect()).workspaceUuid;
  return createClient({ baseUrl, credential: { kind: 'token', token } }).sandboxes.in({ workspaceUuid, teamUuid });
}

async function findSandbox(sandboxes: SandboxesClient, nameOrId: string, signal: AbortSignal): Promise<Sandbox> {
  if (ID.test(nameOrId)) return await sandboxes.get(nameOrId, { signal });
  for await (const sandbox of sandboxes.list({ name: nameOrId }, { signal })) {
    if (sandbox.name === nameOrId) return sandbox;
  }
  throw new CommandFailure(`sandbox ${nameOrId} not found`, {
    hint: 'run svc sandbox ls to list the sandboxes of this workspace',
  });
}

/** Collects a repeatable option; a variadic one would also swallow the arguments. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** Parses repeated `KEY=VALUE` options. */
export function readPairs(pairs: readonly string[], what: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals < 1) throw usageFailure(`${JSON.stringify(pair)} is not a valid ${what}`, 'use KEY=VALUE');
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** Parses a duration such as `12h`. */
export function readSeconds(text: string): number {
  return Math.round(readDurationMs(text) / 1000);
}

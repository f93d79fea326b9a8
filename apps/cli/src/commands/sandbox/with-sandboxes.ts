import { createClient, type Sandbox, type SandboxesClient } from '@svc/sdk';
import { CommandFailure, usageFailure } from '../../client/command-failure.ts';
import { findTarget, isSettled, type ConnectionFlags } from '../../client/connection.ts';
import { withSession, type Session } from '../../client/session.ts';

/** One run of a command about sandboxes. */
export interface SandboxSession extends Session {
  sandboxes: SandboxesClient;
  /** By name or id. */
  find(nameOrId: string): Promise<Sandbox>;
}

const ID = /^sbx_[a-z2-7]{26}$/;

export function withSandboxes(flags: ConnectionFlags, run: (session: SandboxSession) => Promise<void>): Promise<void> {
  return withSession(flags, async (session) => {
    const sandboxes = await clientOf(flags, session);
    const find = (nameOrId: string): Promise<Sandbox> => findSandbox(sandboxes, nameOrId, session.signal);
    await run({ ...session, sandboxes, find });
  });
}

/** `SANDBOX_URL` and `SANDBOX_TOKEN` count as well, since every client of this API reads them. */
async function clientOf(flags: ConnectionFlags, session: Session): Promise<SandboxesClient> {
  const { environment } = session;
  const { url: sandboxUrl, token: sandboxToken } = environment.sandbox;
  const target = await findTarget(flags, {
    ...environment,
    url: environment.url ?? sandboxUrl,
    token: environment.token ?? sandboxToken,
  });
  const { url: baseUrl, token, workspace, teamUuid } = target;
  // A workspace that is named by its name has to be looked up; the platform knows the caller's own by itself.
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

/** For options that may be given several times: one that takes all that follows would take the arguments as well. */
export function collect(value: string, before: string[] = []): string[] {
  return [...before, value];
}

/** `KEY=VALUE`, as often as it is given. */
export function readPairs(pairs: readonly string[], what: string): Record<string, string> {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals < 1) throw usageFailure(`${JSON.stringify(pair)} is not a valid ${what}`, 'use KEY=VALUE');
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

import { createClient, type ObjectStoreClient, type SvcClient } from '@svc/sdk';
import type { ClientEnvironment } from '../configuration-client.ts';
import { usageFailure } from './command-failure.ts';
import { DEFAULT_PROFILE, readProfile } from './profiles.ts';

/** Flags of every command that connects to a platform. */
export interface ConnectionFlags {
  url?: string;
  profile?: string;
  workspace?: string;
  team?: string;
  json?: boolean;
}

/** The target according to flags, environment and profile, without a request. */
export interface Target {
  url: string;
  token: string;
  /** UUID or name; undefined for the caller's own. */
  workspace: string | undefined;
  teamUuid: string | undefined;
}

/** A platform and one of its workspaces. */
export interface Connection extends Omit<Target, 'workspace'> {
  svc: SvcClient;
  workspaceUuid: string;
  store: ObjectStoreClient;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Resolves the target: flags take precedence over the environment, and the environment over the profile. */
export async function findTarget(flags: ConnectionFlags, environment: ClientEnvironment): Promise<Target> {
  const name = flags.profile ?? environment.profile ?? DEFAULT_PROFILE;
  const profile = await readProfile(environment.configFolder, name);
  const named = flags.profile ?? environment.profile;
  if (profile === null && named !== undefined) {
    throw usageFailure(`profile ${JSON.stringify(named)} not found`, `run svc login --profile ${named} to create it`);
  }
  const url = flags.url ?? environment.url ?? profile?.url;
  // A profile's token is only for its own platform; never send it to another address.
  const token = environment.token ?? (profile !== null && url === profile.url ? profile.token : undefined);
  if (url === undefined || token === undefined) {
    const missing = url === undefined ? 'no platform is named' : `there is no token for ${url}`;
    throw usageFailure(missing, 'run svc login, or set SVC_URL and SVC_TOKEN');
  }
  assertWebAddress(url);
  const teamUuid = flags.team ?? environment.team ?? profile?.team ?? undefined;
  const workspace = flags.workspace ?? environment.workspace ?? profile?.workspace ?? undefined;
  return { url, token, workspace, teamUuid };
}

export async function connect({ workspace, ...target }: Target, signal: AbortSignal): Promise<Connection> {
  const { url, token, teamUuid } = target;
  const svc = createClient({ baseUrl: url, credential: { kind: 'token', token } });
  const workspaceUuid = await resolveWorkspace(svc, workspace, signal);
  return { ...target, svc, workspaceUuid, store: svc.objectStore({ workspaceUuid, teamUuid }) };
}

/** Whether the workspace is unambiguous without a lookup; a name may refer to another workspace tomorrow. */
export function isSettled({ workspace }: Target): boolean {
  return workspace === undefined || UUID.test(workspace);
}

export function assertWebAddress(url: string): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return;
  throw usageFailure(`${JSON.stringify(url)} is not a URL`, 'use one such as http://127.0.0.1:4000');
}

/** Resolves a UUID or name; without one, the caller's own workspace. */
async function resolveWorkspace(svc: SvcClient, wanted: string | undefined, signal: AbortSignal): Promise<string> {
  if (wanted !== undefined && UUID.test(wanted)) return wanted;
  if (wanted === undefined) {
    const { workspace_uuid: own } = await svc.accounts.me({ signal });
    if (own === null) throw usageFailure('the token has no default workspace', 'select one with --workspace');
    return own;
  }
  let cursor: string | undefined;
  do {
    const page = await svc.workspaces.list({ cursor }, { signal });
    const found = page.items.filter((workspace) => workspace.name === wanted);
    if (found.length > 1) throw usageFailure(`more than one workspace is named ${wanted}`, 'use its UUID');
    if (found[0] !== undefined) return found[0].uuid;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  throw usageFailure(`workspace ${JSON.stringify(wanted)} not found`, 'use the name or UUID of one of your workspaces');
}

import { createClient, type ObjectStoreClient, type SvcClient } from '@svc/sdk';
import type { ClientEnvironment } from '../configuration-client.ts';
import { usageFailure } from './command-failure.ts';
import { DEFAULT_PROFILE, readProfile } from './profiles.ts';

/** Flags that every command has which talks to a platform. */
export interface ConnectionFlags {
  url?: string;
  profile?: string;
  workspace?: string;
  team?: string;
  json?: boolean;
}

/** Which platform, and which workspace of it. */
export interface Connection {
  url: string;
  token: string;
  svc: SvcClient;
  workspaceUuid: string;
  teamUuid: string | undefined;
  store: ObjectStoreClient;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Flags win over the environment, and the environment over the profile. */
export async function connect(
  flags: ConnectionFlags,
  environment: ClientEnvironment,
  signal: AbortSignal,
): Promise<Connection> {
  const name = flags.profile ?? environment.profile ?? DEFAULT_PROFILE;
  const profile = await readProfile(environment.configFolder, name);
  const named = flags.profile ?? environment.profile;
  if (profile === null && named !== undefined) {
    throw usageFailure(`there is no profile ${JSON.stringify(named)}`, `svc login --profile ${named} makes it`);
  }
  const url = flags.url ?? environment.url ?? profile?.url;
  // A profile's token is for its own platform only: another address must never get to see it.
  const token = environment.token ?? (profile !== null && url === profile.url ? profile.token : undefined);
  if (url === undefined || token === undefined) {
    const missing = url === undefined ? 'no platform is named' : `there is no token for ${url}`;
    throw usageFailure(missing, 'run svc login, or set SVC_URL and SVC_TOKEN');
  }
  assertWebAddress(url);
  const svc = createClient({ baseUrl: url, credential: { kind: 'token', token } });
  const teamUuid = flags.team ?? environment.team ?? profile?.team ?? undefined;
  const wanted = flags.workspace ?? environment.workspace ?? profile?.workspace ?? undefined;
  const workspaceUuid = await resolveWorkspace(svc, wanted, signal);
  const store = svc.objectStore({ workspaceUuid, teamUuid });
  return { url, token, svc, workspaceUuid, teamUuid, store };
}

export function assertWebAddress(url: string): void {
  const protocol = URL.parse(url)?.protocol;
  if (protocol === 'http:' || protocol === 'https:') return;
  throw usageFailure(`${JSON.stringify(url)} is not an address`, 'such as http://127.0.0.1:4000');
}

/** A uuid, a name, or nothing: then the caller's own. */
async function resolveWorkspace(svc: SvcClient, wanted: string | undefined, signal: AbortSignal): Promise<string> {
  if (wanted !== undefined && UUID.test(wanted)) return wanted;
  if (wanted === undefined) {
    const { workspace_uuid: own } = await svc.accounts.me({ signal });
    if (own === null) throw usageFailure('this token has no workspace of its own', 'name one with --workspace');
    return own;
  }
  let cursor: string | undefined;
  do {
    const page = await svc.workspaces.list({ cursor }, { signal });
    const found = page.items.filter((workspace) => workspace.name === wanted);
    if (found.length > 1) throw usageFailure(`several workspaces are called ${wanted}`, 'name one by its uuid');
    if (found[0] !== undefined) return found[0].uuid;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  throw usageFailure(`there is no workspace called ${JSON.stringify(wanted)}`, 'name one of yours, or its uuid');
}

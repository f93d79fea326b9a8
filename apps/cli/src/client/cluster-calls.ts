import { CommandFailure } from './command-failure.ts';
import type { Target } from './connection.ts';

export interface TunnelEndpoints {
  cluster_id: string;
  cluster_name: string;
  host_url: string;
  kubernetes_url: string;
  /** PEM, or null when machines know it anyway. */
  certificate_authority: string | null;
}

/** Where the tunnel of a cluster is reached, as the platform says. */
export async function tunnelEndpoints(
  { url, token, teamUuid }: Target,
  cluster: string,
  workspaceUuid: string,
  signal: AbortSignal,
): Promise<TunnelEndpoints> {
  const address = new URL(`${url.replace(/\/+$/, '')}/v1/clusters/${encodeURIComponent(cluster)}/tunnel-endpoints`);
  address.searchParams.set('workspace_uuid', workspaceUuid);
  if (teamUuid !== undefined) address.searchParams.set('team_uuid', teamUuid);
  let response: Response;
  try {
    response = await fetch(address, { headers: { authorization: `Bearer ${token}` }, signal });
  } catch (cause) {
    if (signal.aborted) throw signal.reason;
    throw new CommandFailure(`no platform answers at ${url}`, { cause });
  }
  const text = await response.text();
  if (!response.ok) throw refusalOf(response.status, text);
  return JSON.parse(text) as TunnelEndpoints; // the schema of that route
}

/** The platform's own words, from the contract's error body. */
export function refusalOf(status: number, body: string): CommandFailure {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } }; // looked at below
    if (typeof error?.message === 'string') return new CommandFailure(error.message);
  } catch {
    // something on the way answered in its own manner
  }
  return new CommandFailure(`the platform answered ${status}`);
}

import { createClient, type ClustersClient } from '@svc/sdk';
import { usageFailure } from '../../client/command-failure.ts';
import { isSettled, type ConnectionFlags } from '../../client/connection.ts';
import { withSession, type Session } from '../../client/session.ts';

/** One run of a cluster command. */
export interface ClusterSession extends Session {
  clusters: ClustersClient;
}

export function withClusters(flags: ConnectionFlags, run: (session: ClusterSession) => Promise<void>): Promise<void> {
  return withSession(flags, async (session) => {
    const target = await session.target();
    const { url: baseUrl, token, workspace, teamUuid } = target;
    // A workspace given by name requires a lookup; the platform already knows the caller's own.
    const workspaceUuid = isSettled(target) ? workspace : (await session.connect()).workspaceUuid;
    const { clusters } = createClient({ baseUrl, credential: { kind: 'token', token } });
    await run({ ...session, clusters: clusters.in({ workspaceUuid, teamUuid }) });
  });
}

/** Parses an option's integer. */
export function readCount(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageFailure(`${JSON.stringify(text)} is not a number for ${option}`);
}

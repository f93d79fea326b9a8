import { createClient, type ClustersClient } from '@svc/sdk';
import { usageFailure } from '../../client/command-failure.ts';
import { isSettled, type ConnectionFlags } from '../../client/connection.ts';
import { withSession, type Session } from '../../client/session.ts';

/** One run of a command about clusters. */
export interface ClusterSession extends Session {
  clusters: ClustersClient;
}

export function withClusters(flags: ConnectionFlags, run: (session: ClusterSession) => Promise<void>): Promise<void> {
  return withSession(flags, async (session) => {
    const target = await session.target();
    const { url: baseUrl, token, workspace, teamUuid } = target;
    // A workspace that is named by its name has to be looked up; the platform knows the caller's own by itself.
    const workspaceUuid = isSettled(target) ? workspace : (await session.connect()).workspaceUuid;
    const { clusters } = createClient({ baseUrl, credential: { kind: 'token', token } });
    await run({ ...session, clusters: clusters.in({ workspaceUuid, teamUuid }) });
  });
}

/** A whole number that an option gives. */
export function readCount(text: string, option: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw usageFailure(`${JSON.stringify(text)} is not a number for ${option}`);
}

import { connectAgent, type PlayedAgent, type Received } from '@svc/clusters/testing';
import type { RunningPlatform } from './platform.ts';

const HEARTBEAT_EVERY_MS = 10_000;

/** Simulates an agent with a healthy cluster. */
export async function playAgent(
  platform: RunningPlatform,
  { id, token }: { id: string; token: string },
): Promise<PlayedAgent> {
  const agent = await connectAgent({ port: Number(new URL(platform.url).port), token, clusterId: id });
  agent.hello('instance-1');
  agent.heartbeat(0.42);
  // Without regular heartbeats, the agent would count as offline in a slow test.
  const heartbeats = setInterval(() => agent.heartbeat(0.42), HEARTBEAT_EVERY_MS);
  agent.socket.once('close', () => clearInterval(heartbeats));
  agent.say('cluster_status', { nodes: 3, pods: 41, services: 12, health: 'healthy', kubernetes_version: 'v1.33.0' });
  return agent;
}

export const MANIFEST = `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
data:
  colour: blue
`;

const EMPTY_SUMMARY = { created: 0, configured: 0, unchanged: 0, pruned: 0, skipped: 0, failed: 0 };

/** Acknowledges a deploy and reports progress. */
export function beginDeploy(agent: PlayedAgent, { id }: Received): void {
  agent.say('command_ack', { command_id: id, command: 'deploy', state: 'accepted' });
  agent.say('command_progress', {
    command_id: id,
    seq: 1,
    phase: 'applying',
    message: '1 of 3 objects',
    counts: { applied: 1, total: 3 },
  });
}

/** Reports a finished deploy: two objects created, one unchanged. */
export function endDeploy(agent: PlayedAgent, { id, payload }: Received): void {
  const dryRun = payload['dry_run'] === true;
  const namespace = String(payload['namespace']);
  const of = (apiVersion: string, kind: string, name: string, action: string, more: object = {}): object => ({
    api_version: apiVersion,
    kind,
    namespace,
    name,
    action,
    health: dryRun ? 'unknown' : 'ready',
    ...more,
  });
  agent.result(id, 'succeeded', {
    deploy: {
      project_id: payload['project_id'],
      namespace,
      dry_run: dryRun,
      manifest_sha256: 'a'.repeat(64),
      partially_applied: false,
      summary: { ...EMPTY_SUMMARY, created: 1, configured: 1, unchanged: 1 },
      resources: [
        of('v1', 'ConfigMap', 'settings', 'configured', {
          ...(dryRun && {
            diff: [
              { path: '.data.colour', before: '"red"', after: '"blue"' },
              { path: '.data.size', after: '"large"' },
            ],
          }),
        }),
        of('apps/v1', 'Deployment', 'web', 'created', { message: '2 of 2 replicas are ready' }),
        of('v1', 'Service', 'web', 'unchanged'),
      ],
      warnings: ['spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14'],
    },
  });
}

/** Reports a rejected deploy. */
export function refuseDeploy(agent: PlayedAgent, { id }: Received): void {
  agent.result(id, 'failed', {
    error: {
      code: 'FORBIDDEN',
      message:
        'Kind Namespace is not for the whole cluster here: set deploy.cluster_scoped in the agent’s configuration',
      details: { field: 'manifest[0].kind' },
    },
  });
}

/** Reports a cluster event. */
export function reportEvent(
  agent: PlayedAgent,
  event: { event_type: string; resource: string; details?: object; namespace?: string },
): void {
  agent.say('event', { namespace: 'shop', details: {}, occurred_at: new Date().toISOString(), ...event });
}

import { resultOf, type Cluster, type Deployment, type DeploymentEvent, type NewDeployment } from '@svc/sdk';
import type { Command } from 'commander';
import { CommandFailure, usageFailure } from '../client/command-failure.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { readDurationMs } from '../client/key-request.ts';
import { printable, renderTable, type Output } from '../client/output.ts';
import { addConnectionOptions } from '../client/session.ts';
import { readManifests } from './deploy/read-manifests.ts';
import { withClusters, type ClusterSession } from './cluster/with-clusters.ts';

interface DeployFlags extends ConnectionFlags {
  file: string[];
  namespace: string;
  project?: string;
  wait?: boolean;
  dryRun?: boolean;
  prune?: boolean;
  forceConflicts?: boolean;
  queue?: boolean;
  timeout?: string;
  revision?: string;
}

const DEFAULT_PROJECT = 'default';

/** `svc deploy [CLUSTER] -f FILE`: deploys manifests to a cluster through its agent. */
export function registerDeployCommand(program: Command): void {
  addConnectionOptions(program.command('deploy'))
    .description('Deploy Kubernetes manifests to a cluster')
    .argument('[cluster]', 'Cluster name or ID; optional if there is only one')
    .requiredOption('-f, --file <path>', 'Manifest file, folder, or - for standard input; repeatable', collect)
    .option('-n, --namespace <name>', 'Namespace of objects without one', 'default')
    .option(
      '--project <id>',
      `Project ID; a newer deployment of a project replaces the older one (default "${DEFAULT_PROJECT}")`,
    )
    .option('--wait', 'Wait until all resources are healthy and show progress; exits with 1 on failure')
    .option('--dry-run', 'Show what would change without changing anything')
    .option('--prune', 'Delete resources that are no longer in the manifest (prune)')
    .option('--force-conflicts', 'Force conflicts: take ownership of fields set by other managers')
    .option('--queue', 'Queue the deployment if the agent is offline')
    .option('--timeout <time>', 'Time limit for resources to become healthy, such as 10m')
    .option('--revision <text>', 'Revision recorded with the deployment, such as a commit')
    .action((name: string | undefined, flags: DeployFlags) =>
      withClusters(flags, async (session) => {
        const deployment = await readDeployment(flags);
        const cluster = await chooseCluster(session, name);
        await deploy(session, cluster, deployment, flags);
      }),
    );
}

function collect(path: string, before: string[] = []): string[] {
  return [...before, path];
}

async function readDeployment(flags: DeployFlags): Promise<NewDeployment> {
  if (flags.prune === true && flags.project === undefined) {
    throw usageFailure('--prune deletes other resources of the project', 'select the project with --project');
  }
  return {
    project_id: flags.project ?? DEFAULT_PROJECT,
    namespace: flags.namespace,
    manifest: await readManifests(flags.file),
    prune: flags.prune === true,
    ...(flags.dryRun === true ? { dry_run: true } : {}),
    ...(flags.forceConflicts === true ? { force_conflicts: true } : {}),
    ...(flags.queue === true ? { queue_if_offline: true } : {}),
    ...(flags.timeout === undefined ? {} : { timeout_seconds: Math.ceil(readDurationMs(flags.timeout) / 1000) }),
    ...(flags.revision === undefined ? {} : { revision: flags.revision }),
  };
}

async function chooseCluster({ clusters, signal }: ClusterSession, name: string | undefined): Promise<Cluster> {
  if (name !== undefined) return clusters.of(name);
  const { items } = await clusters.page({ pageSize: 2 }, { signal });
  const [only, ...others] = items;
  if (only === undefined)
    throw new CommandFailure('no clusters found', { hint: 'register one with svc cluster add NAME' });
  if (others.length > 0)
    throw usageFailure('there is more than one cluster', 'specify one; run svc cluster ls to list them');
  return clusters.of(only.id);
}

async function deploy(
  { output, signal }: ClusterSession,
  cluster: Cluster,
  request: NewDeployment,
  flags: DeployFlags,
): Promise<void> {
  const accepted = await cluster.deploy(request, { signal });
  if (flags.wait !== true && flags.dryRun !== true) {
    const { id, status } = accepted;
    const follow = `svc cluster deployments ${accepted.cluster} shows what becomes of it`;
    output.answer(accepted, [`Deployment ${id} is ${status}; ${follow}`]);
    return;
  }
  const finished = await follow(cluster, accepted, output, signal);
  output.answer(finished, resultLines(finished));
  if (finished.status === 'succeeded') return;
  for (const fault of describeFaults(finished)) output.warn(printable(fault));
  throw new CommandFailure(finished.error?.message ?? `the deployment is ${finished.status}`);
}

/** Returns every error of a manifest with several; the message only has room for one. */
function describeFaults({ error }: Deployment): string[] {
  const issues = error?.details?.['issues'];
  if (!Array.isArray(issues)) return [];
  return issues.map((each: unknown) => {
    const { field, issue } = (each ?? {}) as { field?: unknown; issue?: unknown }; // for display only
    const text = String(issue);
    return text.includes(String(field)) ? text : `${String(field)}: ${text}`;
  });
}

/** Ctrl-C stops following; the accepted deployment continues. */
async function follow(
  cluster: Cluster,
  accepted: Deployment,
  output: Output,
  signal: AbortSignal,
): Promise<Deployment> {
  output.note(`Deployment ${accepted.id}`);
  try {
    for await (const event of cluster.followDeployment(accepted.id, { signal })) {
      if (event.type === 'result') return event.result;
      const line = progressLine(event);
      if (line !== null) output.note(line);
    }
  } catch (error) {
    if (signal.aborted) output.warn(`deployment ${accepted.id} continues in the background`);
    throw error;
  }
  return await cluster.deployment(accepted.id, { signal });
}

function progressLine(event: DeploymentEvent): string | null {
  if (event.type === 'state') return `  ${printable(event.status)}`;
  if (event.type !== 'progress') return null;
  return `  ${printable(event.message === '' ? event.phase : `${event.phase}: ${event.message}`)}`;
}

function resultLines(deployment: Deployment): string[] {
  const result = resultOf(deployment);
  if (result === null) return [`Deployment ${deployment.id}: ${deployment.status}`];
  const rows = result.resources.map(({ kind, namespace, name, action, health, message, error }) => [
    action,
    health,
    namespace === '' ? `${kind}/${name}` : `${kind}/${name} in ${namespace}`,
    error?.message ?? message ?? '',
  ]);
  const changes = result.resources.flatMap(({ kind, name, diff = [] }) =>
    diff.map(({ path, before, after }) => printable(`  ${kind}/${name} ${path}: ${before ?? '-'} -> ${after ?? '-'}`)),
  );
  const counts = Object.entries(result.summary).filter(([, count]) => count > 0);
  const summary = counts.map(([action, count]) => `${count} ${action}`).join(', ');
  const how = result.dry_run ? `${deployment.status} (dry run: nothing was changed)` : deployment.status;
  return [
    ...(rows.length === 0 ? [] : renderTable(['ACTION', 'HEALTH', 'OBJECT', 'MESSAGE'], rows)),
    ...changes,
    ...result.warnings.map((warning) => printable(`Warning: ${warning}`)),
    `Deployment ${deployment.id}: ${how}${summary === '' ? '' : `; ${summary}`}`,
  ];
}

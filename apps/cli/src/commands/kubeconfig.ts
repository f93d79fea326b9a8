import type { Kubeconfig } from '@svc/sdk';
import type { Command } from 'commander';
import type { ConnectionFlags } from '../client/connection.ts';
import { writePrivateFile } from '../client/private-file.ts';
import { readSecret } from '../client/read-secret.ts';
import { addConnectionOptions } from '../client/session.ts';
import { withClusters, type ClusterSession } from './cluster/with-clusters.ts';

interface KubeconfigFlags extends ConnectionFlags {
  out?: string;
  namespace?: string;
  tokenStdin?: boolean;
}

/** `svc kubeconfig CLUSTER`: writes a file for kubectl, Helm and every other Kubernetes client. */
export function registerKubeconfigCommand(program: Command): void {
  const command = program
    .command('kubeconfig')
    .description('Print a kubeconfig that reaches a cluster through its tunnel')
    .argument('<cluster>', 'Cluster name or ID')
    .option('--out <path>', 'Write to this file (mode 0600) instead of standard output')
    .option('--namespace <name>', 'Default namespace', 'default')
    .option('--token-stdin', 'Read the token for the kubeconfig from standard input (default: the one in use)');
  addConnectionOptions(command).action((cluster: string, flags: KubeconfigFlags) =>
    withClusters(flags, (session) => printKubeconfig(cluster, flags, session)),
  );
}

async function printKubeconfig(
  name: string,
  flags: KubeconfigFlags,
  { clusters, output, signal }: ClusterSession,
): Promise<void> {
  const token = flags.tokenStdin === true ? await readSecret('Token', { piped: true }) : undefined;
  const kubeconfig = await clusters.of(name).kubeconfig({ token, namespace: flags.namespace }, { signal });
  const text = renderKubeconfig(kubeconfig);
  if (flags.out === undefined) {
    output.answer(kubeconfig, text.trimEnd().split('\n'));
    return;
  }
  await writePrivateFile(flags.out, text);
  output.answer({ path: flags.out, cluster: kubeconfig['current-context'] }, [`Saved to ${flags.out}`]);
}

/** Renders YAML with JSON-quoted values, which YAML accepts. */
function renderKubeconfig(file: Kubeconfig): string {
  const lines = Object.entries(file).map(([key, value]) => {
    if (!Array.isArray(value)) return `${key}: ${JSON.stringify(value)}`;
    return [`${key}:`, ...value.flatMap((entry: object) => renderEntry(entry))].join('\n');
  });
  return `${lines.join('\n')}\n`;
}

function renderEntry(entry: object): string[] {
  return Object.entries(entry).flatMap(([key, value]: [string, unknown], index) => {
    const lead = index === 0 ? '  - ' : '    ';
    if (typeof value !== 'object' || value === null) return [`${lead}${key}: ${JSON.stringify(value)}`];
    const fields = Object.entries(value).map(([name, field]) => `      ${name}: ${JSON.stringify(field)}`);
    return [`${lead}${key}:`, ...fields];
  });
}

import type { Command } from 'commander';
import { tunnelEndpoints, type TunnelEndpoints } from '../client/cluster-calls.ts';
import type { ConnectionFlags } from '../client/connection.ts';
import { writePrivateFile } from '../client/private-file.ts';
import { readSecret } from '../client/read-secret.ts';
import { addConnectionOptions, withSession, type Session } from '../client/session.ts';

interface KubeconfigFlags extends ConnectionFlags {
  out?: string;
  namespace?: string;
  tokenStdin?: boolean;
}

/** `svc kubeconfig CLUSTER`: a file that kubectl, Helm and every other client of Kubernetes use as it is. */
export function registerKubeconfigCommand(program: Command): void {
  const command = program
    .command('kubeconfig')
    .description('print a kubeconfig that reaches a cluster through its tunnel')
    .argument('<cluster>', 'name or id of the cluster')
    .option('--out <path>', 'write it there, readable by its owner only, instead of printing it')
    .option('--namespace <name>', 'the namespace that is used when none is named', 'default')
    .option('--token-stdin', 'read the token of the file from standard input (else the one of this command)');
  addConnectionOptions(command).action((cluster: string, flags: KubeconfigFlags) =>
    withSession(flags, (session) => printKubeconfig(cluster, flags, session)),
  );
}

async function printKubeconfig(
  cluster: string,
  flags: KubeconfigFlags,
  { connect, target, output, signal }: Session,
): Promise<void> {
  const known = await target();
  const { workspaceUuid } = await connect();
  const endpoints = await tunnelEndpoints(known, cluster, workspaceUuid, signal);
  const token = flags.tokenStdin === true ? await readSecret('Token', { piped: true }) : known.token;
  const text = renderKubeconfig(endpoints, token, flags.namespace ?? 'default');
  if (flags.out === undefined) {
    output.answer(kubeconfig(endpoints, token, flags.namespace ?? 'default'), text.trimEnd().split('\n'));
    return;
  }
  await writePrivateFile(flags.out, text);
  output.answer({ path: flags.out, cluster: endpoints.cluster_id }, [`Kept in ${flags.out}`]);
}

function kubeconfig(endpoints: TunnelEndpoints, token: string, namespace: string) {
  const { cluster_name: name, kubernetes_url: server, certificate_authority: authority } = endpoints;
  const data = authority === null ? {} : { 'certificate-authority-data': Buffer.from(authority).toString('base64') };
  return {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server, ...data } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name, namespace } }],
  };
}

/** YAML with every value in JSON's quotes, which are YAML's too. */
function renderKubeconfig(endpoints: TunnelEndpoints, token: string, namespace: string): string {
  const file = kubeconfig(endpoints, token, namespace);
  const lines = Object.entries(file).map(([key, value]) => {
    if (!Array.isArray(value)) return `${key}: ${JSON.stringify(value)}`;
    return [`${key}:`, ...value.flatMap((entry) => renderEntry(entry))].join('\n');
  });
  return `${lines.join('\n')}\n`;
}

function renderEntry(entry: Record<string, unknown>): string[] {
  return Object.entries(entry).flatMap(([key, value], index) => {
    const lead = index === 0 ? '  - ' : '    ';
    if (typeof value !== 'object' || value === null) return [`${lead}${key}: ${JSON.stringify(value)}`];
    const fields = Object.entries(value).map(([name, field]) => `      ${name}: ${JSON.stringify(field)}`);
    return [`${lead}${key}:`, ...fields];
  });
}

export interface InstallOptions {
  clusterName: string;
  clusterId: string;
  token: string;
  /** Where agents reach the platform. */
  apiUrl: string;
  namespace: string;
  chart: string;
  manifest: string;
}

export interface InstallCommands {
  helm: string;
  kubectl: string;
}

const SECRET_NAME = 'svc-agent-config';

/**
 * Shell commands that install the agent. The token goes in through standard input: an argument would stand in the
 * process list and in Helm's stored values.
 */
export function installCommands(options: InstallOptions): InstallCommands {
  const { clusterName, clusterId, apiUrl, namespace, chart, manifest } = options;
  const secret = `kubectl apply -f - <<'EOF'\n${documents(options)}EOF`;
  const helm = [
    `helm upgrade --install svc-agent ${chart}`,
    `--namespace ${namespace}`,
    `--set agent.clusterName=${clusterName}`,
    `--set agent.clusterId=${clusterId}`,
    `--set svc.apiUrl=${apiUrl}`,
    `--set svc.existingSecret=${SECRET_NAME}`,
  ].join(' \\\n  ');
  return { helm: `${secret}\n${helm}\n`, kubectl: `${secret}\nkubectl apply -n ${namespace} -f ${manifest}\n` };
}

/** JSON strings are YAML strings, whatever the URL holds. */
function documents({ clusterName, clusterId, token, apiUrl, namespace }: InstallOptions): string {
  return [
    'apiVersion: v1',
    'kind: Namespace',
    `metadata: {name: ${namespace}}`,
    '---',
    'apiVersion: v1',
    'kind: Secret',
    `metadata: {name: ${SECRET_NAME}, namespace: ${namespace}}`,
    `stringData: {SVC_TOKEN: ${JSON.stringify(token)}}`,
    '---',
    'apiVersion: v1',
    'kind: ConfigMap',
    `metadata: {name: ${SECRET_NAME}, namespace: ${namespace}}`,
    'data:',
    `  CLUSTER_NAME: ${JSON.stringify(clusterName)}`,
    `  SVC_CLUSTER_ID: ${JSON.stringify(clusterId)}`,
    `  SVC_API_URL: ${JSON.stringify(apiUrl)}`,
    '',
  ].join('\n');
}

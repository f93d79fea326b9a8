import type { ImageReference } from './agent-image.ts';

export interface InstallOptions {
  clusterName: string;
  clusterId: string;
  token: string;
  /** Where agents reach the platform. */
  apiUrl: string;
  namespace: string;
  /** Folder, URL or `oci://` reference. */
  chart: string;
  /** File or URL. */
  manifest: string;
  /** Null: the chart's own. */
  image: ImageReference | null;
  /** Where nodes take the image from beforehand, by what `uname -m` says; null: they pull it. */
  imported: { url: string; available: boolean } | null;
}

export interface InstallCommands {
  helm: string;
  kubectl: string;
  /** Gives the agent that runs already its new token. */
  secret: string;
  /** To be run on each node before; null where nodes pull the image. */
  image: { command: string; available: boolean } | null;
}

const SECRET_NAME = 'svc-agent-config';
/** What the plain manifest binds its role to; a service account of another namespace is added to that. */
const MANIFEST_NAMESPACE = 'svc-system';

/**
 * Shell commands that install the agent. The token goes in through standard input: an argument would stand in the
 * process list and in Helm's stored values.
 */
export function installCommands(options: InstallOptions): InstallCommands {
  const { clusterName, clusterId, apiUrl, namespace, chart, manifest, image, imported } = options;
  const secret = `kubectl apply -f - <<'EOF'\n${documents(options)}EOF`;
  const helm = [
    `helm upgrade --install svc-agent ${shellWord(chart)}`,
    `--namespace ${namespace}`,
    helmValue('agent.clusterName', clusterName),
    helmValue('agent.clusterId', clusterId),
    helmValue('svc.apiUrl', apiUrl),
    helmValue('svc.existingSecret', SECRET_NAME),
    ...imageValues(image),
  ].join(' \\\n  ');
  const kubectl = [
    `kubectl apply -n ${namespace} -f ${shellWord(manifest)}`,
    ...(namespace === MANIFEST_NAMESPACE
      ? []
      : [`kubectl set subject clusterrolebinding svc-agent --serviceaccount=${namespace}:svc-agent`]),
  ].join('\n');
  return {
    helm: `${secret}\n${helm}\n`,
    kubectl: `${secret}\n${kubectl}\n`,
    secret: `${secret}\n`,
    image: imported === null ? null : { command: importCommand(imported.url), available: imported.available },
  };
}

function imageValues(image: ImageReference | null): string[] {
  const given = Object.entries(image ?? {}).filter(([, value]) => value !== '');
  return given.map(([name, value]) => helmValue(`image.${name}`, String(value)));
}

/** Straight into the namespace of containerd that the kubelet uses. */
function importCommand(url: string): string {
  return `curl -fsSL ${shellWord(url)}/"$(uname -m)" | ctr -n k8s.io images import -\n`;
}

/** As text, whatever it looks like: `--set` makes a number of a cluster that is called 2026. Commas separate values. */
function helmValue(name: string, value: string): string {
  return `--set-string ${shellWord(`${name}=${value.replaceAll(/[\\,]/g, String.raw`\$&`)}`)}`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
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

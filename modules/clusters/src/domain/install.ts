import type { ImageReference } from './agent-image.ts';

export interface InstallOptions {
  clusterName: string;
  clusterId: string;
  token: string;
  /** URL at which agents reach the platform. */
  apiUrl: string;
  namespace: string;
  /** Folder, URL or `oci://` reference. */
  chart: string;
  /** File or URL. */
  manifest: string;
  /** Null: the chart's default. */
  image: ImageReference | null;
  /**
   * Where nodes import the image from before the installation, followed by the output of `uname -m`; null: nodes pull
   * it.
   */
  imported: { url: string; available: boolean } | null;
}

export interface InstallCommands {
  helm: string;
  kubectl: string;
  /** Updates the token of an installed agent. */
  secret: string;
  /** Run on each node before installing; null if nodes pull the image. */
  image: { command: string; available: boolean } | null;
}

const SECRET_NAME = 'svc-agent-config';
/**
 * Namespace that the plain manifest binds its role to; a service account in another namespace is added to the binding.
 */
const MANIFEST_NAMESPACE = 'svc-system';

/**
 * Shell commands that install the agent. The token is passed on standard input: as an argument it would appear in the
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

/** Imports directly into the containerd namespace that the kubelet uses. */
function importCommand(url: string): string {
  return `curl -fsSL ${shellWord(url)}/"$(uname -m)" | ctr -n k8s.io images import -\n`;
}

/** Always a string: `--set` turns a cluster named 2026 into a number. Commas separate values. */
function helmValue(name: string, value: string): string {
  return `--set-string ${shellWord(`${name}=${value.replaceAll(/[\\,]/g, String.raw`\$&`)}`)}`;
}

function shellWord(text: string): string {
  return /^[\w@%+=:./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** JSON strings are valid YAML strings, whatever the URL contains. */
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

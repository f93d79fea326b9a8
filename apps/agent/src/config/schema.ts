import { durationSchema } from '@svc/config';
import { Type, type Static } from 'typebox';

const port = (description: string, value: number, env: string) =>
  Type.Integer({ description, default: value, env, minimum: 0, maximum: 65_535 });

const flag = (description: string, value: boolean, env?: string) =>
  Type.Boolean({ description, default: value, ...(env === undefined ? {} : { env }) });

const path = (description: string, env?: string) =>
  Type.Optional(Type.String({ description, minLength: 1, ...(env === undefined ? {} : { env }) }));

const agentSection = Type.Object({
  cluster_name: Type.String({
    description: 'Name of this cluster on the platform',
    env: 'CLUSTER_NAME',
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$',
  }),
  namespace: Type.String({
    description: 'Namespace of the agent',
    env: ['NAMESPACE', 'POD_NAMESPACE'],
    default: 'svc-system',
    minLength: 1,
    maxLength: 63,
  }),
  labels: Type.Record(Type.String(), Type.String({ maxLength: 1024 }), {
    description: 'Custom labels of this cluster',
    default: {},
  }),
  key_prefix: Type.String({
    description: 'Prefix of label and annotation keys on workloads',
    env: 'SVC_KEY_PREFIX',
    default: 'svc.dev',
    pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
  }),
  state_dir: Type.String({
    description: 'Folder of the command journal; must survive restarts of the process',
    env: 'SVC_STATE_DIR',
    default: '/var/lib/svc-agent',
    minLength: 1,
  }),
});

const platformSection = Type.Object({
  api_url: Type.String({
    description: 'URL of the platform',
    env: ['SVC_API_URL', 'SVC_ENDPOINT'],
    pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
  }),
  cluster_id: Type.Optional(
    Type.String({
      description: 'ID of this cluster on the platform; defaults to the cluster name',
      env: 'SVC_CLUSTER_ID',
      pattern: '^[\\x21-\\x7e]{1,128}$',
    }),
  ),
  token: Type.Optional(Type.String({ description: 'Agent token', env: 'SVC_TOKEN', secret: true, minLength: 1 })),
  token_file: path(
    'File with the token, or a folder such as a mounted Secret with a file SVC_TOKEN or token; watched for ' +
      'changes, and overrides svc.token',
    'SVC_TOKEN_PATH',
  ),
  timeout: durationSchema({ description: 'Timeout of one request or handshake', default: '30s', env: 'SVC_TIMEOUT' }),
  reconnect: Type.Object({
    interval: durationSchema({
      description: 'Initial and shortest delay between attempts',
      default: '500ms',
      env: 'SVC_RECONNECT_INTERVAL',
    }),
    // Below the 30 s in which all agents must reconnect after a platform restart: a pause may have just begun.
    max_interval: durationSchema({
      description: 'Longest delay between attempts',
      default: '20s',
      env: 'SVC_RECONNECT_MAX_INTERVAL',
    }),
  }),
  tls: Type.Object({
    ca_cert: path("CA certificates to trust in addition to the machine's", 'SVC_TLS_CA_CERT'),
    client_cert: path('Client certificate file', 'SVC_TLS_CLIENT_CERT'),
    client_key: path('Private key file of the client certificate', 'SVC_TLS_CLIENT_KEY'),
    insecure_skip_verify: flag(
      "Skip verification of the platform's certificate; for tests only",
      false,
      'SVC_TLS_INSECURE_SKIP_VERIFY',
    ),
  }),
});

const forward = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }),
  local_addr: Type.String({ description: 'host:port', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^\\s:/]+):[0-9]{1,5}$' }),
});

const deploySection = Type.Object({
  field_manager: Type.String({
    description: 'Field manager name of the agent in managedFields',
    default: 'svc-agent',
    maxLength: 128,
  }),
  namespaces: Type.Array(Type.String(), {
    description: 'Namespaces that documents may use in addition to the deployment\'s namespace; "*" = any',
    default: [],
    maxItems: 1000,
  }),
  cluster_scoped_kinds: Type.Array(Type.String(), {
    description: 'Allowed cluster-scoped kinds, such as Namespace or ClusterRole; "*" = any',
    default: [],
    maxItems: 1000,
  }),
  prune_kinds: Type.Array(Type.String(), {
    description: 'Protected kinds to prune anyway: Namespace, CustomResourceDefinition, PersistentVolumeClaim',
    default: [],
    maxItems: 100,
  }),
  drift: Type.Enum(['off', 'report', 'correct'], {
    description:
      'Response to changes of deployed objects: nothing, an event, or applying the object again as deployed; ' +
      '"correct" requires a deployment after it is set',
    default: 'report',
    env: 'SVC_DEPLOY_DRIFT',
  }),
  max_documents: Type.Integer({
    description: 'Maximum documents per manifest',
    default: 500,
    minimum: 1,
    maximum: 2000,
  }),
  timeout: durationSchema({ description: 'Default timeout for readiness', default: '5m' }),
});

const policySection = Type.Object({
  read_only: flag('Refuse all commands that change the cluster', false, 'SVC_POLICY_READ_ONLY'),
  exec: flag('Allow commands in containers', true, 'SVC_POLICY_EXEC'),
  logs: flag('Allow reading logs', true, 'SVC_POLICY_LOGS'),
  namespaces: Type.Array(Type.String(), {
    description: 'Namespaces that commands may use; "*" = any',
    default: ['*'],
    maxItems: 1000,
    env: 'SVC_POLICY_NAMESPACES',
  }),
});

const objectName = '^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$';

const sandboxesSection = Type.Object({
  enabled: flag(
    'Let the platform run sandboxes as pods of one namespace; needs the tunnel',
    false,
    'SANDBOXES_ENABLED',
  ),
  namespace: Type.String({
    description: 'Namespace of the sandboxes; must exist and be used for nothing else',
    default: 'svc-sandboxes',
    env: 'SANDBOXES_NAMESPACE',
    pattern: '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$',
  }),
  helper_image: Type.Optional(
    Type.String({
      description: "Image that contains the helper, such as the platform's own; required by sandboxes",
      env: 'SANDBOXES_HELPER_IMAGE',
      minLength: 1,
      maxLength: 512,
    }),
  ),
  pull_secret: Type.Optional(
    Type.String({
      description: 'Secret in the namespace with the credentials for pulling images',
      pattern: objectName,
    }),
  ),
  runtime_class: Type.Optional(
    Type.String({ description: "RuntimeClass of sandboxes; defaults to the cluster's", pattern: objectName }),
  ),
  gvisor_runtime_class: Type.Optional(
    Type.String({ description: 'RuntimeClass of sandboxes with isolation gvisor', pattern: objectName }),
  ),
  storage_class: Type.Optional(
    Type.String({
      description:
        'StorageClass of the persistent volume claims with the files of sandboxes; without it, their files are lost with their pods',
      env: 'SANDBOXES_STORAGE_CLASS',
      pattern: objectName,
    }),
  ),
  user_namespaces: flag(
    'Map root of a sandbox to another user; false for nodes that do not support hostUsers',
    true,
    'SANDBOXES_USER_NAMESPACES',
  ),
  nameservers: Type.Array(Type.String({ format: 'ipv4' }), {
    description: 'IPv4 resolvers of sandboxes; without any, sandboxes have no egress',
    default: [],
    maxItems: 3,
    env: 'SANDBOXES_NAMESERVERS',
  }),
  denied_networks: Type.Array(Type.String({ pattern: '^[0-9]{1,3}(\\.[0-9]{1,3}){3}/([0-9]|[12][0-9]|3[0-2])$' }), {
    description:
      'Further IPv4 networks that sandboxes must not reach, such as nodes or an API server with public addresses',
    default: [],
    maxItems: 100,
  }),
  network_policies: Type.Enum(['verify', 'trust'], {
    description: 'verify tests whether the cluster enforces network policies; trust skips the test',
    default: 'verify',
    env: 'SANDBOXES_NETWORK_POLICIES',
  }),
});

const eventsSection = Type.Object({
  enabled: flag('Watch the cluster and report events', true, 'SVC_EVENTS_ENABLED'),
  scope: Type.Enum(['managed', 'all'], {
    description: 'Scope of the events: workloads deployed through the platform, or the whole cluster',
    default: 'managed',
    env: 'SVC_EVENTS_SCOPE',
  }),
  warnings: flag('Also report Kubernetes Warning events', true),
});

/** The agent's complete configuration: the contract's sections and ours. Every key has a default or is required. */
export const agentConfigSchema = Type.Object({
  agent: agentSection,
  svc: platformSection,
  tunnel: Type.Object({
    enabled: flag('Enable tunnels to the forwards below', false, 'TUNNEL_ENABLED'),
    kubernetes: Type.Object({
      enabled: flag('Expose the Kubernetes API through the tunnel', true, 'TUNNEL_KUBERNETES_ENABLED'),
      identity: Type.Enum(['agent', 'user'], {
        description:
          'Identity for requests to the API server: the agent, or the user "svc:user:ID" in the group ' +
          '"svc:role:ROLE" (requires permission to impersonate them)',
        default: 'agent',
        env: 'TUNNEL_KUBERNETES_IDENTITY',
      }),
      read_only_roles: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        description: 'Platform roles with read-only access: GET, HEAD and OPTIONS, and no shell',
        default: ['guest'],
        maxItems: 16,
      }),
    }),
    forwards: Type.Array(forward, { description: 'Services reachable through the tunnel', default: [], maxItems: 100 }),
  }),
  monitoring: Type.Object({
    enabled: flag('Collect and serve metrics', true, 'MONITORING_ENABLED'),
    prometheus: Type.Object({ enabled: flag('Serve metrics to Prometheus', true) }),
  }),
  http: Type.Object({
    host: Type.String({ description: 'Address to listen on', default: '0.0.0.0', env: 'SVC_AGENT_HOST' }),
    port: port('Port for health, information and configuration; 0 = any free port', 8080, 'SVC_AGENT_PORT'),
  }),
  metrics: Type.Object({
    enabled: flag('Also serve metrics on a separate port', true),
    port: port('Metrics port; 0 = any free port', 9091, 'SVC_METRICS_PORT'),
    path: Type.String({ description: 'Path of the metrics', default: '/metrics', pattern: '^/[\\x21-\\x7e]*$' }),
  }),
  kubernetes: Type.Object({
    kubeconfig: path("Path of the kubeconfig; defaults to the pod's service account", 'KUBECONFIG'),
    context: path('Context of the kubeconfig; defaults to the current context'),
    namespaces: Type.Array(Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }), {
      description:
        'Namespaces that the agent can read if it cannot read the whole cluster; events and metrics cover only ' +
        'these; empty = the whole cluster',
      default: [],
      maxItems: 1000,
      env: 'SVC_KUBERNETES_NAMESPACES',
    }),
  }),
  proxy: Type.Object({
    // Secret, because the URL may contain a password.
    https: Type.Optional(
      Type.String({
        description: 'HTTP proxy for connections to the platform',
        env: ['HTTPS_PROXY', 'https_proxy'],
        secret: true,
        pattern: '^https?://',
      }),
    ),
    no_proxy: Type.String({
      description: 'Hosts that bypass the proxy: names, .suffixes, addresses, CIDR blocks such as 10.0.0.0/8, "*"',
      default: '',
      env: ['NO_PROXY', 'no_proxy'],
    }),
  }),
  log: Type.Object({
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
      description: 'Minimum log level',
      default: 'info',
      env: 'LOG_LEVEL',
    }),
    format: Type.Enum(['auto', 'json', 'pretty'], {
      description: 'json, pretty (for people), or auto: pretty on a terminal, otherwise json',
      default: 'auto',
      env: 'LOG_FORMAT',
    }),
  }),
  deploy: deploySection,
  events: eventsSection,
  policy: policySection,
  sandboxes: sandboxesSection,
});

export type AgentConfig = Static<typeof agentConfigSchema>;

/** Keys that take effect without a restart; changes of other keys are logged as requiring one. */
export const RELOADABLE_SECTIONS: readonly string[] = [
  'agent.labels',
  'svc.token',
  'svc.token_file',
  'svc.timeout',
  'svc.reconnect',
  'svc.tls',
  'proxy',
  'tunnel.forwards',
  'tunnel.kubernetes',
  'log.level',
  'deploy',
  'policy',
  'sandboxes',
];

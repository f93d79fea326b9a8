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
    description: 'Namespace that the agent runs in',
    env: ['NAMESPACE', 'POD_NAMESPACE'],
    default: 'svc-system',
    minLength: 1,
    maxLength: 63,
  }),
  labels: Type.Record(Type.String(), Type.String({ maxLength: 1024 }), {
    description: 'Free labels of this cluster',
    default: {},
  }),
  key_prefix: Type.String({
    description: 'Prefix of the label and annotation keys on workloads',
    env: 'SVC_KEY_PREFIX',
    default: 'svc.dev',
    pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
  }),
  state_dir: Type.String({
    description: 'Folder of the command journal; it must outlive a restart of the process',
    env: 'SVC_STATE_DIR',
    default: '/var/lib/svc-agent',
    minLength: 1,
  }),
});

const platformSection = Type.Object({
  api_url: Type.String({
    description: 'Address of the platform',
    env: ['SVC_API_URL', 'SVC_ENDPOINT'],
    pattern: '^https?://[^\\s/?#@]+(/[^\\s?#]*)?$',
  }),
  cluster_id: Type.Optional(
    Type.String({
      description: 'Id of this cluster on the platform; the cluster name is sent when it is absent',
      env: 'SVC_CLUSTER_ID',
      pattern: '^[\\x21-\\x7e]{1,128}$',
    }),
  ),
  token: Type.Optional(Type.String({ description: 'Agent token', env: 'SVC_TOKEN', secret: true, minLength: 1 })),
  token_file: path(
    'File with the token, or a folder with a file SVC_TOKEN or token, as a mounted Secret is; it is watched, and goes before svc.token',
    'SVC_TOKEN_PATH',
  ),
  timeout: durationSchema({ description: 'Time for one request or handshake', default: '30s', env: 'SVC_TIMEOUT' }),
  reconnect: Type.Object({
    interval: durationSchema({
      description: 'First and shortest pause',
      default: '500ms',
      env: 'SVC_RECONNECT_INTERVAL',
    }),
    // Below the 30 s in which all agents must reconnect after a platform restart: a pause may have just begun.
    max_interval: durationSchema({ description: 'Longest pause', default: '20s', env: 'SVC_RECONNECT_MAX_INTERVAL' }),
  }),
  tls: Type.Object({
    ca_cert: path('File of authorities that are trusted besides those of the machine', 'SVC_TLS_CA_CERT'),
    client_cert: path('File of a client certificate', 'SVC_TLS_CLIENT_CERT'),
    client_key: path('File of its key', 'SVC_TLS_CLIENT_KEY'),
    insecure_skip_verify: flag('Do not verify the platform; for tests only', false, 'SVC_TLS_INSECURE_SKIP_VERIFY'),
  }),
});

const forward = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }),
  local_addr: Type.String({ description: 'host:port', pattern: '^(\\[[0-9a-fA-F:]+\\]|[^\\s:/]+):[0-9]{1,5}$' }),
});

const deploySection = Type.Object({
  field_manager: Type.String({
    description: 'Name of the agent in managedFields',
    default: 'svc-agent',
    maxLength: 128,
  }),
  namespaces: Type.Array(Type.String(), {
    description: 'Namespaces that documents may name besides that of the deploy; "*" = any',
    default: [],
    maxItems: 1000,
  }),
  cluster_scoped_kinds: Type.Array(Type.String(), {
    description: 'Cluster-scoped kinds that may be deployed, such as Namespace or ClusterRole; "*" = any',
    default: [],
    maxItems: 1000,
  }),
  prune_kinds: Type.Array(Type.String(), {
    description:
      'Kinds that are pruned although they are protected: Namespace, CustomResourceDefinition, PersistentVolumeClaim',
    default: [],
    maxItems: 100,
  }),
  drift: Type.Enum(['off', 'report', 'correct'], {
    description:
      'When somebody changes what was deployed: nothing, an event, or the object is applied again as it was deployed; "correct" needs a deploy after it was set',
    default: 'report',
    env: 'SVC_DEPLOY_DRIFT',
  }),
  max_documents: Type.Integer({ description: 'Documents in one manifest', default: 500, minimum: 1, maximum: 2000 }),
  timeout: durationSchema({ description: 'Time for readiness when the command names none', default: '5m' }),
});

const policySection = Type.Object({
  read_only: flag('Refuse every command that changes the cluster', false, 'SVC_POLICY_READ_ONLY'),
  exec: flag('Allow commands in containers', true, 'SVC_POLICY_EXEC'),
  logs: flag('Allow reading logs', true, 'SVC_POLICY_LOGS'),
  namespaces: Type.Array(Type.String(), {
    description: 'Namespaces that commands may name; "*" = any',
    default: ['*'],
    maxItems: 1000,
    env: 'SVC_POLICY_NAMESPACES',
  }),
});

const eventsSection = Type.Object({
  enabled: flag('Watch the cluster and report what happens', true, 'SVC_EVENTS_ENABLED'),
  scope: Type.Enum(['managed', 'all'], {
    description: 'Whose events: workloads that were deployed through the platform, or all of the cluster',
    default: 'managed',
    env: 'SVC_EVENTS_SCOPE',
  }),
  warnings: flag('Report Warning events of Kubernetes as well', true),
});

/** The agent's complete configuration: the contract's sections and ours. Every key has a default or is required. */
export const agentConfigSchema = Type.Object({
  agent: agentSection,
  svc: platformSection,
  tunnel: Type.Object({
    enabled: flag('Offer tunnels to the services below', false, 'TUNNEL_ENABLED'),
    kubernetes: Type.Object({
      enabled: flag('Offer the Kubernetes API through the tunnel', true, 'TUNNEL_KUBERNETES_ENABLED'),
      identity: Type.Enum(['agent', 'user'], {
        description:
          'As whom the API server is asked: as the agent, or as the user "svc:user:ID" in the group "svc:role:ROLE" (needs the right to impersonate them)',
        default: 'agent',
        env: 'TUNNEL_KUBERNETES_IDENTITY',
      }),
      read_only_roles: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        description: 'Roles of the platform that may only look: GET, HEAD and OPTIONS, and no shell',
        default: ['guest'],
        maxItems: 16,
      }),
    }),
    forwards: Type.Array(forward, { description: 'Services reachable through the tunnel', default: [], maxItems: 100 }),
  }),
  monitoring: Type.Object({
    enabled: flag('Collect and serve numbers', true, 'MONITORING_ENABLED'),
    prometheus: Type.Object({ enabled: flag('Serve them to Prometheus', true) }),
  }),
  http: Type.Object({
    host: Type.String({ description: 'Address to listen on', default: '0.0.0.0', env: 'SVC_AGENT_HOST' }),
    port: port('Port of health, information and configuration; 0 = any free one', 8080, 'SVC_AGENT_PORT'),
  }),
  metrics: Type.Object({
    enabled: flag('Serve metrics on a port of their own as well', true),
    port: port('That port; 0 = any free one', 9091, 'SVC_METRICS_PORT'),
    path: Type.String({ description: 'Path on that port', default: '/metrics', pattern: '^/[\\x21-\\x7e]*$' }),
  }),
  kubernetes: Type.Object({
    kubeconfig: path('Kubeconfig; absent = the service account of the pod', 'KUBECONFIG'),
    context: path('Context of the kubeconfig; absent = its current one'),
    namespaces: Type.Array(Type.String({ minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([a-z0-9-]*[a-z0-9])?$' }), {
      description:
        'Namespaces in which the agent may look, when it may not look at the whole cluster: events and numbers are of these; empty = the whole cluster',
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
      description: 'Hosts reached without it: names, .suffixes, addresses, blocks such as 10.0.0.0/8, "*"',
      default: '',
      env: ['NO_PROXY', 'no_proxy'],
    }),
  }),
  log: Type.Object({
    level: Type.Enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal'], {
      description: 'Least level that is logged',
      default: 'info',
      env: 'LOG_LEVEL',
    }),
    format: Type.Enum(['auto', 'json', 'pretty'], {
      description: 'json, pretty (for people), or auto: pretty on a terminal and json anywhere else',
      default: 'auto',
      env: 'LOG_FORMAT',
    }),
  }),
  deploy: deploySection,
  events: eventsSection,
  policy: policySection,
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
];

import { Type, type Static } from 'typebox';
import { IMAGE_PATTERN } from './domain/agent-image.ts';

const count = (value: number, description: string) => Type.Integer({ default: value, minimum: 1, description });
const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 31_536_000, description });

/** The `clusters` section of the platform's configuration. */
export const clustersConfigSchema = Type.Object({
  max_clusters_per_workspace: count(1000, 'Most clusters in one workspace'),
  max_open_commands: count(200, 'Most unfinished commands of one cluster; more are refused with 429'),
  max_streams: count(100, 'Most open event streams of one cluster or command'),
  connects_per_minute: count(30, 'Connection attempts of one agent token in a minute'),
  queue_seconds: seconds(86_400, 'How long a queued command waits for its agent'),
  result_grace_seconds: seconds(30, 'How much longer than its own limit a command may take to send its result'),
  lost_after_seconds: seconds(86_400, 'A command whose agent stays away so long is lost'),
  drain_seconds: Type.Integer({
    default: 3,
    minimum: 0,
    maximum: 300,
    description: 'Over how long agents are sent away at shutdown',
  }),
  tunnel: Type.Object(
    {
      domain: Type.String({
        default: 'localhost',
        pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
        description:
          'Services of a cluster are at tunnel-{cluster_id}-{service}.{domain}; browsers know *.localhost by themselves',
      }),
      max_streams: Type.Integer({
        default: 256,
        minimum: 1,
        maximum: 1024,
        description: 'Most connections through the tunnel of one cluster at once; more are refused with 503',
      }),
      answer_timeout_seconds: seconds(300, 'How long a service behind a tunnel may take to begin its answer'),
    },
    { default: {} },
  ),
  retention: Type.Object(
    {
      commands_seconds: seconds(2_592_000, 'How long finished commands and deployments are kept'),
      commands_per_cluster: count(1000, 'Most finished commands kept of one cluster'),
      events_seconds: seconds(604_800, 'How long events are kept'),
      events_per_cluster: count(10_000, 'Most events kept of one cluster'),
      heartbeats_seconds: seconds(21_600, 'How long single heartbeats are kept'),
      averages_seconds: seconds(604_800, 'How long ten-minute averages of heartbeats are kept'),
    },
    { default: {} },
  ),
  install: Type.Object(
    {
      chart: Type.String({
        default: '',
        description:
          "Helm chart in the install command: a folder, URL or oci:// reference; this platform's own when empty",
      }),
      manifest: Type.String({
        default: '',
        description: "Plain manifest in the install command: a file or URL; this platform's own when empty",
      }),
      image: Type.String({
        default: '',
        pattern: IMAGE_PATTERN,
        description:
          "The agent's image, `repository[:tag][@digest]`, in the install command and in the platform's manifest; when empty the platform's own, if nodes can pull that, else the chart's",
      }),
      namespace: Type.String({ default: 'svc-system', description: 'Namespace in the install commands' }),
    },
    { default: {} },
  ),
});

export type ClustersConfig = Static<typeof clustersConfigSchema>;

import { Type, type Static } from 'typebox';
import { IMAGE_PATTERN } from './domain/agent-image.ts';

const count = (value: number, description: string) => Type.Integer({ default: value, minimum: 1, description });
const seconds = (value: number, description: string) =>
  Type.Integer({ default: value, minimum: 1, maximum: 31_536_000, description });

/** The `clusters` section of the platform's configuration. */
export const clustersConfigSchema = Type.Object({
  max_clusters_per_workspace: count(1000, 'Maximum clusters per workspace'),
  max_open_commands: count(200, 'Maximum unfinished commands per cluster; further commands get 429'),
  max_streams: count(100, 'Maximum open event streams per cluster or command'),
  connects_per_minute: count(30, 'Connection attempts per agent token and minute'),
  queue_seconds: seconds(86_400, 'How long a queued command waits for its agent'),
  result_grace_seconds: seconds(30, "Extra time after a command's timeout to send its result"),
  lost_after_seconds: seconds(86_400, 'Time without the agent after which its commands are lost'),
  drain_seconds: Type.Integer({
    default: 3,
    minimum: 0,
    maximum: 300,
    description: 'Period over which agents are disconnected at shutdown',
  }),
  tunnel: Type.Object(
    {
      domain: Type.String({
        default: 'localhost',
        pattern: '^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$',
        description:
          'Domain of tunneled services: tunnel-{cluster_id}-{service}.{domain}; browsers resolve *.localhost without DNS',
      }),
      max_streams: Type.Integer({
        default: 256,
        minimum: 1,
        maximum: 1024,
        description: "Maximum concurrent connections through one cluster's tunnel; further connections get 503",
      }),
      answer_timeout_seconds: seconds(300, 'Time for a tunneled service to start its response'),
    },
    { default: {} },
  ),
  retention: Type.Object(
    {
      commands_seconds: seconds(2_592_000, 'How long finished commands and deployments are kept'),
      commands_per_cluster: count(1000, 'Maximum finished commands kept per cluster'),
      events_seconds: seconds(604_800, 'How long events are kept'),
      events_per_cluster: count(10_000, 'Maximum events kept per cluster'),
      heartbeats_seconds: seconds(21_600, 'How long individual heartbeats are kept'),
      averages_seconds: seconds(604_800, 'How long ten-minute averages of heartbeats are kept'),
    },
    { default: {} },
  ),
  install: Type.Object(
    {
      chart: Type.String({
        default: '',
        description:
          "Helm chart in the install command: a folder, URL or oci:// reference; defaults to the platform's own chart",
      }),
      manifest: Type.String({
        default: '',
        description: "Plain manifest in the install command: a file or URL; defaults to the platform's own manifest",
      }),
      image: Type.String({
        default: '',
        pattern: IMAGE_PATTERN,
        description:
          "Agent image, `repository[:tag][@digest]`, in the install command and the platform's manifest; defaults " +
          "to the platform's own image if nodes can pull it, otherwise to the chart's",
      }),
      namespace: Type.String({ default: 'svc-system', description: 'Namespace in the install commands' }),
    },
    { default: {} },
  ),
});

export type ClustersConfig = Static<typeof clustersConfigSchema>;

import type { SandboxOperations } from '../generated/api.ts';

/** API types under the SDK's names. All times are ISO 8601, UTC, with milliseconds. */

export type SandboxInfo = SandboxOperations['GET /containers/{id}']['answer'];
/** Lifecycle state of a sandbox. */
export type SandboxStatus = SandboxInfo['status'];
/** A sandbox to create, from either an image or a snapshot. */
export type NewSandbox = SandboxOperations['POST /containers']['body'] & {
  /** The only hosts reachable with `network: 'egress'`, such as `example.com` and `*.example.com`. */
  egress_allow?: string[] | undefined;
  /** With `network: 'egress'`, everything is reachable except these IPv4 addresses and ranges. */
  egress_deny?: string[] | undefined;
};
/** A secret of the workspace, without its value. */
export type Secret = SandboxOperations['GET /secrets/{name}']['answer'];
/** A webhook for events of sandboxes, without its secret. */
export type Webhook = SandboxOperations['GET /webhooks/{id}']['answer'];
/** A webhook to create. */
export type NewWebhook = SandboxOperations['POST /webhooks']['body'];
/** A new webhook. Its secret is not shown again. */
export type CreatedWebhook = SandboxOperations['POST /webhooks']['answer'];
/** What to change about a webhook. */
export type WebhookChange = SandboxOperations['PATCH /webhooks/{id}']['body'];
/** What became of one event for a webhook. */
export type WebhookDelivery = SandboxOperations['GET /webhooks/{id}/deliveries']['answer']['deliveries'][number];
/** The result of one request to a webhook's receiver. */
export type WebhookAttempt = SandboxOperations['POST /webhooks/{id}/test']['answer'];
/** A file system that outlives sandboxes. */
export type Volume = SandboxOperations['GET /volumes/{name}']['answer'];
/** A volume to create, empty or from a snapshot. */
export type NewVolume = SandboxOperations['POST /volumes']['body'];
/** A copy of a volume. Create volumes from it with `volumes.create({ snapshot_id })`. */
export type VolumeSnapshot = SandboxOperations['GET /volume-snapshots/{id}']['answer'];
/** A template, with its tags and builds. */
export type Template = SandboxOperations['GET /templates/{name}']['answer'];
/** A build of a template. */
export type TemplateBuild = Template['builds'][number];
/** What to build: `from` and `steps`, or a Dockerfile. */
export type NewBuild = SandboxOperations['POST /templates/{name}/builds']['body'];
/** A line of the log of a build. */
export type BuildLogLine = SandboxOperations['GET /templates/{name}/builds/{build}/logs']['answer']['lines'][number];
/** The files that the build of a Dockerfile needs. */
export type DockerfilePlan = SandboxOperations['POST /templates/plan']['answer'];
/** Adds a secret to requests of a sandbox to a host, outside of the sandbox. */
export type EgressRule = SandboxInfo['egress_rules'][number];
/** Where sandboxes are reached over SSH. */
export type SshInfo = SandboxOperations['GET /ssh']['answer'];
/** A connected cluster that runs sandboxes. Create sandboxes in it with `create({ cluster })`. */
export type SandboxCluster = SandboxOperations['GET /sandbox-clusters']['answer']['clusters'][number];
/** An image for sandboxes. */
export type SandboxImage = SandboxOperations['GET /images']['answer']['images'][number];
/** A terminal session, whose shell outlives its clients. */
export type TerminalSession = SandboxOperations['GET /containers/{id}/terminals']['answer']['terminals'][number];
/** A running process that was started through the API. */
export type RunningProcess = SandboxOperations['GET /containers/{id}/processes']['answer']['processes'][number];
/** A signal that can be sent to a process. */
export type ProcessSignal = SandboxOperations['POST /containers/{id}/processes/{pid}/signal']['body']['signal'];
/** Response of a guest sign-in. */
export type GuestSignIn = SandboxOperations['POST /auth/guest']['answer'];

/** Attributes of a file or folder. */
export type FileEntry = SandboxOperations['GET /containers/{id}/files/stat']['answer'];
/** A file that was just written. */
export type WrittenFile = SandboxOperations['POST /containers/{id}/files']['answer'];

/** The files of a sandbox at one moment. Create sandboxes from it with `create({ snapshot_id })`. */
export type Snapshot = SandboxOperations['GET /snapshots/{id}']['answer'];
/** An event of a sandbox. Ids increase by one with each event of the workspace. */
export type SandboxEvent = SandboxOperations['GET /events']['answer']['events'][number];
/** Resource usage of a sandbox; null values are unknown to its driver. */
export type SandboxMetrics = SandboxOperations['GET /containers/{id}/metrics']['answer'];
/** One sample of resource usage. */
export type SandboxUsage = SandboxMetrics['current'];
/** Outcome of unpacking an archive. */
export type UnpackedArchive = SandboxOperations['PUT /containers/{id}/files/archive']['answer'];

/** A temporary address of a port, which also works in browsers: `url` is a separate origin. */
export type PortPreview = SandboxOperations['POST /containers/{id}/ports']['answer'];
/** Whether every port is open without a link, and the URL of a port, with `{port}` for its number. */
export type PublicPorts = SandboxOperations['PUT /containers/{id}/ports']['answer'];
/** An active port link without its signature, which is shown only once. */
export type OpenPort = SandboxOperations['GET /containers/{id}/ports']['answer']['ports'][number];

/** Filters for lists of sandboxes. */
export interface SandboxQuery {
  status?: SandboxStatus | undefined;
  name?: string | undefined;
  /** Matches sandboxes with all of these labels. */
  labels?: Readonly<Record<string, string>> | undefined;
}

/** One page of sandboxes. */
export interface SandboxPage {
  items: SandboxInfo[];
  nextCursor: string | null;
  /** Maximum number of sandboxes of the caller. */
  limit: number;
}

export { AccountsClient, type AuditQuery } from './accounts.ts';
export type {
  AcceptedInvitation,
  ApiToken,
  AuditEntry,
  AuditOutcome,
  Caller,
  CreatedApiToken,
  CreatedServiceAccount,
  NewServiceAccount,
  ServiceAccount,
  SshKey,
  CreatedInvitation,
  Invitation,
  Member,
  NewAccount,
  Page,
  ServiceAccountScope,
  SignIn,
  Team,
  TeamRole,
  User,
  Workspace,
  WorkspaceQuotas,
  QuotaOverride,
  QuotaState,
  QuotaSubject,
} from './accounts-types.ts';
export { createClient, createSandboxClient, type SandboxClient, type SvcClient } from './client.ts';
export {
  Cluster,
  type DeployOptions,
  type DeploymentEvent,
  type ObjectQuery,
  type PodQuery,
} from './clusters/cluster.ts';
export {
  resultOf,
  type ClusterEvent,
  type ClusterInfo,
  type ClusterNode,
  type ClusterStatus,
  type CreatedCluster,
  type Deployment,
  type DeploymentResult,
  type NewDeployment,
  type Pod,
  type ResourceResult,
  type RotatedToken,
  type TunnelEndpoints,
  type Workload,
  type WorkloadKind,
} from './clusters/cluster-types.ts';
export { ClustersClient } from './clusters/clusters.ts';
export { createCoreClient, type CoreClient } from './core.ts';
export type { ExecOptions, ExecRequest, ExecResult } from './clusters/exec.ts';
export type { Kubeconfig, KubeconfigOptions } from './clusters/kubeconfig.ts';
export type { LogOptions, LogPiece, LogRequest } from './clusters/logs.ts';
export { ClusterShell, type ShellListener, type ShellOutput, type ShellRequest } from './clusters/shell.ts';
export {
  ApiError,
  CommandFailedError,
  ConflictError,
  ForbiddenError,
  InvalidRequestError,
  NetworkError,
  NotFoundError,
  RateLimitedError,
  ServerError,
  SvcError,
  TimeoutError,
  UnauthorizedError,
  UnexpectedAnswerError,
  type ApiErrorFields,
} from './errors.ts';
export { AccessKeysClient } from './object-store/access-keys.ts';
export type {
  AccessKey,
  CreatedAccessKey,
  CustomDomain,
  DomainStatus,
  KeyPermission,
  NewAccessKey,
} from './object-store/access-types.ts';
export { fetchSender, type BodySender, type SendAnswer, type SendRequest } from './object-store/body-sender.ts';
export type {
  Bucket,
  BucketDeletion,
  BucketFork,
  BucketLocation,
  BucketNotifications,
  BucketSettings,
  BucketSettingsChange,
  BucketUrls,
  BucketWebsite,
  CorsRule,
  DeletedBucket,
  EncryptionMode,
  Lifecycle,
  LifecycleChange,
  LifecycleRule,
  NewBucket,
  NotificationRule,
  Notifications,
  StoreStatus,
  VersioningStatus,
  WebhookSecret,
  WebhookTest,
} from './object-store/bucket-types.ts';
export { BucketsClient } from './object-store/buckets.ts';
export { DomainsClient } from './object-store/domains.ts';
export { MultipartClient, type UploadRef } from './object-store/multipart.ts';
export { NotificationsClient } from './object-store/notifications.ts';
export { ObjectStoreClient } from './object-store/object-store.ts';
export type {
  CompletedPart,
  DeletedObject,
  DeletedObjects,
  ObjectAttributes,
  ObjectListQuery,
  ObjectPage,
  ObjectVersion,
  PendingUpload,
  PresignedUrl,
  PresignRequest,
  StartedUpload,
  StoredObject,
  UploadedObject,
  UploadPart,
  VersionPage,
  VersionQuery,
} from './object-store/object-types.ts';
export { ObjectsClient, type Download, type DownloadOptions } from './object-store/objects.ts';
export type { UploadBody, UploadOptions } from './object-store/upload.ts';
export type { Usage, UsagePoint, UsageQuery, UsageResolution } from './object-store/usage-types.ts';
export { xhrSender, type XhrLike } from './object-store/xhr-sender.ts';
export {
  NodesClient,
  type NodeDrain,
  type NodeOverview,
  type NodeReplica,
  type NodeRoom,
  type NodeSandboxes,
  type NodeWork,
  type PlatformNode,
} from './nodes.ts';
export {
  PlatformClient,
  type ClustersState,
  type ObjectStoreState,
  type PlatformStatus,
  type SandboxesState,
  type ServiceState,
  type WarmImage,
  type WorkspaceScope,
} from './platform.ts';
export type { EventOptions, EventPage } from './sandboxes/events.ts';
export type { NoticeListener, SandboxNotice } from './sandboxes/notice.ts';
export {
  CommandInterruptedError,
  type CommandResult,
  type RunnableCommand,
  type RunOptions,
} from './sandboxes/exec.ts';
export {
  RemoteFiles,
  SandboxFiles,
  VolumeFiles,
  type FileAttributes,
  type FileChange,
  type FileContent,
  type FileDownload,
  type ReadOptions,
  type WriteOptions,
} from './sandboxes/files.ts';
export type { OutputListener } from './sandboxes/v1-connection.ts';
export { SandboxProcess, type ProcessOptions } from './sandboxes/process.ts';
export {
  Sandbox,
  SandboxHandle,
  type DeleteOptions,
  type ForkOptions,
  type SandboxUpdate,
} from './sandboxes/sandbox.ts';
export type {
  EgressRule,
  FileEntry,
  GuestSignIn,
  NewSandbox,
  OpenPort,
  BuildLogLine,
  DockerfilePlan,
  NewBuild,
  Template,
  TemplateBuild,
  PortPreview,
  PublicPorts,
  SandboxEvent,
  SandboxCluster,
  SandboxImage,
  SandboxInfo,
  SandboxMetrics,
  SandboxPage,
  SandboxQuery,
  SandboxStatus,
  SandboxUsage,
  Secret,
  Webhook,
  WebhookAttempt,
  WebhookChange,
  WebhookDelivery,
  CreatedWebhook,
  NewWebhook,
  Snapshot,
  NewVolume,
  Volume,
  VolumeSnapshot,
  SshInfo,
  RunningProcess,
  ProcessSignal,
  TerminalSession,
  UnpackedArchive,
  WrittenFile,
} from './sandboxes/sandbox-types.ts';
export { SandboxesClient, type CreateOptions } from './sandboxes/sandboxes.ts';
export { SecretsClient } from './sandboxes/secrets.ts';
export { WebhooksClient } from './sandboxes/webhooks.ts';
export { SnapshotsClient, type SnapshotQuery } from './sandboxes/snapshots.ts';
export { VolumesClient, type VolumeSnapshotQuery } from './sandboxes/volumes.ts';
export { TemplatesClient, type BuildLogOptions } from './sandboxes/templates.ts';
export { Terminal, type ConnectionState, type TerminalEnd, type TerminalOptions } from './sandboxes/terminal.ts';
export type { OutputChunk, ProcessExit } from './sandboxes/v1-connection.ts';
export type { OpenSocket, SocketLike, SocketRequest } from './open-socket.ts';
export { Transport, type CallOptions, type CallRequest, type Credential, type TransportOptions } from './transport.ts';
export type { PageQuery } from './pages.ts';
export { TeamsClient } from './teams.ts';
export { WorkspacesClient, type WorkspaceRef } from './workspaces.ts';

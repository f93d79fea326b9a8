import { defineErrors } from '@svc/errors';
import { QUOTA_EXCEEDED_MESSAGE } from '@svc/quotas';

/** All errors of this module. Some are also cause codes of a sandbox in the state `error`; see `CauseCode`. */
export const sandboxErrors = defineErrors({
  INVALID_FIELD: [400, 'Invalid {field}: {reason}'],
  UNKNOWN_IMAGE: [400, 'Unknown image {image}'],
  UNSUPPORTED_ISOLATION: [400, 'Isolation {isolation} is not available here: {reason}'],
  EGRESS_FIXED: [409, 'Egress cannot be changed: the sandbox was created without a network'],
  UNSUPPORTED_EGRESS: [
    400,
    'The driver {driver} cannot limit egress to hosts; leave egress_allow out or use the local driver',
  ],
  GPUS_OF_GUESTS: [403, 'Guests cannot use GPUs; sign in with an account'],
  GPUS_UNAVAILABLE: [400, 'The driver {driver} has no GPUs for sandboxes; leave resources.gpus out'],
  UNSUPPORTED_EGRESS_RULES: [
    400,
    'The driver {driver} cannot add secrets to requests; leave egress_rules out or use the local driver',
  ],
  UNKNOWN_SECRET: [400, 'Secret {name} not found in this workspace; create it with svc secret set {name}'],
  SECRETS_OF_GUESTS: [403, 'Guests cannot use secrets; sign in with an account'],
  SECRET_NOT_FOUND: [404, 'Secret {name} not found'],
  SECRET_EXISTS: [409, 'The secret {name} already exists; replace its value with PUT'],
  WEBHOOK_NOT_FOUND: [404, 'Webhook {id} not found'],
  WEBHOOK_BUSY: [409, 'The webhook {id} is being changed; try again'],
  EVENT_NOT_FOUND: [404, 'Event {id} not found, or no longer stored'],
  QUOTA_EXCEEDED: [403, QUOTA_EXCEEDED_MESSAGE],
  ORIGIN_REFUSED: [403, 'Connections from {origin} are not allowed'],
  SNAPSHOT_QUOTA_EXCEEDED: [403, 'The limit of {limit} snapshots is reached'],
  SANDBOX_TOKEN_INVALID: [401, 'Missing or invalid sandbox token'],
  VOLUME_TOKEN_INVALID: [401, 'Missing or invalid volume token'],
  SIGNATURE_INVALID: [401, 'invalid signature'],
  SIGNATURE_EXPIRED: [401, 'signature is already expired'],
  E2B_UNSUPPORTED: [501, '{feature} is not supported: {remedy}'],
  TEAM_NOT_FOUND: [404, 'Team not found'],
  TEMPLATE_NOT_FOUND: [404, "Template '{template}' not found"],
  SANDBOX_ALREADY_PAUSED: [409, 'The sandbox is already paused'],
  SANDBOX_ALREADY_RUNNING: [409, 'The sandbox is already running'],
  SANDBOX_GONE: [502, 'The sandbox was not found'],
  SNAPSHOT_NOT_FOUND: [404, 'Snapshot not found'],
  SNAPSHOT_ELSEWHERE: [409, 'The snapshot is on another node: {remedy}'],
  SNAPSHOT_UNSUPPORTED: [409, 'The snapshot cannot be used here: {reason}'],
  ARCHIVE_DAMAGED: [500, 'The archive is damaged'],
  SNAPSHOT_ENDED: [409, 'The snapshot was not taken: {reason}'],
  SNAPSHOT_UNDER_WAY: [
    409,
    'A snapshot of the sandbox is being taken: wait until it is complete, or stop the sandbox to end it, then start the sandbox',
  ],
  SNAPSHOTS_BUSY: [503, 'Too many snapshots are queued; try again later'],
  SNAPSHOTS_UNAVAILABLE: [501, 'The driver {driver} does not support snapshots'],
  SNAPSHOTS_UNSTORED: [
    501,
    'Snapshots in clusters need an object store that every replica reaches; ask the operator to use an S3 engine',
  ],
  VOLUMES_UNAVAILABLE: [501, 'The driver {driver} does not support volumes; use the local driver'],
  VOLUMES_OF_GUESTS: [403, 'Guests cannot use volumes; sign in with an account'],
  VOLUME_NOT_FOUND: [404, 'Volume {name} not found'],
  VOLUME_SNAPSHOT_NOT_FOUND: [404, 'Volume snapshot {id} not found'],
  UNKNOWN_VOLUME: [400, 'Volume {name} not found in this workspace; create it with svc volume create {name}'],
  VOLUME_EXISTS: [409, 'The volume {name} already exists'],
  VOLUME_IN_USE: [409, 'The volume {name} is in use: {reason}'],
  VOLUME_BUSY: [409, 'The volume {name} is being changed; try again'],
  VOLUMES_BUSY: [503, 'Too many volumes are open for file access; try again later'],
  VOLUME_UNREACHABLE: [503, 'The connection to the files of the volume was lost; try again'],
  VOLUME_MOUNTED: [
    409,
    'This machine can resize a volume only while no sandbox uses it; stop the sandboxes that mount it, and start them again',
  ],
  VOLUME_ELSEWHERE: [409, 'The volume {name} is on node {node} and can only be used there'],
  MOUNTS_UNAVAILABLE: [501, 'Buckets cannot be mounted here: {reason}'],
  MOUNTS_OF_GUESTS: [403, 'Guests cannot mount buckets; sign in with an account'],
  MOUNT_FORBIDDEN: [403, 'You lack permission to {access} objects in this workspace, required by {field}'],
  MOUNT_GONE: [404, 'The mounted bucket is gone'],
  BUCKET_NOT_FORKED: [409, 'The bucket {bucket} could not be forked: {reason}'],
  FORK_FORBIDDEN: [
    403,
    'You lack permission to create buckets, which this fork requires; use "mounts": "share" to share the mounted buckets',
  ],
  DROP_FORBIDDEN: [403, 'You lack permission to delete objects in this workspace, which drop_data requires'],
  UNKNOWN_BUCKET: [400, 'Bucket {bucket} not found in this workspace; create it first'],
  RESTORE_UNAVAILABLE: [501, 'Sandboxes cannot continue on other nodes here: {reason}'],
  PAUSE_UNAVAILABLE: [501, 'The driver {driver} cannot pause sandboxes'],
  SANDBOX_NOT_FOUND: [404, 'Sandbox not found'],
  SESSION_NOT_FOUND: [404, 'Terminal session {session} not found'],
  NAME_TAKEN: [409, 'The name {name} is taken'],
  SANDBOX_NOT_RUNNING: [409, 'The sandbox is not running: its status is {status}'],
  DOCKERFILE_REFUSED: [400, 'Invalid Dockerfile, line {line}: {reason}'],
  TEMPLATES_UNAVAILABLE: [501, 'The driver {driver} cannot build templates; use the local driver'],
  TEMPLATE_ELSEWHERE: [409, 'The template is on another node: {remedy}'],
  TEMPLATES_UNSUPPORTED: [
    501,
    'The driver {driver} cannot create sandboxes from templates; use the local driver or a connected cluster',
  ],
  REGISTRY_UNREACHABLE: [501, 'The cluster cannot pull the image {image} from the platform: {reason}'],
  PULL_CREDENTIAL_INVALID: [401, 'Missing or invalid pull credential'],
  IMAGE_NOT_FOUND: [404, 'Image {image} not found'],
  BLOB_NOT_FOUND: [404, 'The image has no blob {digest}'],
  IMAGES_BUSY: [429, 'Too many images are queued to be packed for nodes; try again later'],
  TEMPLATE_NOT_READY: [409, 'The template {template} has no finished build'],
  TEMPLATES_BUSY: [503, 'Too many builds are queued; try again later'],
  BUILD_NOT_FOUND: [404, 'Build not found'],
  BUILD_STARTED: [409, 'The build has already started'],
  FILES_REFUSED: [400, 'The files are refused: {reason}'],
  FILES_TOO_LARGE: [413, 'The files are too large: {reason}'],
  IDEMPOTENCY_KEY_REUSED: [409, 'The Idempotency-Key was used for another request'],
  TOO_MANY_TERMINALS: [429, 'Too many terminals are open in this sandbox'],
  TOO_MANY_CONNECTIONS: [
    429,
    'Too many SSH connections: this {holder} has {held} of the {limit} that a replica accepts; close some, or ask the operator to raise sandboxes.ssh.max_connections',
  ],
  TOO_MANY_COMMANDS: [429, 'No more than {limit} commands may run in this sandbox at once'],
  TOO_MANY_STREAMS: [429, 'No more than {limit} event streams may be open in this workspace at once'],
  HELPER_OUTDATED: [409, 'The sandbox was started by an earlier version; stop and start it to use {feature}'],
  USER_NOT_FOUND: [400, 'Unknown user: {reason}'],
  PROCESS_NOT_FOUND: [404, 'Process not found: the platform started no running process with this pid or tag'],
  PROCESS_INPUT_CLOSED: [409, 'The process accepts no more input'],
  PROCESS_FAILED: [500, 'The process could not be served: {reason}'],
  COMMAND_NOT_FOUND: [400, 'The command cannot be run: {reason}'],
  COMMAND_TIMEOUT: [504, 'The command did not end within {timeout_seconds} s'],
  PREVIEW_REFUSED: [401, 'The link to this preview is not valid: {reason}'],
  PREVIEW_NOT_FOUND: [404, 'Preview not found'],
  PREVIEW_LINK_NOT_FOUND: [404, 'No link to port {port} of this sandbox is in use'],
  TOO_MANY_PREVIEW_LINKS: [429, 'No more than {limit} links to ports of this sandbox may be in use'],
  PREVIEW_BUSY: [
    503,
    'Too many connections to ports: this {holder} has {held} of the {limit} that a sandbox accepts; close some, or try again',
  ],
  PORT_REFUSED: [403, 'This port needs a link, or the traffic token of its sandbox in e2b-traffic-access-token'],
  PORT_UNREACHABLE: [502, 'Nothing is listening there: {reason}'],
  RATE_QUOTA_EXCEEDED: [
    429,
    'The {scope} quota {quota} is used up: {limit} per minute; try again in {retry_after_seconds} s, or ask the operator to raise it (svc admin quota set)',
  ],
  RATE_LIMITED: [429, 'Too many requests; try again in {retry_after_seconds} s'],
  UNKNOWN_CLUSTER: [400, 'Cluster {cluster} not found in this workspace; svc cluster ls lists its clusters'],
  CLUSTERS_OF_GUESTS: [403, 'Guests cannot use clusters; sign in with an account'],
  CLUSTER_FORBIDDEN: [403, 'You lack permission to run sandboxes in the cluster {cluster}'],
  CLUSTER_WITHOUT_SANDBOXES: [409, 'The cluster {cluster} runs no sandboxes: {reason}'],
  CLUSTER_OFFLINE: [503, 'The cluster {cluster} cannot be reached: {reason}'],
  NODE_NOT_FOUND: [404, 'Node {node} not found; svc node ls lists the nodes for sandboxes'],
  NODE_DRAINING: [503, 'Node {node} is being drained, and no other node can start this sandbox; try again later'],
  SANDBOX_ELSEWHERE: [503, 'The sandbox is on node {node}: {remedy}'],
  SANDBOXES_UNAVAILABLE: [503, 'Sandboxes are off: {reason}'],

  NO_CAPACITY: [503, 'No room for another sandbox: {reason}'],
  IMAGE_PULL_FAILED: [502, 'The image {image} could not be prepared: {reason}'],
  ROOTFS_FAILED: [500, 'The root file system could not be created: {reason}'],
  RUNTIME_FAILED: [500, 'The sandbox could not be started: {reason}'],
  AGENT_TIMEOUT: [504, 'The sandbox was not ready in time'],
  DISK_FULL: [507, 'The disk is full'],
  HOST_DISK_FULL: [
    507,
    'The host is short of disk space; the rest is reserved. Delete sandboxes, snapshots or objects, or ask the operator for more space',
  ],
  NODE_LOST: [500, 'The sandbox was lost on its machine'],
  CLUSTER_REMOVED: [410, 'The cluster {cluster} was removed, and the sandbox with it'],
  RESTORE_FAILED: [
    500,
    'The sandbox failed again after {count} restores and is not restored any more. Start it to try again',
  ],
  INIT_CRASHED: [500, 'The first process of the sandbox ended unexpectedly'],
  OOM_KILLED: [500, 'The sandbox ran out of memory'],

  PATH_NOT_FOUND: [404, 'No such file or directory: {path}'],
  NOT_A_DIRECTORY: [400, 'Not a directory: {path}'],
  IS_A_DIRECTORY: [400, 'Is a directory: {path}'],
  NOT_A_FILE: [400, 'Not a regular file: {path}'],
  INVALID_PATH: [400, 'Invalid path: {reason}'],
  PATH_EXISTS: [409, 'Already exists: {path}'],
  PRECONDITION_FAILED: [412, 'The file does not match the condition; read it again: {path}'],
  DIRECTORY_NOT_EMPTY: [409, 'The directory is not empty: {path}'],
  PATH_ACCESS_DENIED: [403, 'Permission denied: {path}'],
  PROTECTED_PATH: [403, 'The path is protected: {path}'],
  FILE_TOO_LARGE: [413, 'The file is larger than {limit_bytes} bytes'],
  RANGE_NOT_SATISFIABLE: [416, 'The range is outside the file'],
  INVALID_ARCHIVE: [400, 'The archive is refused: {reason}'],
  ARCHIVE_TOO_LARGE: [413, 'The archive is too large: {reason}'],
  TOO_MANY_WATCHES: [429, 'No more than {limit} folders of this sandbox may be watched at once'],
  WATCHER_NOT_FOUND: [404, 'Watcher not found; it may have ended because its changes were not read in time'],
  WATCH_OVERFLOW: [500, 'Some changes were missed because they were not read in time; list the folder again'],
  FILE_OPERATION_FAILED: [500, 'The file operation failed: {reason}'],
});

/** Why a sandbox is in the state `error`. */
export type CauseCode =
  | 'IMAGE_PULL_FAILED'
  | 'ROOTFS_FAILED'
  | 'RUNTIME_FAILED'
  | 'AGENT_TIMEOUT'
  | 'DISK_FULL'
  | 'HOST_DISK_FULL'
  | 'NODE_LOST'
  | 'CLUSTER_OFFLINE'
  | 'CLUSTER_REMOVED'
  | 'RESTORE_FAILED'
  | 'INIT_CRASHED'
  | 'OOM_KILLED'
  | 'NO_CAPACITY';

const CAUSES: ReadonlySet<string> = new Set([
  'IMAGE_PULL_FAILED',
  'ROOTFS_FAILED',
  'RUNTIME_FAILED',
  'AGENT_TIMEOUT',
  'DISK_FULL',
  'HOST_DISK_FULL',
  'NODE_LOST',
  'CLUSTER_OFFLINE',
  'CLUSTER_REMOVED',
  'RESTORE_FAILED',
  'INIT_CRASHED',
  'OOM_KILLED',
  'NO_CAPACITY',
]);

export function isCauseCode(code: string): code is CauseCode {
  return CAUSES.has(code);
}

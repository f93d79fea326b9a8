import { defineErrors } from '@svc/errors';
import { QUOTA_EXCEEDED_MESSAGE } from '@svc/quotas';

/** All errors of this module. Some are also cause codes of a sandbox in the state `error`; see `CauseCode`. */
export const sandboxErrors = defineErrors({
  INVALID_FIELD: [400, 'Invalid {field}: {reason}'],
  UNKNOWN_IMAGE: [400, 'Unknown image {image}'],
  UNSUPPORTED_ISOLATION: [400, 'Isolation {isolation} is not available here: {reason}'],
  UNSUPPORTED_EGRESS: [
    400,
    'The driver {driver} cannot limit egress to hosts; leave egress_allow out or use the local driver',
  ],
  QUOTA_EXCEEDED: [403, QUOTA_EXCEEDED_MESSAGE],
  ORIGIN_REFUSED: [403, 'Connections from {origin} are not allowed'],
  SNAPSHOT_QUOTA_EXCEEDED: [403, 'The limit of {limit} snapshots is reached'],
  SNAPSHOT_NOT_FOUND: [404, 'Snapshot not found'],
  SNAPSHOT_ELSEWHERE: [409, 'The snapshot is on another node'],
  SNAPSHOTS_BUSY: [503, 'Too many snapshots are queued; try again later'],
  SNAPSHOTS_UNAVAILABLE: [501, 'The driver {driver} does not support snapshots'],
  SANDBOX_NOT_FOUND: [404, 'Sandbox not found'],
  SESSION_NOT_FOUND: [404, 'There is no terminal session {session}'],
  NAME_TAKEN: [409, 'The name {name} is taken'],
  SANDBOX_NOT_RUNNING: [409, 'The sandbox is not running: its status is {status}'],
  IDEMPOTENCY_KEY_REUSED: [409, 'The Idempotency-Key was used for another request'],
  TOO_MANY_TERMINALS: [429, 'Too many terminals are open in this sandbox'],
  TOO_MANY_COMMANDS: [429, 'No more than {limit} commands may run in this sandbox at once'],
  TOO_MANY_STREAMS: [429, 'No more than {limit} event streams may be open in this workspace at once'],
  COMMAND_TIMEOUT: [504, 'The command did not end within {timeout_seconds} s'],
  PREVIEW_REFUSED: [401, 'The link to this preview is not valid: {reason}'],
  PREVIEW_NOT_FOUND: [404, 'There is no preview here'],
  PREVIEW_LINK_NOT_FOUND: [404, 'No link to port {port} of this sandbox is in use'],
  TOO_MANY_PREVIEW_LINKS: [429, 'No more than {limit} links to ports of this sandbox may be in use'],
  PREVIEW_BUSY: [503, 'No more than {limit} connections to ports of this sandbox may be open'],
  PORT_UNREACHABLE: [502, 'Nothing is listening there: {reason}'],
  RATE_LIMITED: [429, 'Too many requests; try again in {retry_after_seconds} s'],
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
  RANGE_NOT_SATISFIABLE: [416, 'The range lies outside of the file'],
  INVALID_ARCHIVE: [400, 'The archive is refused: {reason}'],
  ARCHIVE_TOO_LARGE: [413, 'The archive is too large: {reason}'],
  TOO_MANY_WATCHES: [429, 'No more than {limit} folders of this sandbox may be watched at once'],
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
  'INIT_CRASHED',
  'OOM_KILLED',
  'NO_CAPACITY',
]);

export function isCauseCode(code: string): code is CauseCode {
  return CAUSES.has(code);
}

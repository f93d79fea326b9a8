import type { SandboxOperations } from '../generated/api.ts';

/** Shapes of the API under the names that this SDK gives them. All times are ISO 8601, UTC, with milliseconds. */

export type SandboxInfo = SandboxOperations['GET /containers/{id}']['answer'];
export type SandboxStatus = SandboxInfo['status'];
/** Of an image, or of a snapshot: one of the two is given. */
export type NewSandbox = SandboxOperations['POST /containers']['body'] & {
  /** With `network: 'egress'`: only these hosts are reached, such as `example.com` and `*.example.com`. */
  egress_allow?: string[] | undefined;
};
export type SandboxImage = SandboxOperations['GET /images']['answer']['images'][number];
export type TerminalSession = SandboxOperations['GET /containers/{id}/terminals']['answer']['terminals'][number];
export type GuestSignIn = SandboxOperations['POST /auth/guest']['answer'];

export type FileEntry = SandboxOperations['GET /containers/{id}/files/stat']['answer'];
export type WrittenFile = SandboxOperations['POST /containers/{id}/files']['answer'];

/** The files of a sandbox at one moment, of which others can be made (`create({ snapshot_id })`). */
export type Snapshot = SandboxOperations['GET /snapshots/{id}']['answer'];
/** Something that has happened to a sandbox. Ids grow by one with each event of the workspace. */
export type SandboxEvent = SandboxOperations['GET /events']['answer']['events'][number];
/** What a sandbox uses; null is what its driver cannot tell. */
export type SandboxMetrics = SandboxOperations['GET /containers/{id}/metrics']['answer'];
export type SandboxUsage = SandboxMetrics['current'];
export type UnpackedArchive = SandboxOperations['PUT /containers/{id}/files/archive']['answer'];

/** An address under which a port is reached for a while, also by a browser: `url` is an origin of its own. */
export type PortPreview = SandboxOperations['POST /containers/{id}/ports']['answer'];
/** The same without its signature, which is told once. */
export type OpenPort = SandboxOperations['GET /containers/{id}/ports']['answer']['ports'][number];

export interface SandboxQuery {
  status?: SandboxStatus | undefined;
  name?: string | undefined;
  /** Sandboxes that have all of these. */
  labels?: Readonly<Record<string, string>> | undefined;
}

export interface SandboxPage {
  items: SandboxInfo[];
  nextCursor: string | null;
  /** How many sandboxes the caller may have. */
  limit: number;
}

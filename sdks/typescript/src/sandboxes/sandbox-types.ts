import type { SandboxOperations } from '../generated/api.ts';

/** Shapes of the API under the names that this SDK gives them. All times are ISO 8601, UTC, with milliseconds. */

export type SandboxInfo = SandboxOperations['GET /containers/{id}']['answer'];
export type SandboxStatus = SandboxInfo['status'];
export type NewSandbox = SandboxOperations['POST /containers']['body'];
export type SandboxImage = SandboxOperations['GET /images']['answer']['images'][number];
export type TerminalSession = SandboxOperations['GET /containers/{id}/terminals']['answer']['terminals'][number];
export type GuestSignIn = SandboxOperations['POST /auth/guest']['answer'];

export type FileEntry = SandboxOperations['GET /containers/{id}/files/stat']['answer'];
export type WrittenFile = SandboxOperations['POST /containers/{id}/files']['answer'];

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

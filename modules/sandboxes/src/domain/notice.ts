/** Announces to those who use a sandbox what is about to happen to it. */
export interface SandboxNotice {
  readonly code: string;
  readonly message: string;
  /** ISO 8601 UTC. */
  readonly stopsAt: string;
}

import type { SandboxInfo } from '@svc/sdk';

/** Adds fields of newer platforms. */
export type Sandbox = SandboxInfo & {
  /** Reachable hostnames; null or absent: every public host. */
  egress_allow?: string[] | null;
};

export type ImageProgress = NonNullable<SandboxInfo['image_progress']>;

import type { SandboxInfo } from '@svc/sdk';

/** Adds fields of newer platforms. */
export type Sandbox = SandboxInfo & {
  /** Reachable host names; null or absent: every public host. */
  egress_allow?: string[] | null;
};

export type ImageProgress = NonNullable<SandboxInfo['image_progress']>;

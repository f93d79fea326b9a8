import type { SandboxInfo } from '@svc/sdk';

/** With what newer platforms tell besides. */
export type Sandbox = SandboxInfo & {
  /** Host names that may be reached; null or absent: every public one. */
  egress_allow?: string[] | null;
};

export type ImageProgress = NonNullable<SandboxInfo['image_progress']>;

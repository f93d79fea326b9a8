import type { SandboxInfo } from '@svc/sdk';

/** Adds fields of newer platforms. */
export type Sandbox = SandboxInfo & {
  /** Reachable hostnames; null or absent: every public host. */
  egress_allow?: string[] | null;
};

export type ImageProgress = NonNullable<SandboxInfo['image_progress']>;

/** What has files: a sandbox, by its id, or a volume, by its name. */
export interface FileOwner {
  kind: 'sandbox' | 'volume';
  id: string;
}

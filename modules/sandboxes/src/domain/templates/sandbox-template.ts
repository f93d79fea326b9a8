/** What a sandbox has from the template that it was created from. Kept with the sandbox, so that the template may go. */
export interface SandboxTemplate {
  /** Digest of the built image, on the sandbox's node or, if a cluster runs the sandbox, on the build's. */
  readonly digest: string;
  /** Null for a sandbox that builds one. */
  readonly buildId: string | null;
  /** User of the start command, and of E2B clients that name none; null for the usual one. */
  readonly user: string | null;
  readonly workingFolder: string | null;
  /** Started in the background each time the sandbox starts. */
  readonly startCommand: readonly string[] | null;
  /** Its changes are going to be a layer of an image. */
  readonly building?: boolean;
}

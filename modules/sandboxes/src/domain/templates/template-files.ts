/** Archives of files that builds copy from, by workspace and name. */
export interface TemplateFiles {
  has(workspaceUuid: string, name: string): Promise<boolean>;
  /**
   * Stores a tar archive, plain or gzip; complete or not at all. Replaces one of the same name. Throws FILES_REFUSED if its
   * SHA-256 (hexadecimal) is not the given one, FILES_TOO_LARGE, and HOST_DISK_FULL.
   */
  write(
    workspaceUuid: string,
    name: string,
    body: AsyncIterable<Buffer>,
    sha256: string | null,
  ): Promise<{ readonly sizeBytes: number }>;
  /** The archive without compression; null if there is none. Marks it as used. */
  open(workspaceUuid: string, name: string): Promise<AsyncIterable<Buffer> | null>;
  /** Removes archives that were not used since, and incomplete ones. */
  sweep(before: Date): Promise<void>;
}

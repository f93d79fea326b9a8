/** Content in the trash: one blob, or a manifest with all of its parts. */
export interface TrashEntry {
  kind: 'blob' | 'manifest';
  contentId: string;
}

/** Commands on content that is no longer needed. Each is one transaction. */
export interface TrashCommands {
  /**
   * Deletes trash entries. The content of `removed` entries has been removed; the part rows of manifests are deleted
   * with them. `kept` entries are still needed and only leave the trash.
   */
  forgetTrash(input: { removed: readonly TrashEntry[]; kept: readonly TrashEntry[] }): Promise<void>;
  /** Makes up to `limit` of a workspace's trash entries due now. */
  hastenTrash(input: {
    workspaceUuid: string;
    nowMs: number;
    limit: number;
  }): Promise<{ entries: number; bytes: number }>;
  /** Deletes the rows of removed manifest parts, and the records of removed blobs. */
  forgetManifestParts(input: {
    manifestId: string;
    throughPartNumber: number;
    removedBlobs: readonly string[];
  }): Promise<void>;
  /** Keeps everything in the trash until then. The holder must renew it. */
  holdTrash(input: { holder: string; untilMs: number }): Promise<void>;
  releaseTrash(input: { holder: string }): Promise<void>;
  /** Keeps content in the trash until then, because the holder still reads it. Forgets holds that have ended. */
  holdContent(input: { holder: string; contentIds: readonly string[]; nowMs: number; untilMs: number }): Promise<void>;
}

/** Queries of content that is no longer needed. */
export interface TrashQueries {
  /** Without what a backup or a reader holds. */
  dueTrash(input: { nowMs: number; limit: number }): Promise<readonly TrashEntry[]>;
  /** Whether a live object or upload needs it. The trash does not count. */
  isContentNeeded(input: TrashEntry): Promise<boolean>;
  isTrashHeld(input: { nowMs: number }): Promise<boolean>;
  /** The first parts of a manifest, completed or not. `shared` if something else also needs the blob. */
  manifestBlobs(input: {
    manifestId: string;
    limit: number;
  }): Promise<readonly { partNumber: number; blobId: string; shared: boolean }[]>;
}

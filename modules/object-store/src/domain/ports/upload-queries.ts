import type { PartRecord, UploadRecord } from './records.ts';

/** A page of open uploads. */
export interface UploadPage {
  uploads: readonly UploadRecord[];
  commonPrefixes: readonly string[];
  truncated: boolean;
  nextKey: string | null;
  nextUploadId: string | null;
}

/** Queries of multipart uploads. */
export interface UploadQueries {
  findUpload(input: { uploadId: string; bucketId: number; key: string }): Promise<UploadRecord | null>;
  /** Includes completed uploads for as long as they are remembered. */
  findUploadById(input: {
    uploadId: string;
    bucketId: number;
  }): Promise<(UploadRecord & { completed: boolean }) | null>;
  listUploads(input: {
    bucketId: number;
    prefix: string;
    delimiter: string;
    afterKey: string;
    afterUploadId: string;
    limit: number;
  }): Promise<UploadPage>;
  listParts(input: { uploadId: string; afterPartNumber: number; limit: number }): Promise<readonly PartRecord[]>;
}

/** Shapes of objects, uploads and listings, with the names of the wire. */

export interface StoredObject {
  key: string;
  /** Bytes. */
  size: number;
  /** Without quotes. */
  etag: string;
  last_modified: string;
  content_type: string | null;
  version_id: string | null;
  public?: boolean;
  checksum_crc64nvme?: string | null;
  url?: string | null;
}

export interface ObjectPage {
  objects: StoredObject[];
  /** Keys up to the delimiter: the folders of this level. */
  prefixes: string[];
  /** Goes into the next call; null on the last page. */
  cursor: string | null;
  truncated: boolean;
  key_count: number;
}

export interface ObjectListQuery {
  prefix?: string | undefined;
  /** Typically `/`: what follows it is folded into `prefixes`. */
  delimiter?: string | undefined;
  cursor?: string | undefined;
  /** 1 to 1,000. */
  limit?: number | undefined;
}

export interface ObjectVersion {
  key: string;
  version_id: string | null;
  is_latest: boolean;
  delete_marker: boolean;
  size: number | null;
  etag: string | null;
  last_modified: string;
}

export interface VersionPage {
  versions: ObjectVersion[];
  cursor: string | null;
  truncated: boolean;
}

/** What goes with the bytes of an object. */
export interface ObjectAttributes {
  contentType?: string | undefined;
  cacheControl?: string | undefined;
  metadata?: Readonly<Record<string, string>> | undefined;
}

export interface PresignRequest {
  method?: 'GET' | 'PUT' | 'DELETE' | 'HEAD' | undefined;
  /** Seconds, at most seven days. */
  expires_in?: number | undefined;
  content_type?: string | undefined;
}

export interface PresignedUrl {
  url: string;
  method: string;
  /** To be sent with it, as they are. */
  headers: Readonly<Record<string, string>>;
  key?: string;
  expires_at: string;
}

export interface StartedUpload {
  uploadId: string;
  key: string;
  bucket: string;
  min_part_size?: number;
  max_parts?: number;
  recommended_part_size?: number;
}

export interface UploadPart {
  partNumber: number;
  etag: string;
  size?: number;
}

export interface PendingUpload {
  uploadId: string;
  key: string;
  initiated_at?: string;
}

export interface DeletedObject {
  key: string;
  deleted: boolean;
  delete_marker?: boolean;
  version_id?: string | null;
}

export interface DeletedObjects {
  deleted: DeletedObject[];
  errors: { key: string; code: string; message: string }[];
}

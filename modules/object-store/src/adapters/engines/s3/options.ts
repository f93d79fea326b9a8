/** Where the upstream is and how it is spoken to. */
export interface S3EngineOptions {
  /** `http(s)://host[:port]`; absent: AWS itself. */
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  /** In front of every key, so that several stores may share a bucket. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  pathStyle: boolean;
  connectTimeoutMs: number;
  /** Of one upstream request, and of silence while its body is read. */
  requestTimeoutMs: number;
  /** Of one upstream request, the first included. */
  maxAttempts: number;
  maxConnections: number;
  /** All uploads together gather their parts in this much. */
  uploadMemoryBytes: number;
  /** A part of a multipart upload; smaller blobs go in one request. At least 5 MiB. */
  partBytes: number;
  random: (size: number) => Buffer;
  /** Milliseconds since the epoch. */
  now: () => number;
}

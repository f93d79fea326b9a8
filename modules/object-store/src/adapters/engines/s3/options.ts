import type { Clock } from '@svc/runtime';
/** How to reach the upstream engine. */
export interface S3EngineOptions {
  /** `http(s)://host[:port]`. Defaults to AWS. */
  endpoint?: string | undefined;
  region: string;
  bucket: string;
  /** Prefix of every key, so that several stores can share a bucket. */
  prefix: string;
  accessKeyId: string;
  secretAccessKey: string;
  /** Use `endpoint/bucket/key` instead of `bucket.endpoint/key`. */
  pathStyle: boolean;
  connectTimeoutMs: number;
  /** Timeout of one upstream request, and of silence while reading its body. */
  requestTimeoutMs: number;
  /** Attempts of one upstream request, including the first. */
  maxAttempts: number;
  maxConnections: number;
  /** Memory shared by the parts of all uploads. */
  uploadMemoryBytes: number;
  /** Part size of a multipart upload; smaller blobs take one request. At least 5 MiB. */
  partBytes: number;
  random: (size: number) => Buffer;
  clock: Clock;
}

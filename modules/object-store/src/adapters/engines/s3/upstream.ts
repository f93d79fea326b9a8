import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  GetObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  PutObjectCommand,
  S3Client,
  UploadPartCommand,
} from '@aws-sdk/client-s3';
import { Availability } from './availability.ts';
import type { S3EngineOptions } from './options.ts';

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/** Requests to the engine, each bounded in time and attempts. */
export class Upstream {
  readonly requestTimeoutMs: number;
  readonly availability: Availability;
  readonly #client: S3Client;
  readonly #bucket: string;

  constructor(options: S3EngineOptions) {
    this.requestTimeoutMs = options.requestTimeoutMs;
    this.availability = new Availability(options.clock);
    this.#bucket = options.bucket;
    const agent = { maxSockets: options.maxConnections, keepAlive: true };
    this.#client = new S3Client({
      region: options.region,
      forcePathStyle: options.pathStyle,
      credentials: { accessKeyId: options.accessKeyId, secretAccessKey: options.secretAccessKey },
      maxAttempts: options.maxAttempts, // with jittered exponential backoff
      // Several engines do not support trailing checksums. The payload hash is signed, and our rows keep our own
      // checksum.
      requestChecksumCalculation: 'WHEN_REQUIRED',
      responseChecksumValidation: 'WHEN_REQUIRED',
      requestHandler: {
        connectionTimeout: options.connectTimeoutMs,
        requestTimeout: options.requestTimeoutMs,
        throwOnRequestTimeout: true,
        httpAgent: agent,
        httpsAgent: agent,
      },
      ...(options.endpoint === undefined ? {} : { endpoint: options.endpoint }),
    });
  }

  put(Key: string, Body: Uint8Array) {
    return this.#send(() => this.#client.send(new PutObjectCommand({ Bucket: this.#bucket, Key, Body })));
  }

  async createUpload(Key: string): Promise<string> {
    const { UploadId } = await this.#send(() =>
      this.#client.send(new CreateMultipartUploadCommand({ Bucket: this.#bucket, Key })),
    );
    if (UploadId === undefined) throw new Error('the engine gave no upload id');
    return UploadId;
  }

  async putPart(Key: string, UploadId: string, PartNumber: number, Body: Uint8Array): Promise<UploadedPart> {
    const { ETag } = await this.#send(() =>
      this.#client.send(new UploadPartCommand({ Bucket: this.#bucket, Key, UploadId, PartNumber, Body })),
    );
    return { PartNumber, ETag };
  }

  completeUpload(Key: string, UploadId: string, Parts: UploadedPart[]) {
    return this.#send(() =>
      this.#client.send(
        new CompleteMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId, MultipartUpload: { Parts } }),
      ),
    );
  }

  abortUpload(Key: string, UploadId: string) {
    return this.#send(() =>
      this.#client.send(new AbortMultipartUploadCommand({ Bucket: this.#bucket, Key, UploadId })),
    );
  }

  get(Key: string, Range: string) {
    return this.#send(() => this.#client.send(new GetObjectCommand({ Bucket: this.#bucket, Key, Range })));
  }

  head(Key: string) {
    return this.#send(() => this.#client.send(new HeadObjectCommand({ Bucket: this.#bucket, Key })));
  }

  remove(Key: string) {
    return this.#send(() => this.#client.send(new DeleteObjectCommand({ Bucket: this.#bucket, Key })));
  }

  copy(from: string, Key: string) {
    const CopySource = `${this.#bucket}/${encodeURI(from)}`;
    return this.#send(() => this.#client.send(new CopyObjectCommand({ Bucket: this.#bucket, Key, CopySource })));
  }

  list(Prefix: string, ContinuationToken: string | undefined) {
    return this.#send(() =>
      this.#client.send(new ListObjectsV2Command({ Bucket: this.#bucket, Prefix, ContinuationToken })),
    );
  }

  listUploads(Prefix: string, KeyMarker: string | undefined, UploadIdMarker: string | undefined) {
    return this.#send(() =>
      this.#client.send(new ListMultipartUploadsCommand({ Bucket: this.#bucket, Prefix, KeyMarker, UploadIdMarker })),
    );
  }

  headBucket() {
    return this.#send(() => this.#client.send(new HeadBucketCommand({ Bucket: this.#bucket })));
  }

  close(): void {
    this.#client.destroy();
  }

  #send<Result>(request: () => Promise<Result>): Promise<Result> {
    return this.availability.run(request);
  }
}

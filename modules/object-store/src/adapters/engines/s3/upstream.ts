import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CopyObjectCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  HeadBucketCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
  ListObjectsV2Command,
  S3Client,
} from '@aws-sdk/client-s3';
import type { IncomingHttpHeaders } from 'node:http';
import { Availability } from './availability.ts';
import { DataClient, type DataRequest, type DataResponse } from './data-client.ts';
import type { S3EngineOptions } from './options.ts';

export interface UploadedPart {
  PartNumber: number;
  ETag: string | undefined;
}

/**
 * Requests to the engine, each bounded in time and attempts. Those that carry the bytes of blobs go through a client of
 * our own, all others through the SDK.
 */
export class Upstream {
  readonly requestTimeoutMs: number;
  readonly availability: Availability;
  readonly #client: S3Client;
  readonly #data: DataClient;
  readonly #bucket: string;

  constructor(options: S3EngineOptions) {
    this.requestTimeoutMs = options.requestTimeoutMs;
    this.availability = new Availability(options.clock);
    this.#bucket = options.bucket;
    this.#data = new DataClient(options);
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

  async put(key: string, body: readonly Uint8Array[], crc64nvme?: Buffer): Promise<void> {
    await this.#upload({ method: 'PUT', key, body, ...(crc64nvme === undefined ? {} : { crc64nvme }) });
  }

  async createUpload(Key: string): Promise<string> {
    const { UploadId } = await this.#send(() =>
      this.#client.send(new CreateMultipartUploadCommand({ Bucket: this.#bucket, Key })),
    );
    if (UploadId === undefined) throw new Error('the engine gave no upload id');
    return UploadId;
  }

  async putPart(key: string, uploadId: string, number: number, part: Uint8Array): Promise<UploadedPart> {
    const parameters = [
      { name: 'partNumber', value: String(number) },
      { name: 'uploadId', value: uploadId },
    ];
    const { etag } = await this.#upload({ method: 'PUT', key, parameters, body: [part] });
    return { PartNumber: number, ETag: etag };
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

  /** Returns the response, whose body is the range; `endExclusive` is the first byte that is not sent. */
  get(key: string, start: number, endExclusive: number): Promise<DataResponse> {
    const headers = { range: `bytes=${start}-${endExclusive - 1}` };
    return this.#send(() => this.#data.send({ method: 'GET', key, headers }));
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
    this.#data.close();
  }

  #upload(request: DataRequest): Promise<IncomingHttpHeaders> {
    return this.#send(async () => {
      const response = await this.#data.send(request);
      await response.body.drain();
      return response.headers;
    });
  }

  #send<Result>(request: () => Promise<Result>): Promise<Result> {
    return this.availability.run(request);
  }
}

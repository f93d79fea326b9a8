import { S3Client, S3ServiceException, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { RunningStore, TestKey } from './running-store.ts';

/** The AWS SDK client with its defaults, for one store. */
export function sdkClient(
  store: Pick<RunningStore, 'endpoint'>,
  key: TestKey,
  extra: Partial<S3ClientConfig> = {},
): S3Client {
  return new S3Client({
    endpoint: store.endpoint,
    region: 'auto',
    forcePathStyle: true,
    credentials: { accessKeyId: key.accessKeyId, secretAccessKey: key.secretAccessKey },
    maxAttempts: 1,
    ...extra,
  });
}

/** Returns the S3 code and status of a failed call; code `none` if it succeeds. */
export async function catchRefusal(call: Promise<unknown>): Promise<{ code: string; status: number | undefined }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof S3ServiceException) return { code: error.name, status: error.$metadata.httpStatusCode };
    throw error;
  }
  return { code: 'none', status: undefined };
}

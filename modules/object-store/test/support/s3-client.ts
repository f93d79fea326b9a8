import { S3Client, S3ServiceException, type S3ClientConfig } from '@aws-sdk/client-s3';
import type { RunningStore, TestKey } from './running-store.ts';

/** The official client with its own defaults, against one store. */
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

/** The S3 code and status that a call is refused with. */
export async function refusalOf(call: Promise<unknown>): Promise<{ code: string; status: number | undefined }> {
  try {
    await call;
  } catch (error) {
    if (error instanceof S3ServiceException) return { code: error.name, status: error.$metadata.httpStatusCode };
    throw error;
  }
  return { code: 'none', status: undefined };
}

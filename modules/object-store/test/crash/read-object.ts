import { GetObjectCommand, S3ServiceException, type S3Client } from '@aws-sdk/client-s3';
import { isAbsent } from './client.ts';

/** Null if there is no such object. */
export async function readObject(
  client: S3Client,
  name: { Bucket: string; Key: string; VersionId?: string },
): Promise<Buffer | null> {
  try {
    const { Body } = await client.send(new GetObjectCommand(name));
    return Buffer.from((await Body?.transformToByteArray()) ?? []);
  } catch (error) {
    if (isAbsent(error)) return null;
    // Bytes no client wrote, so that the journal reports them.
    if (error instanceof S3ServiceException && error.name === 'DataLost') return Buffer.from('the bytes are lost');
    throw error;
  }
}

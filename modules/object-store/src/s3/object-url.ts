import type { S3Request } from './s3-request.ts';

/** Path-style URL of an object, on the host that the client used. */
export function createObjectUrl({ headers, incoming }: S3Request, bucketName: string, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return `${'encrypted' in incoming.socket ? 'https' : 'http'}://${headers.get('host') ?? ''}/${bucketName}/${path}`;
}

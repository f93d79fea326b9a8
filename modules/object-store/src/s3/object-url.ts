import type { S3Request } from './s3-request.ts';

/** Where a client finds what it has stored: at the host that it spoke to, by path. */
export function urlOf({ headers, incoming }: S3Request, bucketName: string, key: string): string {
  const path = key.split('/').map(encodeURIComponent).join('/');
  return `${'encrypted' in incoming.socket ? 'https' : 'http'}://${headers.get('host') ?? ''}/${bucketName}/${path}`;
}

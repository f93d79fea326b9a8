import { isAppError } from '@svc/errors';
import { storeErrors } from '../../errors.ts';
import type { StoreServices } from '../../domain/services.ts';
import type { EventOrigin } from '../../domain/ports/notifications.ts';
import type { FoundObject } from '../../domain/ports/objects.ts';
import type { BucketRecord } from '../../domain/ports/records.ts';

/** A folder of a bucket that a program sees as files. The caller authorizes it. */
export interface BucketFolder {
  readonly workspaceUuid: string;
  readonly bucketName: string;
  /** Another bucket of the same name is not this one. */
  readonly bucketId: number;
  /** Ends with `/`, unless it is empty. Nothing outside of it is ever read or written. */
  readonly prefix: string;
  readonly readOnly: boolean;
  /** For notifications: the principal that it acts for. */
  readonly principalId: string;
}

/** The folder of one request. */
export interface FolderPlace {
  readonly services: StoreServices;
  readonly bucket: BucketRecord;
  readonly prefix: string;
  readonly origin: EventOrigin;
  /** Whether the connection was cut, as it is with the right: then nothing is changed any more. */
  readonly isCut: () => boolean;
}

/** Throws if the connection was cut. */
export function assertNotCut({ isCut }: FolderPlace): void {
  if (isCut()) throw new FolderRefusal('EIO');
}

/** Names of POSIX errors that a program is shown. */
export type Errno =
  | 'EACCES'
  | 'EDQUOT'
  | 'EEXIST'
  | 'EFBIG'
  | 'EINVAL'
  | 'EIO'
  | 'EISDIR'
  | 'ENAMETOOLONG'
  | 'ENOENT'
  | 'ENOSPC'
  | 'ENOTDIR'
  | 'ENOTEMPTY'
  | 'EROFS'
  | 'ESTALE';

/** A refusal of the file system itself. */
export class FolderRefusal extends Error {
  readonly errno: Errno;
  constructor(errno: Errno) {
    super(errno);
    this.errno = errno;
  }
}

const ERRNOS: Readonly<Record<string, Errno>> = {
  AccessDenied: 'EACCES',
  EntityTooLarge: 'EFBIG',
  InsufficientStorage: 'ENOSPC',
  InvalidArgument: 'EINVAL',
  InvalidRange: 'ESTALE',
  InvalidRequest: 'EACCES',
  InvalidURI: 'EINVAL',
  KeyTooLongError: 'ENAMETOOLONG',
  MetadataTooLarge: 'EINVAL',
  MethodNotAllowed: 'ENOENT',
  NoSuchKey: 'ENOENT',
  OperationAborted: 'ESTALE',
  PreconditionFailed: 'ESTALE',
  QuotaExceeded: 'EDQUOT',
};

/** What a program is shown for an error. A bucket that is gone is an input/output error. */
export function errnoOf(error: unknown): Errno {
  if (error instanceof FolderRefusal) return error.errno;
  return (isAppError(error) ? ERRNOS[error.code] : undefined) ?? 'EIO';
}

const MAX_NAME_BYTES = 255;

/** Whether a part of a key can be the name of a file. Keys with other parts are hidden. */
export function isFileName(name: string): boolean {
  const isName = name !== '' && name !== '.' && name !== '..' && !name.includes('\0');
  return isName && Buffer.byteLength(name) <= MAX_NAME_BYTES;
}

/** The key of a path that is relative to the folder; empty for the folder itself. */
export function keyOf({ prefix }: FolderPlace, path: string): string {
  if (path === '') return prefix;
  if (!path.split('/').every(isFileName)) throw new FolderRefusal('ENOENT');
  return `${prefix}${path}`;
}

/** The key of a file. Refuses the folder itself. */
export function fileKey(place: FolderPlace, path: string): string {
  if (path === '') throw new FolderRefusal('EISDIR');
  return keyOf(place, path);
}

/** Null if there is no such object. */
export async function findFile({ services, bucket }: FolderPlace, key: string): Promise<FoundObject | null> {
  if (key === '') return null; // the marker of a bucket's root
  try {
    return await services.objects.find({ bucket, key });
  } catch (error) {
    if (isAppError(error) && error.code === storeErrors.NoSuchKey().code) return null;
    throw error;
  }
}

/** The first keys below a folder, its own marker included. */
export async function firstKeys({ services, bucket }: FolderPlace, key: string, limit: number): Promise<string[]> {
  const page = await services.objects.list(bucket, { prefix: key, delimiter: '', after: '', limit });
  return page.objects.map((each) => each.key);
}

/** The key that marks a folder, which ends with `/`; that of a bucket's root is empty. */
export function folderKey(place: FolderPlace, path: string): string {
  return path === '' ? place.prefix : `${keyOf(place, path)}/`;
}
